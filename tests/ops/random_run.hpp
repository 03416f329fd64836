#pragma once

#include "ops/run_move.hpp"

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace tests {

/// Random moves on a device, in several host threads.
struct RandomRun {
  std::uint64_t seed = 0;
  std::uint64_t cases = 0;
  /// How many different patterns the cases have: making kernels takes much longer than running them.
  std::uint64_t patterns = 1;
  std::uint32_t threads = 1;
  reference::MoveLimits limits{};
};

struct RandomRunResult {
  std::uint64_t cases = 0;            ///< done; fewer than asked for after 20 failures, or one of the device
  std::vector<std::string> failures;  ///< what went wrong, and the move in one line
  KernelCounts counts;
  std::set<std::string> kernels;  ///< keys of all that were made
  std::uint64_t elements = 0;
  double seconds = 0;

  /// All but the failures, for people.
  [[nodiscard]] std::string text() const;
};

/// Runs each case in buffers that lie one behind the other in one allocation a thread, and compares every
/// byte of them; every fourth again by the same plan at addresses that are less aligned.
[[nodiscard]] RandomRunResult run_random_moves(tmajit::Runtime& runtime, const RandomRun& run);

}  // namespace tests
