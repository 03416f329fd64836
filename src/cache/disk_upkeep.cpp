// Functions of DiskCache that visit all entries.
#include "cache/entry_format.hpp"
#include "cache/folder.hpp"
#include "cache/layout.hpp"
#include "cache/sweep.hpp"
#include "files/files.hpp"
#include "spec/refuse.hpp"

#include <tmajit/cache.hpp>
#include <tmajit/error.hpp>

#include <algorithm>
#include <limits>
#include <utility>

TMAJIT_BEGIN
namespace {

void throw_unless_listed(const std::filesystem::path& cache, const std::error_code& error) {
  if (error) fail(ErrorCode::io, "cannot list {}: {}", cache.string(), error.message());
}
void throw_unless_removed(const std::filesystem::path& path, const std::error_code& error) {
  if (error) fail(ErrorCode::io, "cannot remove {}: {}", path.string(), error.message());
}

/// The key of the entry at a path: the names of its folder and file are the key's digits.
CacheKey key_at(const std::filesystem::path& path) {
  const std::string digits = path.parent_path().filename().string() + path.filename().string();
  CacheKey key;
  for (std::size_t i = 0; i < key.digest.size(); ++i)
    key.digest[i] = static_cast<std::uint8_t>(std::stoul(digits.substr(2 * i, 2), nullptr, 16));
  return key;
}

}  // namespace

CachedKernel read_cache_file(const std::filesystem::path& file) {
  std::error_code error;
  const auto bytes = read_file(file, max_entry_bytes, error);
  if (error) fail(ErrorCode::io, "{} cannot be read: {}", file.string(), error.message());
  auto decoded = decode_entry(bytes);
  if (!decoded.artifact) refuse("{} is no cached kernel: {}", file.string(), decoded.fault);
  return {.key = decoded.key, .artifact = *std::move(decoded.artifact)};
}

std::vector<DiskCache::Entry> DiskCache::entries() const {
  std::vector<Entry> result;
  const auto error = for_each_entry_file(directory_, [&](const std::filesystem::path& path) {
    std::error_code unreadable;
    const auto front = read_file(path, entry_info_bytes, unreadable);
    const auto state = unreadable ? std::nullopt : state_of(path);
    if (!state) return;  // removed meanwhile, or not readable by fetch() either
    auto info = read_entry_info(front, state->bytes);
    if (!info || entry_path(directory_, info->key) != path) return;
    result.push_back(
        {.key = info->key,
         .entry = std::move(info->entry),
         .made_for = std::move(info->made_for),
         .key_fields = std::move(info->key_fields),
         .bytes = state->bytes,
         .used = std::chrono::time_point_cast<std::chrono::system_clock::duration>(state->time)});
  });
  throw_unless_listed(entries_folder(directory_), error);
  return result;
}

std::size_t DiskCache::clear() const {
  std::size_t removed = 0;
  std::error_code error;
  const FileTime now = clock_of(directory_);
  const auto not_listed = for_each_entry_file(directory_, [&](const std::filesystem::path& path) {
    removed += remove_file(path, error);
    throw_unless_removed(path, error);
  });
  throw_unless_listed(entries_folder(directory_), not_listed);
  for (const auto& path : compiler_files(directory_, error)) {
    remove_file(path, error);
    throw_unless_removed(path, error);
  }
  throw_unless_removed(directory_, remove_abandoned(directory_, now));
  remove_file(size_path(directory_), error);
  return removed;
}

DiskCache::Trimmed DiskCache::trim(std::uint64_t max_bytes,
                                   std::optional<std::chrono::seconds> unused_for) const {
  const auto [trimmed, error] =
      sweep(directory_, {.max_bytes = max_bytes, .target_bytes = max_bytes, .unused_for = unused_for});
  if (error) fail(ErrorCode::io, "cannot trim {}: {}", directory_.string(), error.message());
  return trimmed;
}

DiskCache::Verified DiskCache::verify(bool remove,
                                      const std::function<void(std::size_t, std::size_t)>& progress) const {
  std::vector<std::filesystem::path> files;
  const auto not_listed =
      for_each_entry_file(directory_, [&](const std::filesystem::path& path) { files.push_back(path); });
  throw_unless_listed(entries_folder(directory_), not_listed);
  std::ranges::sort(files);
  Verified result;
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (progress) progress(i, files.size());
    std::error_code error;
    const auto bytes = read_file(files[i], max_entry_bytes, error);
    if (error == std::errc::no_such_file_or_directory) continue;  // evicted meanwhile
    const auto decoded = error ? DecodedEntry{} : decode_entry(bytes, key_at(files[i]));
    if (decoded.other_version) {
      ++result.other_versions;
      continue;
    }
    ++result.entries;
    if (decoded.artifact) continue;
    BrokenEntry& broken = result.broken.emplace_back();
    broken.file = files[i];
    broken.fault = error ? "it cannot be read: " + error.message() : std::string(decoded.fault);
    if (!remove || error) continue;
    broken.removed = remove_file(files[i], error);
    throw_unless_removed(files[i], error);
  }
  return result;
}

TMAJIT_END
