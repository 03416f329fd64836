#include "files/files.hpp"

#include "files/open_file.hpp"
#include "files/trust.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <spdlog/fmt/fmt.h>
#include <sys/stat.h>
#include <unistd.h>

TMAJIT_BEGIN

namespace {

std::error_code last_error() {
  return {errno, std::generic_category()};
}

/// A file name that no other process, thread or machine with the same folder chooses at the same time.
std::string unique_name() {
  static std::atomic<std::uint64_t> count{0};
  const auto now = std::chrono::system_clock::now().time_since_epoch().count();
  return fmt::format("{}-{:x}-{}", ::getpid(), now, count.fetch_add(1, std::memory_order_relaxed));
}

/// Creates one folder, unless it exists.
std::error_code make_folder(const std::filesystem::path& path) {
  if (file_system().mkdir(path, 0700) == 0) return {};
  auto error = last_error();
  if (error != std::errc::file_exists) return error;
  struct stat info {};
  if (file_system().stat(path, info) == 0 && S_ISDIR(info.st_mode)) return {};
  return std::make_error_code(std::errc::not_a_directory);
}

std::string read_once(const std::filesystem::path& path, std::uint64_t limit, std::error_code& error,
                      Writer writer, FileTime* time) {
  struct stat info {};
  const int file = open_regular_file(path, writer, info, error);
  if (file < 0) return {};
  if (time != nullptr) *time = modified(info);
  std::string bytes;
  bytes.resize(std::min(limit, static_cast<std::uint64_t>(info.st_size)));
  std::size_t filled = 0;
  while (filled < bytes.size()) {
    const auto count = file_system().read(file, bytes.data() + filled, bytes.size() - filled);
    if (count < 0) error = last_error();
    if (count <= 0) break;
    filled += static_cast<std::size_t>(count);
  }
  bytes.resize(error ? 0 : filled);
  file_system().close(file);
  return bytes;
}

std::error_code write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto written = file_system().write(file, bytes.data(), bytes.size());
    if (written < 0) return last_error();
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

/// Opens a file that only this user could have made. Returns −1 and sets errno for any other.
int open_to_change(const std::filesystem::path& path, int flags) {
  const int file = file_system().open(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | flags, 0644);
  if (file < 0) return -1;
  struct stat info {};
  const bool is_own = file_system().fstat(file, info) == 0 && S_ISREG(info.st_mode) &&
                      is_trusted_file(info) && info.st_nlink == 1;
  if (is_own) return file;
  file_system().close(file);
  errno = EPERM;
  return -1;
}

}  // namespace

std::string read_file(const std::filesystem::path& path, std::uint64_t limit, std::error_code& error,
                      Writer writer, FileTime* time) {
  std::string bytes = read_once(path, limit, error, writer, time);
  if (error.value() == ESTALE) bytes = read_once(path, limit, error, writer, time);
  return bytes;
}

std::error_code make_private_folder(const std::filesystem::path& path) {
  auto error = make_folder(path);
  if (error == std::errc::no_such_file_or_directory && path.has_relative_path()) {
    error = make_private_folder(path.parent_path());
    if (!error) error = make_folder(path);
  }
  return error;
}

std::error_code replace_file(const std::filesystem::path& folder, const std::filesystem::path& path,
                             std::string_view bytes, unsigned mode) {
  FileSystem& files = file_system();
  const auto pending = folder / unique_name();
  const int file = files.open(pending, O_WRONLY | O_CREAT | O_EXCL, mode);
  if (file < 0) return last_error();
  std::error_code error = write_all(file, bytes);
  if (!error && files.sync(file) != 0) error = last_error();
  // On Linux close() frees the descriptor even if it fails. Its failure may be the first report of a full
  // disk on a network filesystem.
  if (files.close(file) != 0 && errno != EINTR && !error) error = last_error();
  if (!error && files.rename(pending, path) != 0) error = last_error();
  if (error) files.unlink(pending);
  return error;
}

std::error_code publish_file(const std::filesystem::path& pending, const std::filesystem::path& path,
                             std::string_view bytes) {
  constexpr unsigned mode = 0644;
  auto error = replace_file(pending, path, bytes, mode);
  if (error != std::errc::no_such_file_or_directory) return error;
  // This is the first file of a cache, or of one of its folders: create the folders.
  for (const auto& folder : {pending, path.parent_path()}) {
    error = make_private_folder(folder);
    if (error) return error;
  }
  return replace_file(pending, path, bytes, mode);
}

std::error_code append_file(const std::filesystem::path& path, std::string_view bytes, AppendTo target,
                            std::uint64_t* size) {
  FileSystem& files = file_system();
  if (size != nullptr) *size = 0;
  constexpr int flags = O_CREAT | O_APPEND;
  const int file = target == AppendTo::own_file ? open_to_change(path, flags)
                                                : files.open(path, O_WRONLY | O_NONBLOCK | flags, 0644);
  if (file < 0) return last_error();
  std::error_code error;
  const auto written = bytes.empty() ? 0 : files.write(file, bytes.data(), bytes.size());
  struct stat info {};
  if (written < 0) {
    error = last_error();
  } else if (static_cast<std::size_t>(written) != bytes.size()) {
    error = std::make_error_code(std::errc::no_space_on_device);
  } else if (size != nullptr && files.fstat(file, info) != 0) {
    error = last_error();
  }
  if (files.close(file) != 0 && errno != EINTR && !error) error = last_error();
  if (size != nullptr && !error) *size = static_cast<std::uint64_t>(info.st_size);
  return error;
}

bool set_file_size(const std::filesystem::path& path, std::uint64_t bytes) {
  const int file = open_to_change(path, 0);
  if (file < 0) return false;
  const bool done = file_system().ftruncate(file, bytes) == 0;
  file_system().close(file);
  return done;
}

bool remove_file(const std::filesystem::path& path, std::error_code& error) {
  error.clear();
  if (file_system().unlink(path) == 0) return true;
  if (errno != ENOENT) error = last_error();
  return false;
}

std::vector<std::string> names_in(const std::filesystem::path& folder, std::error_code& error) {
  error.clear();
  std::vector<std::string> names;
  if (file_system().list(folder, names) == 0) return names;
  if (errno != ENOENT) error = last_error();
  return names;
}

TMAJIT_END
