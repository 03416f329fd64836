#include "fleet/folder_store.hpp"

#include "cache/bytes.hpp"
#include "cache/compiler_record.hpp"
#include "cache/layout.hpp"
#include "files/files.hpp"
#include "files/trust.hpp"
#include "fleet/seal.hpp"

#include <cerrno>

#include <fcntl.h>
#include <spdlog/fmt/fmt.h>
#include <sys/stat.h>
#include <unistd.h>

TMAJIT_BEGIN
namespace {

using std::filesystem::path;

[[noreturn]] void fail_at(const path& at, std::string_view action, std::error_code error) {
  throw StoreFailure(fmt::format("{} cannot be {}: {}", at.string(), action, error.message()));
}

std::error_code last_error_code() {
  return {errno, std::generic_category()};
}

path lease_path(const path& folder, const CacheKey& key) {
  return folder / "leases" / key.hex();
}

/// The time of the filesystem's server at which a file was written; nothing if there is no file.
std::optional<std::filesystem::file_time_type> written_at(const path& file) {
  std::error_code error;
  const auto time = std::filesystem::last_write_time(file, error);
  return error ? std::nullopt : std::optional(time);
}

}  // namespace

FolderStore::FolderStore(path folder, const FleetOptions& options, std::size_t max_bytes)
    : folder_(std::move(folder)),
      lease_(options.lease),
      max_bytes_(max_bytes),
      anyone_may_write_(!options.secret.empty()) {}

void FolderStore::require_trust() const {
  if (anyone_may_write_) return;
  const std::string why = why_untrusted(folder_);
  if (!why.empty()) throw StoreFailure(fmt::format("{}, or set a secret, which signs entries", why));
}

void FolderStore::make_folder(const path& folder) const {
  std::error_code error;
  if (anyone_may_write_) {
    std::filesystem::create_directories(folder, error);
  } else {
    error = make_private_folder(folder);
  }
  if (error) fail_at(folder, "created", error);
}

std::optional<std::string> FolderStore::read(const path& file, std::size_t limit) const {
  require_trust();
  std::error_code error;
  // A longer file is read by a byte too many, and then rejected.
  std::string bytes = read_file(file, limit + 1, error, anyone_may_write_ ? Writer::anyone : Writer::trusted);
  if (error == std::errc::no_such_file_or_directory) return std::nullopt;
  if (error) fail_at(file, "read", error);
  if (bytes.size() > limit)
    throw StoreFailure(fmt::format("{} has more than {} bytes", file.string(), limit));
  return bytes;
}

void FolderStore::publish(const path& file, std::string_view bytes) const {
  require_trust();
  make_folder(file.parent_path());
  make_folder(pending_folder(folder_));
  constexpr unsigned private_mode = 0600;
  constexpr unsigned shared_mode = 0666;
  const std::error_code error =
      replace_file(pending_folder(folder_), file, bytes, anyone_may_write_ ? shared_mode : private_mode);
  if (error) fail_at(file, "written", error);
}

std::optional<std::string> FolderStore::get(const CacheKey& key) const {
  return read(entry_path(folder_, key), max_bytes_);
}

bool FolderStore::has(const CacheKey& key) const {
  std::error_code error;
  return std::filesystem::exists(entry_path(folder_, key), error);
}

void FolderStore::put(const CacheKey& key, std::string_view bytes) const {
  publish(entry_path(folder_, key), bytes);
}

std::vector<std::string> FolderStore::compilers() const {
  require_trust();
  std::vector<std::string> records;
  std::error_code error;
  std::filesystem::directory_iterator file(compilers_folder(folder_), error);
  for (; !error && file != std::filesystem::directory_iterator(); file.increment(error)) {
    if (auto record = read(file->path(), max_compiler_bytes + Seal::overhead))
      records.push_back(*std::move(record));
  }
  if (error && error != std::errc::no_such_file_or_directory)
    fail_at(compilers_folder(folder_), "listed", error);
  return records;
}

void FolderStore::add_compiler(std::string_view record) const {
  const path file = compilers_folder(folder_) / fmt::format("{:016x}", checksum(record));
  if (!written_at(file)) publish(file, record);
}

bool FolderStore::make_lease(const path& lease, std::string_view token) const {
  const int descriptor = ::open(lease.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
  if (descriptor < 0) {
    if (errno == EEXIST) return false;
    fail_at(lease, "created", last_error_code());
  }
  const bool is_written =
      ::write(descriptor, token.data(), token.size()) == static_cast<ssize_t>(token.size());
  ::close(descriptor);
  if (is_written) return true;
  const std::error_code error = last_error_code();
  ::unlink(lease.c_str());
  fail_at(lease, "written", error);
}

Turn FolderStore::try_lease(const CacheKey& key, std::string_view token) const {
  require_trust();
  if (has(key)) return Turn::made;
  const path lease = lease_path(folder_, key);
  make_folder(lease.parent_path());
  if (make_lease(lease, token)) return Turn::taken;
  const auto taken_at = written_at(lease);
  if (!taken_at) return Turn::busy;  // it was released meanwhile
  // A new file tells the time of the clock that has set the lease's time.
  make_folder(pending_folder(folder_));
  const path own = pending_folder(folder_) / fmt::format("lease-{}", token);
  if (!make_lease(own, token)) return Turn::busy;
  const auto now = written_at(own);
  if (!now || *now - *taken_at < lease_) {
    ::unlink(own.c_str());
    return Turn::busy;
  }
  // The lease has expired. Two machines may both take it over at this moment; then both make the kernel.
  const bool is_renamed = ::rename(own.c_str(), lease.c_str()) == 0;
  if (!is_renamed) ::unlink(own.c_str());
  return is_renamed ? Turn::taken : Turn::busy;
}

void FolderStore::release(const CacheKey& key, std::string_view token) const {
  const path lease = lease_path(folder_, key);
  // Another machine may have taken over the lease after its time.
  if (read(lease, token.size()) == token) ::unlink(lease.c_str());
}

TMAJIT_END
