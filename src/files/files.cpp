#include "files/files.hpp"

#include "files/open_file.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>

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
  if (::mkdir(path.c_str(), 0700) == 0) return {};
  auto error = last_error();
  if (error != std::errc::file_exists) return error;
  std::error_code unreadable;
  if (std::filesystem::is_directory(path, unreadable)) return {};
  return std::make_error_code(std::errc::not_a_directory);
}

}  // namespace

std::string read_file(const std::filesystem::path& path, std::uint64_t limit, std::error_code& error,
                      Writer writer) {
  struct stat info {};
  const int file = open_regular_file(path, writer, info, error);
  if (file < 0) return {};
  std::string bytes;
  bytes.resize(std::min(limit, static_cast<std::uint64_t>(info.st_size)));
  std::size_t filled = 0;
  while (filled < bytes.size()) {
    const auto count =
        uninterrupted([&] { return ::read(file, bytes.data() + filled, bytes.size() - filled); });
    if (count < 0) error = last_error();
    if (count <= 0) break;
    filled += static_cast<std::size_t>(count);
  }
  bytes.resize(error ? 0 : filled);
  ::close(file);
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
  const auto pending = folder / unique_name();
  const int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
  const int file = uninterrupted([&] { return ::open(pending.c_str(), flags, mode); });
  if (file < 0) return last_error();
  std::error_code error;
  while (!error && !bytes.empty()) {
    const auto written = uninterrupted([&] { return ::write(file, bytes.data(), bytes.size()); });
    if (written < 0) {
      error = last_error();
    } else {
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
  }
  // On Linux close() frees the descriptor even if it fails. Its failure may be the first report of a full
  // disk on a network filesystem.
  if (::close(file) != 0 && errno != EINTR && !error) error = last_error();
  if (!error && ::rename(pending.c_str(), path.c_str()) != 0) error = last_error();
  if (error) ::unlink(pending.c_str());
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

TMAJIT_END
