#pragma once

#include "operations/cases.hpp"

#include <tmajit/move.hpp>
#include <tmajit/runtime.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace tests {

/// A case's buffers on a device.
class CaseMemory {
 public:
  virtual ~CaseMemory() = default;
  virtual void write(const reference::Buffers& buffers) = 0;
  /// Waits for the stream, and returns the buffers. Bytes that this memory does not hold are those of `like`.
  [[nodiscard]] virtual reference::Buffers read(const reference::Buffers& like) = 0;
  [[nodiscard]] virtual std::span<const tmajit::DevicePtr> addresses() const = 0;
  [[nodiscard]] virtual tmajit::Stream stream() const { return nullptr; }
};

/// Makes a case's memory, with each buffer `shift` bytes after a multiple of 256.
using MakeMemory =
    std::function<std::unique_ptr<CaseMemory>(const reference::RandomCase& drawn, std::uint64_t shift)>;

/// Makes an allocation for each buffer.
[[nodiscard]] MakeMemory own_allocations(const std::shared_ptr<tmajit::Device>& device);

/// The addresses of tensors, for another call of a plan.
[[nodiscard]] std::vector<tmajit::DevicePtr> addresses_of(const std::vector<tmajit::Tensor>& tensors);

/// The kernels that cases ran.
struct KernelsMet {
  std::map<std::string, std::uint64_t> counts;  ///< by a plan's kernels
  std::set<std::string> keys;                   ///< keys of kernels
  void add(const tmajit::Plan& plan);
  [[nodiscard]] std::string text() const;
};

/// Runs a case by the planner's plan, twice, which must give the same bits. For every fourth number `n` it
/// also runs at other addresses, and for odd ones by all kernels that could do it, or one of many. Returns
/// the first mistake; empty if all results are the reference's.
[[nodiscard]] std::string run_case(tmajit::Runtime& runtime, const reference::RandomCase& drawn,
                                   const MakeMemory& make_memory, std::uint64_t seed, std::uint64_t n,
                                   KernelsMet& met);

/// Runs a case of one move by every kernel that could do it.
[[nodiscard]] std::string run_candidates(tmajit::Runtime& runtime, const reference::RandomCase& drawn,
                                         std::uint64_t seed);

/// Random cases on a device, in several host threads.
struct RandomRun {
  std::span<const std::string_view> operations = reference::all_operations();
  std::uint64_t seed = 0;
  std::uint64_t cases = 0;
  /// Number of different patterns among the cases. Few, because making kernels takes much longer than running
  /// them.
  std::uint64_t patterns = 1;
  std::uint32_t threads = 1;
  reference::CaseLimits limits{};
};

struct RandomRunResult {
  std::uint64_t cases = 0;  ///< cases that ran; fewer than requested after 20 failures, or one of the device
  std::vector<std::string> failures;  ///< failures, each with its case in one line
  KernelsMet met;
  double seconds = 0;
  [[nodiscard]] std::string text() const;
};

[[nodiscard]] RandomRunResult run_random_cases(tmajit::Runtime& runtime, const RandomRun& run);

}  // namespace tests
