#include "cache/bytes.hpp"
#include "cache/compiler_format.hpp"
#include "cache/entry_format.hpp"
#include "cache/layout.hpp"
#include "files/files.hpp"
#include "files/trust.hpp"
#include "spec/log.hpp"
#include "spec/refuse.hpp"

#include <tmajit/cache.hpp>
#include <tmajit/error.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>

#include <llvm/ADT/StringExtras.h>
#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN

namespace {

/// A pending file or a lock of this age belongs to a process that died: a store takes milliseconds, and no
/// process waits for a lock that long.
constexpr std::chrono::minutes abandoned_age{10};

bool is_hex(const std::filesystem::path& path, std::size_t digits) {
  const auto name = path.filename().string();
  return name.size() == digits &&
         std::all_of(name.begin(), name.end(), [](char c) { return llvm::isHexDigit(c); });
}

/// Calls `visit(file)` for each file of `folder`. A folder that does not exist, or disappears meanwhile, has
/// no files.
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

/// Returns false if another process has already removed the file. Throws Error{io} if it cannot be removed.
bool remove_file(const std::filesystem::path& path) {
  std::error_code error;
  const bool removed = std::filesystem::remove(path, error);
  if (error) throw Error(ErrorCode::io, fmt::format("cannot remove {}: {}", path.string(), error.message()));
  return removed;
}

/// Each NVRTC build that has stored kernels in a cache has a small file there, named by a hash of its
/// content. The file's time says when the build was last used. It is updated only if it is older than this.
constexpr std::chrono::minutes touch_interval{10};

}  // namespace

DiskCache::DiskCache(std::filesystem::path directory)
    : directory_(std::move(directory)), warned_(std::make_shared<std::atomic<bool>>(false)) {
  if (directory_.empty()) {
    refuse(
        "the path of the kernel cache is empty; \".\" is the working directory, std::nullopt means no cache "
        "on disk");
  }
}

void DiskCache::warn(const std::string& message) const {
  const bool repeated = warned_->exchange(true);
  log(repeated ? LogLevel::debug : LogLevel::warn, "{}", message);
}

std::string DiskCache::why_refused() const {
  return why_untrusted(directory_);
}

bool DiskCache::is_refused() const {
  const auto why = why_refused();
  if (why.empty()) return false;
  warn(fmt::format("the kernel cache {} is not used: {}", directory_.string(), why));
  return true;
}

// Damaged bytes (a content error) and a failed read (an I/O error) are handled differently. A damaged entry
// is removed, and the caller compiles the kernel and stores it again. An entry that cannot be read now is
// kept, because it may be intact: a network filesystem may be back in a second, or another user may be able
// to read it.
std::optional<Artifact> DiskCache::fetch(const CacheKey& key) const try {
  if (is_refused()) return std::nullopt;
  const auto path = entry_path(directory_, key);
  std::error_code error;
  const auto bytes = read_file(path, max_entry_bytes, error, Writer::trusted);
  if (error == std::errc::no_such_file_or_directory) return std::nullopt;
  if (error == std::errc::operation_not_permitted) {
    warn(fmt::format("cached kernel {} is not used: it belongs to another user, or others may write to it",
                     path.string()));
    return std::nullopt;
  }
  if (error) {
    warn(fmt::format("cached kernel {} cannot be read: {}", path.string(), error.message()));
    return std::nullopt;
  }
  auto decoded = decode_entry(bytes, key);
  if (!decoded.artifact) {
    log(LogLevel::warn, "cached kernel {} is damaged ({}); it is removed and compiled anew", path.string(),
        decoded.fault);
    std::filesystem::remove(path, error);
  }
  return std::move(decoded.artifact);
} catch (const std::exception& failure) {
  log(LogLevel::warn, "the kernel cache {} was not read: {}", directory_.string(), failure.what());
  return std::nullopt;
}

bool DiskCache::store(const CacheKey& key, const Artifact& artifact) const try {
  if (is_refused()) return false;
  const auto error =
      publish_file(pending_folder(directory_), entry_path(directory_, key), encode_entry(key, artifact));
  if (!error) return true;
  warn(fmt::format("compiled kernels are not kept in {}: {}", directory_.string(), error.message()));
  return false;
} catch (const std::exception& failure) {
  log(LogLevel::warn, "the kernel cache {} was not written: {}", directory_.string(), failure.what());
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
    if (error) return;  // removed meanwhile, or not readable by fetch() either
    auto info = read_entry_info(front, bytes);
    if (!info || entry_path(directory_, info->key) != path) return;
    result.push_back({info->key, std::move(info->entry), std::move(info->made_for), bytes, stored});
  });
  return result;
}

std::size_t DiskCache::clear() const {
  std::size_t removed = 0;
  for_each_entry_file(directory_, [&](const std::filesystem::path& path) { removed += remove_file(path); });
  for_each_file(compilers_folder(directory_), [](const auto& file) {
    if (is_hex(file.path(), 16)) remove_file(file.path());
  });
  for (const auto& folder : {pending_folder(directory_), locks_folder(directory_)}) {
    for_each_file(folder, [](const auto& file) {
      std::error_code gone;
      const auto written = file.last_write_time(gone);
      if (!gone && std::filesystem::file_time_type::clock::now() - written > abandoned_age)
        remove_file(file.path());
    });
  }
  return removed;
}

std::vector<CompilerIdentity> DiskCache::known_compilers() const try {
  if (is_refused()) return {};
  std::vector<std::pair<std::filesystem::file_time_type, CompilerIdentity>> found;
  for_each_file(compilers_folder(directory_), [&](const auto& file) {
    std::error_code unreadable;
    const auto time = file.last_write_time(unreadable);
    const auto bytes = read_file(file.path(), max_compiler_bytes, unreadable, Writer::trusted);
    if (unreadable) return;
    if (auto compiler = decode_compiler(bytes)) found.emplace_back(time, *std::move(compiler));
  });
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<CompilerIdentity> result;
  result.reserve(found.size());
  for (auto& [time, compiler] : found) result.push_back(std::move(compiler));
  return result;
} catch (const std::exception& failure) {
  log(LogLevel::debug, "compilers known to {} were not read: {}", directory_.string(), failure.what());
  return {};
}

void DiskCache::remember(const CompilerIdentity& compiler) const try {
  if (is_refused()) return;
  const auto bytes = encode_compiler(compiler);
  const auto path = compilers_folder(directory_) / fmt::format("{:016x}", checksum(bytes));
  std::error_code error;
  const auto now = std::filesystem::file_time_type::clock::now();
  if (const auto time = std::filesystem::last_write_time(path, error); !error) {
    if (now - time > touch_interval) std::filesystem::last_write_time(path, now, error);
    if (!error) return;
  }
  error = publish_file(pending_folder(directory_), path, bytes);
  if (error) log(LogLevel::debug, "{} was not written: {}", path.string(), error.message());
} catch (const std::exception& failure) {
  log(LogLevel::debug, "a compiler was not noted in {}: {}", directory_.string(), failure.what());
}

TMAJIT_END
