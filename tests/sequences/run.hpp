#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace sequences {

struct RunOptions {
  std::string device = "null";
  std::uint64_t first = 1;  ///< the first sequence's seed; the seed of each further sequence is larger by 1
  std::uint64_t count = 100;
  std::optional<std::chrono::seconds> limit =
      std::nullopt;               ///< time after which no further sequence is begun
  std::uint64_t in_process = 25;  ///< largest number of sequences of one process
  std::filesystem::path cache;    ///< cache folder of the cases' kernels, which later runs reuse
  bool verbose = false;           ///< writes steps to standard error
};

/// Runs sequences in child processes, watches them, and prints the result. Returns this process's exit
/// status: 0, or 1 for a failure, or 77 if the device does not exist.
///
/// Forked child processes return from this function, too, each with its own exit status.
[[nodiscard]] int run(const RunOptions& options);

}  // namespace sequences
