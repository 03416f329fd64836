#include "cache/entry_format.hpp"
#include "cache/files.hpp"
#include "cache/layout.hpp"
#include "spec/log.hpp"

#include <tmajit/cache.hpp>
#include <tmajit/error.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>

#include <llvm/ADT/StringExtras.h>
#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN

namespace {

/// A pending file of this age belongs to a process that died; a store takes milliseconds.
constexpr std::chrono::minutes abandoned{10};

bool is_hex(const std::filesystem::path& path, std::size_t digits) {
  const auto name = path.filename().string();
  return name.size() == digits &&
         std::all_of(name.begin(), name.end(), [](char c) { return llvm::isHexDigit(c); });
}

/// Calls `visit(file)` for each file of `folder`. A folder that is not there, or vanishes meanwhile, has
/// none.
template <class Visit>
void for_each_file(const std::filesystem::path& folder, Visit visit) {
  std::error_code error;
  std::filesystem::directory_iterator file(folder, error);
  for (; !error && file != std::filesystem::directory_iterator(); file.increment(error)) visit(*file);
  if (error && error != std::errc::no_such_file_or_directory) {
    throw Error(ErrorCode::io, fmt::format("cannot list {}: {}", folder.string(), error.message()));
  }
}

template <class Visit>
void for_each_entry_file(const std::filesystem::path& cache, Visit visit) {
  for_each_file(entries_folder(cache), [&](const auto& folder) {
    if (!is_hex(folder.path(), entry_folder_digits)) return;
    for_each_file(folder.path(), [&](const auto& file) {
      if (is_hex(file.path(), 2 * sizeof(CacheKey::digest) - entry_folder_digits)) visit(file.path());
    });
  });
}

/// False if somebody else removed it before. Throws Error{io} if it is there to stay.
bool remove_file(const std::filesystem::path& path) {
  std::error_code error;
  const bool removed = std::filesystem::remove(path, error);
  if (error) throw Error(ErrorCode::io, fmt::format("cannot remove {}: {}", path.string(), error.message()));
  return removed;
}

}  // namespace

DiskCache::DiskCache(std::filesystem::path directory)
    : directory_(std::move(directory)), warned_(std::make_shared<std::atomic<bool>>(false)) {}

void DiskCache::warn(const std::string& message) const {
  const bool repeated = warned_->exchange(true);
  log().log(repeated ? spdlog::level::debug : spdlog::level::warn, "{}", message);
}

// What is wrong with the bytes (a content error) and what is wrong with reading them (an I/O error) differ in
// what becomes of the entry. Damaged bytes stay damaged: the entry goes, and the caller's compile stores it
// anew. An entry that cannot be read now may be whole: a network filesystem may be back in a second, and
// another user may have the right to read it. It stays.
std::optional<Artifact> DiskCache::fetch(const CacheKey& key) const try {
  const auto path = entry_path(directory_, key);
  std::error_code error;
  const auto bytes = read_file(path, max_entry_bytes, error);
  if (error == std::errc::no_such_file_or_directory) return std::nullopt;
  if (error) {
    warn(fmt::format("cached kernel {} cannot be read: {}", path.string(), error.message()));
    return std::nullopt;
  }
  auto decoded = decode_entry(bytes, key);
  if (!decoded.artifact) {
    log().warn("cached kernel {} is damaged ({}); it is removed and compiled anew", path.string(),
               decoded.fault);
    std::filesystem::remove(path, error);
  }
  return std::move(decoded.artifact);
} catch (const std::exception& failure) {
  log().warn("the kernel cache {} was not read: {}", directory_.string(), failure.what());
  return std::nullopt;
}

bool DiskCache::store(const CacheKey& key, const Artifact& artifact) const try {
  const auto error = publish_file(directory_, entry_path(directory_, key), encode_entry(key, artifact));
  if (!error) return true;
  warn(fmt::format("compiled kernels are not kept in {}: {}", directory_.string(), error.message()));
  return false;
} catch (const std::exception& failure) {
  log().warn("the kernel cache {} was not written: {}", directory_.string(), failure.what());
  return false;
}

std::vector<DiskCache::Entry> DiskCache::entries() const {
  std::vector<Entry> result;
  for_each_entry_file(directory_, [&](const std::filesystem::path& path) {
    std::error_code error;
    const auto front = read_file(path, entry_info_bytes, error);
    const auto bytes = error ? 0 : std::filesystem::file_size(path, error);
    const auto stored =
        error ? std::filesystem::file_time_type{} : std::filesystem::last_write_time(path, error);
    if (error) return;  // gone meanwhile, or nothing that fetch() could read
    auto info = read_entry_info(front, bytes);
    if (!info || entry_path(directory_, info->key) != path) return;
    result.push_back({info->key, std::move(info->entry), bytes, stored});
  });
  return result;
}

std::size_t DiskCache::clear() const {
  std::size_t removed = 0;
  for_each_entry_file(directory_, [&](const std::filesystem::path& path) { removed += remove_file(path); });
  for_each_file(compilers_folder(directory_), [](const auto& file) {
    if (is_hex(file.path(), 16)) remove_file(file.path());
  });
  for_each_file(pending_folder(directory_), [](const auto& file) {
    std::error_code gone;
    const auto written = file.last_write_time(gone);
    if (!gone && std::filesystem::file_time_type::clock::now() - written > abandoned)
      remove_file(file.path());
  });
  return removed;
}

TMAJIT_END
