#include "cache/bytes.hpp"
#include "cache/compiler_record.hpp"
#include "cache/disk_state.hpp"
#include "cache/entry_format.hpp"
#include "cache/folder.hpp"
#include "cache/layout.hpp"
#include "cache/sweep.hpp"
#include "files/files.hpp"
#include "files/trust.hpp"
#include "spec/byte_count.hpp"
#include "spec/log.hpp"
#include "spec/refuse.hpp"

#include <tmajit/cache.hpp>
#include <tmajit/error.hpp>

#include <cstdlib>

TMAJIT_BEGIN

namespace {

/// The time of a file that is used is updated only if it differs from now by more than this.
constexpr std::chrono::minutes touch_interval{10};

/// Whether a clock that was wrong has set the time, or it is old.
bool needs_touch(FileTime time) {
  return std::chrono::abs(file_system().now() - time) > touch_interval;
}

}  // namespace

std::uint64_t default_max_cache_bytes() {
  constexpr std::uint64_t four_gib = std::uint64_t{4} << 30;
  const char* const text = std::getenv("TMAJIT_CACHE_BYTES");
  if (text == nullptr || *text == '\0') return four_gib;
  if (const auto bytes = parse_byte_count(text)) return *bytes;
  refuse("TMAJIT_CACHE_BYTES is \"{}\"; legal are 0, which means no bound, and {}", text, byte_count_forms);
}

DiskCache::DiskCache(std::filesystem::path directory, std::uint64_t max_bytes, CacheAccess access)
    : directory_(std::move(directory)),
      max_bytes_(max_bytes),
      access_(access),
      state_(std::make_shared<State>()) {
  if (directory_.empty()) {
    refuse(
        "the path of the kernel cache is empty; \".\" is the working directory, std::nullopt means no cache "
        "on disk");
  }
}

void DiskCache::warn(const std::string& message) const {
  const bool repeated = state_->warned.exchange(true);
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
  FileTime time;
  const auto bytes = read_file(path, max_entry_bytes, error, Writer::trusted, &time);
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
  if (decoded.artifact) {
    if (access_ == CacheAccess::read_write && needs_touch(time)) file_system().touch(path);
  } else if (decoded.other_version) {
    log(LogLevel::debug, "cached kernel {} is not used: {}", path.string(), decoded.fault);
  } else if (access_ == CacheAccess::read_only) {
    warn(fmt::format("cached kernel {} is not used: it is damaged ({})", path.string(), decoded.fault));
  } else {
    log(LogLevel::warn, "cached kernel {} is damaged ({}); it is removed and compiled anew", path.string(),
        decoded.fault);
    remove_file(path, error);
  }
  return std::move(decoded.artifact);
} catch (const std::exception& failure) {
  log(LogLevel::warn, "the kernel cache {} was not read: {}", directory_.string(), failure.what());
  return std::nullopt;
}

bool DiskCache::store(const CacheKey& key, const Artifact& artifact) const try {
  if (access_ == CacheAccess::read_only || is_refused()) return false;
  const std::string bytes = encode_entry(key, artifact);
  const auto error = publish_file(pending_folder(directory_), entry_path(directory_, key), bytes);
  if (error) {
    warn(fmt::format("compiled kernels are not kept in {}: {}", directory_.string(), error.message()));
    return false;
  }
  keep_bounded(directory_, bytes.size(), max_bytes_);
  return true;
} catch (const std::exception& failure) {
  log(LogLevel::warn, "the kernel cache {} was not written: {}", directory_.string(), failure.what());
  return false;
}

std::vector<CompilerIdentity> DiskCache::known_compilers() const try {
  if (is_refused()) return {};
  return state_->compilers.in(directory_);
} catch (const std::exception& failure) {
  log(LogLevel::debug, "compilers known to {} were not read: {}", directory_.string(), failure.what());
  return {};
}

void DiskCache::remember(const CompilerIdentity& compiler) const try {
  if (access_ == CacheAccess::read_only || is_refused()) return;
  const auto bytes = encode_compiler(compiler);
  const auto path = compiler_path(directory_, checksum(bytes));
  if (const auto state = state_of(path)) {
    if (!needs_touch(state->time) || file_system().touch(path) == 0) return;
  }
  const auto error = publish_file(pending_folder(directory_), path, bytes);
  if (error) log(LogLevel::debug, "{} was not written: {}", path.string(), error.message());
} catch (const std::exception& failure) {
  log(LogLevel::debug, "a compiler was not noted in {}: {}", directory_.string(), failure.what());
}

TMAJIT_END
