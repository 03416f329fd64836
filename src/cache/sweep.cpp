#include "cache/sweep.hpp"

#include "cache/folder.hpp"
#include "cache/layout.hpp"
#include "files/file_lock.hpp"
#include "files/files.hpp"
#include "spec/counted.hpp"
#include "spec/log.hpp"

#include <algorithm>
#include <string>
#include <vector>

TMAJIT_BEGIN
namespace {

constexpr std::uint64_t block_bytes = 4096;

std::uint64_t blocks_of(std::uint64_t bytes) {
  return (bytes + block_bytes - 1) / block_bytes;
}

struct SweptFile {
  std::filesystem::path path;
  FileState state;
};

/// Times may differ by this from a clock that is right: other processes store while the sweep runs.
constexpr std::chrono::minutes clock_tolerance{1};

/// The least recently used files first. A time in the future was set by a clock that was wrong, so it says
/// nothing: such a file comes first. Files that are in use get a right time by the next fetch.
void sort_by_use(std::vector<SweptFile>& files, FileTime now) {
  const FileTime latest = now + clock_tolerance;
  std::ranges::sort(files, [&](const SweptFile& a, const SweptFile& b) {
    const bool a_wrong = a.state.time > latest;
    const bool b_wrong = b.state.time > latest;
    return a_wrong != b_wrong ? a_wrong : a.state.time < b.state.time;
  });
}

}  // namespace

// The file `size` has one byte for each block of entries. So a store notes its size by appending bytes, which
// needs no lock and no reading: appends of processes on one machine do not get lost. On NFS they may. Each
// sweep measures the true size and sets it.

SweepResult sweep(const std::filesystem::path& cache, const SweepOrder& order) {
  SweepResult result;
  const FileTime now = clock_of(cache);
  std::vector<SweptFile> files;
  std::uint64_t blocks = 0;
  result.error = for_each_entry_file(cache, [&](const std::filesystem::path& path) {
    const auto state = state_of(path);
    if (!state) return;
    blocks += blocks_of(state->bytes);
    files.push_back({path, *state});
  });
  sort_by_use(files, now);
  const std::uint64_t target_blocks =
      blocks > order.max_bytes / block_bytes ? order.target_bytes / block_bytes : blocks;
  for (const SweptFile& file : files) {
    const auto age = now - file.state.time;
    const bool expired = order.unused_for && age > *order.unused_for;
    const bool is_recent = std::chrono::abs(age) < order.protected_age;
    if (expired || (blocks > target_blocks && !is_recent)) {
      std::error_code error;
      const bool removed = remove_file(file.path, error);
      if (!error) blocks -= blocks_of(file.state.bytes);  // also if another process has removed it
      if (!result.error) result.error = error;
      if (removed) {
        ++result.trimmed.removed;
        result.trimmed.removed_bytes += file.state.bytes;
      }
      if (!error) continue;
    }
    ++result.trimmed.remaining;
    result.trimmed.remaining_bytes += file.state.bytes;
  }
  if (const auto error = remove_abandoned(cache, now); !result.error) result.error = error;
  set_file_size(size_path(cache), blocks);  // clock_of() has made the file, if that is possible
  return result;
}

void keep_bounded(const std::filesystem::path& cache, std::uint64_t stored_bytes, std::uint64_t max_bytes) {
  if (max_bytes == 0) return;
  const std::string noted(blocks_of(stored_bytes), '\0');
  std::uint64_t blocks = 0;
  // After an error the size is 0, and the entries are measured.
  (void)append_file(size_path(cache), noted, AppendTo::own_file, &blocks);
  // A file that has just been created says nothing of older entries: measure them.
  const bool is_known = blocks > noted.size();
  if (is_known && blocks <= max_bytes / block_bytes) return;
  const FileLock lock(size_lock_path(cache), std::chrono::milliseconds(0));
  if (lock.timed_out()) return;
  constexpr std::chrono::minutes in_use{1};
  // 10 % of free space make the next sweep rare.
  const auto [trimmed, error] = sweep(
      cache, {.max_bytes = max_bytes, .target_bytes = max_bytes - max_bytes / 10, .protected_age = in_use});
  if (error) log(LogLevel::debug, "{} was not swept: {}", cache.string(), error.message());
  if (trimmed.removed > 0) {
    log(LogLevel::info, "evicted from the cache {}: {}", cache.string(), counted(trimmed.removed, "kernel"));
  }
}

TMAJIT_END
