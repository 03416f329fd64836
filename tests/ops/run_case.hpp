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
  /// Waits for the stream and returns the buffers. Bytes that this memory does not hold are copied from
  /// `like`.
  [[nodiscard]] virtual reference::Buffers read(const reference::Buffers& like) = 0;
  [[nodiscard]] virtual std::span<const tmajit::DevicePtr> addresses() const = 0;
  [[nodiscard]] virtual tmajit::Stream stream() const { return nullptr; }
};

/// A function that makes a case's memory, with each buffer `shift` bytes after a multiple of 256.
using MakeMemory =
    std::function<std::unique_ptr<CaseMemory>(const reference::TestCase& test_case, std::uint64_t shift)>;

/// Places each buffer in an allocation of its own.
[[nodiscard]] MakeMemory own_allocations(const std::shared_ptr<tmajit::Device>& device);

/// The addresses of tensors, with which a plan can be called.
[[nodiscard]] std::vector<tmajit::DevicePtr> addresses_of(const std::vector<tmajit::Tensor>& tensors);

/// The kernels that the cases ran.
struct KernelsMet {
  std::map<std::string, std::uint64_t> counts;  ///< number of cases, by the names of a plan's kernels
  std::set<std::string> keys;                   ///< keys of kernels
  void add(const tmajit::Plan& plan);
  [[nodiscard]] std::string text() const;
};

/// Runs a case twice by the planner's plan, which must give the same bits. Depending on the number `n` it
/// also runs on the results, at other addresses, or by all candidates (by one of them, if there are many).
/// Returns the first mistake; empty if all results equal the reference's.
[[nodiscard]] std::string run_case(tmajit::Runtime& runtime, const reference::TestCase& test_case,
                                   const MakeMemory& make_memory, std::uint64_t seed, std::uint64_t n,
                                   KernelsMet& met);

/// Runs a case of one move by every candidate, for the chip of the runtime or another one.
[[nodiscard]] std::string run_candidates(tmajit::Runtime& runtime, const reference::TestCase& test_case,
                                         std::uint64_t seed,
                                         const std::optional<tmajit::Chip>& chip = std::nullopt);

/// Options for running random cases on a device with several host threads.
struct RandomRun {
  std::span<const std::string_view> operations = reference::all_operations();
  std::uint64_t seed = 0;
  std::uint64_t cases = 0;
  /// Number of different kernel seeds among the cases. Each needs kernels of its own, and compiling takes
  /// much longer than running.
  std::uint64_t kernel_seeds = 1;
  std::uint32_t threads = 1;
  reference::CaseLimits limits{};
};

struct RandomRunResult {
  /// Cases that ran. These are fewer than requested after 20 failures or a failure of the device.
  std::uint64_t cases = 0;
  std::vector<std::string> failures;  ///< each with its case in one line
  KernelsMet met;
  double seconds = 0;
  [[nodiscard]] std::string text() const;
};

[[nodiscard]] RandomRunResult run_random_cases(tmajit::Runtime& runtime, const RandomRun& run);

}  // namespace tests
