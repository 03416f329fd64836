#pragma once

#include <tmajit/cache.hpp>
#include <tmajit/runtime.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

TMAJIT_BEGIN

/// The thread that made a kernel, and for what.
enum class MadeBy : std::uint8_t {
  caller,   ///< a thread that called the runtime
  swap,     ///< a background thread: the kernel replaces one that a plan was served (WhenMissing::serve)
  trial,    ///< a background thread: a trial compares the kernel (Improve)
  prefetch  ///< a background thread: prefetch() requested the kernel
};
[[nodiscard]] TMAJIT_API std::string_view name(MadeBy made_by) noexcept;

/// A kernel that a runtime has made: found in a level of the cache, or compiled.
struct KernelRecord {
  CacheKey key;
  std::string entry;  ///< the kernel's name in PTX and cubin
  MadeFor made_for;
  CacheLevel level = CacheLevel::compiled;
  MadeBy made_by = MadeBy::caller;  ///< if a background thread has several reasons, the first one
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

  // With WhenMissing::serve (docs/ready.md), for each class of addresses of each plan:
  std::uint64_t served = 0;  ///< kernels that were served in place of one that was not there
  std::uint64_t waited = 0;  ///< kernels that a caller waited for, because no other one could be served
  std::uint64_t swaps = 0;   ///< replacements of all served kernels of an operation by the planned ones
  /// Milliseconds that background threads took for the swaps, each from the moment when its last kernel is
  /// there until the new launches are published.
  double swap_ms = 0;

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
