#pragma once

#include <tmajit/cache.hpp>
#include <tmajit/runtime.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

TMAJIT_BEGIN

/// A kernel that a runtime has made: found in a level of the cache, or compiled.
struct KernelRecord {
  CacheKey key;
  std::string entry;  ///< the kernel's name in PTX and cubin
  MadeFor made_for;
  CacheLevel level = CacheLevel::compiled;
  StageTimes times;
  std::uint64_t bytes = 0;  ///< of its source, PTX, cubin and log
  std::chrono::system_clock::time_point when;
};

/// Numbers of a runtime since it was made.
struct Counters {
  static constexpr std::size_t levels = 5;  ///< values of CacheLevel

  /// Requests for kernels, by the level that had the kernel; those of CacheLevel::compiled compiled it. A
  /// launch of a plan that has its kernel makes no request.
  std::array<std::uint64_t, levels> requests{};
  std::uint64_t failures = 0;       ///< requests that ended with an exception
  StageTimes times;                 ///< sums of the stages' milliseconds
  std::uint64_t bytes_read = 0;     ///< of kernels found in packs, folders and stores
  std::uint64_t bytes_written = 0;  ///< of compiled kernels that a level keeps
  std::uint64_t bytes_loaded = 0;   ///< of code that the device has loaded

  [[nodiscard]] std::uint64_t of(CacheLevel level) const noexcept {
    return requests[static_cast<std::size_t>(level)];
  }
};

[[nodiscard]] TMAJIT_API Counters counters(const Runtime& runtime);

/// The last kernels that the runtime has made, at most 256, the oldest first.
[[nodiscard]] TMAJIT_API std::vector<KernelRecord> history(const Runtime& runtime);

/// The counters of one runtime of a process that publishes them (RuntimeOptions::statistics_directory).
struct PublishedCounters {
  int process = 0;      ///< its id
  std::string program;  ///< its name
  Counters counters;
  std::string last_kernel;  ///< entry and operation of the kernel made last; empty if there is none
};

/// The counters that processes publish in a folder, ordered by process. Files of processes that have ended
/// are removed. Throws Error{io} if the folder exists but cannot be listed.
[[nodiscard]] TMAJIT_API std::vector<PublishedCounters> published_counters(
    const std::filesystem::path& directory);

TMAJIT_END
