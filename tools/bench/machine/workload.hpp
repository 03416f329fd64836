#pragma once

#include "check.hpp"
#include "machine.hpp"
#include "planning.hpp"
#include "reference/random_elements.hpp"

#include <tmajit/move.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace bench {

/// A case on given buffers, compiled and ready to be enqueued repeatedly. It must not outlive its Runtime.
class PreparedCase {
 public:
  PreparedCase(tmajit::Runtime& runtime, const Case& bench_case, tmajit::DevicePtr destination,
               tmajit::DevicePtr source);
  /// Prepares a case that a given kernel does.
  PreparedCase(const tmajit::Runtime& runtime, const tmajit::KernelPlan& plan);
  void operator()(tmajit::Stream stream) const;

  [[nodiscard]] std::span<const tmajit::KernelPlan> plans() const { return plans_; }
  [[nodiscard]] std::span<const tmajit::Kernel> kernels() const { return kernels_; }
  /// Kernels and choices as JSON; if the planner chose them, with the reason and the predicted time.
  [[nodiscard]] nlohmann::ordered_json describe() const;

 private:
  std::optional<tmajit::Plan> move_;                ///< the planner's plan, as a user would get it
  std::optional<tmajit::PreparedLaunch> launch_{};  ///< launch of a kernel of the caller's choice
  std::vector<tmajit::KernelPlan> plans_;
  std::vector<tmajit::Kernel> kernels_;
};

/// Writes the pattern over `bytes` at `address`, and waits.
void fill(tmajit::Device& device, const reference::Pattern& pattern, tmajit::DevicePtr address,
          std::uint64_t bytes, tmajit::Stream stream);

/// The memory of a case, in as many sets as a contest uses: sources with random elements, and destinations.
class Workload {
 public:
  /// Throws tmajit::Error{out_of_memory}.
  Workload(Machine& machine, const Case& bench_case, std::size_t sets, std::uint64_t seed);

  /// Addresses of the first set.
  [[nodiscard]] tmajit::DevicePtr source() const { return sources_.address(); }
  [[nodiscard]] tmajit::DevicePtr destination() const { return destinations_.address(); }
  /// The case of this memory, or another case whose arrays are no larger, prepared on each set.
  [[nodiscard]] std::vector<PreparedCase> prepare(const Case& bench_case) const;
  /// Runs the case on the first set, over poisoned destinations, and compares with the host's results. Throws
  /// tmajit::Error{internal} that names the first difference.
  void require_right(const Case& bench_case, const PreparedCase& prepared) const;
  /// Computes the host's results of a case, in parts of `part_elements` elements, to check several kernels.
  [[nodiscard]] Check expected(const Case& bench_case, std::uint64_t part_elements) const;
  /// Runs a kernel as above and compares with `expected`.
  void require_right(const Check& expected, const PreparedCase& prepared) const;
  /// Enqueues a copy by the driver of as many bytes as the case moves, counted in sectors.
  void copy(std::size_t set) const;
  /// Bytes that this copy reads and writes.
  [[nodiscard]] std::uint64_t copy_bytes() const { return 2 * copied_bytes_; }

  struct Times {
    Samples ours;
    Samples driver;
  };
  /// Microseconds of a prepared case and of the driver's copy, measured alternately.
  [[nodiscard]] Times time_with_driver(const std::vector<PreparedCase>& prepared,
                                       const ContestPlan& timing) const;

 private:
  Machine& machine_;
  std::uint64_t seed_;
  std::size_t sets_;
  reference::Pattern pattern_;
  std::uint64_t source_bytes_;  ///< bytes of one set
  std::uint64_t destination_bytes_;
  std::uint64_t copied_bytes_;
  tmajit::Buffer sources_;
  tmajit::Buffer destinations_;
};

}  // namespace bench
