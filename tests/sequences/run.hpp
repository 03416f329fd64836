#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace sequences {

struct RunOptions {
  std::string device = "null";
  std::uint64_t first = 1;  ///< the first sequence's seed; each further one is 1 more
  std::uint64_t count = 100;
  std::optional<std::chrono::seconds> limit = std::nullopt;  ///< no further sequence is begun after it
  std::uint64_t in_process = 25;                             ///< sequences of one process, at most
  std::filesystem::path cache;  ///< folder that keeps the cases' kernels from run to run
  bool verbose = false;         ///< steps on standard error
};

/// Runs sequences in child processes, watches them, and reports on standard output. Returns the exit status
/// of this process: 0, or 1 for a failure, or 77 if there is no such device.
///
/// A forked child process returns from this function, too, with its own exit status.
[[nodiscard]] int run(const RunOptions& options);

}  // namespace sequences
