#include "files/file_system.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <string_view>

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

TMAJIT_BEGIN
namespace {

/// Repeats a system call that a signal interrupted.
template <class Call>
auto uninterrupted(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

std::atomic<FileSystem*>& current_file_system() noexcept {
  static FileSystem& real = *new FileSystem;  // never destroyed: threads may use it while the process ends
  static std::atomic<FileSystem*> current{&real};
  return current;
}

}  // namespace

int FileSystem::open(const std::string& path, int flags, unsigned mode) {
  return uninterrupted([&] { return ::open(path.c_str(), flags | O_CLOEXEC, mode); });
}
::ssize_t FileSystem::read(int file, char* bytes, std::size_t count) {
  return uninterrupted([&] { return ::read(file, bytes, count); });
}
::ssize_t FileSystem::write(int file, const char* bytes, std::size_t count) {
  return uninterrupted([&] { return ::write(file, bytes, count); });
}
int FileSystem::ftruncate(int file, std::uint64_t bytes) {
  return uninterrupted([&] { return ::ftruncate(file, static_cast<::off_t>(bytes)); });
}
int FileSystem::sync(int file) {
  return uninterrupted([&] { return ::fdatasync(file); });
}
int FileSystem::close(int file) {
  return ::close(file);
}

int FileSystem::stat(const std::string& path, struct stat& info) {
  return uninterrupted([&] { return ::stat(path.c_str(), &info); });
}
int FileSystem::lstat(const std::string& path, struct stat& info) {
  return uninterrupted([&] { return ::lstat(path.c_str(), &info); });
}
int FileSystem::fstat(int file, struct stat& info) {
  return uninterrupted([&] { return ::fstat(file, &info); });
}
int FileSystem::rename(const std::string& from, const std::string& to) {
  return uninterrupted([&] { return std::rename(from.c_str(), to.c_str()); });
}
int FileSystem::unlink(const std::string& path) {
  return uninterrupted([&] { return ::unlink(path.c_str()); });
}
int FileSystem::mkdir(const std::string& path, unsigned mode) {
  return uninterrupted([&] { return ::mkdir(path.c_str(), mode); });
}
int FileSystem::touch(const std::string& path) {
  return uninterrupted([&] { return ::utimensat(AT_FDCWD, path.c_str(), nullptr, AT_SYMLINK_NOFOLLOW); });
}

int FileSystem::list(const std::string& folder, std::vector<std::string>& names) {
  ::DIR* const stream = ::opendir(folder.c_str());
  if (stream == nullptr) return -1;
  for (;;) {
    errno = 0;
    const ::dirent* const entry = ::readdir(stream);  // NOLINT(concurrency-mt-unsafe): no shared stream
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  const int error = errno;
  ::closedir(stream);
  errno = error;
  return error == 0 ? 0 : -1;
}
int FileSystem::refresh(const std::string& folder) {
  struct statx state {};
  return uninterrupted(
      [&] { return ::statx(AT_FDCWD, folder.c_str(), AT_STATX_FORCE_SYNC, STATX_MTIME, &state); });
}

int FileSystem::lock(int file) {
  return uninterrupted([&] { return ::flock(file, LOCK_EX | LOCK_NB); });
}
int FileSystem::unlock(int file) {
  return uninterrupted([&] { return ::flock(file, LOCK_UN); });
}

FileTime FileSystem::now() {
  return std::chrono::time_point_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now());
}

FileSystem& file_system() noexcept {
  return *current_file_system().load(std::memory_order_acquire);
}
FileSystem& replace_file_system(FileSystem& replacement) noexcept {
  return *current_file_system().exchange(&replacement, std::memory_order_acq_rel);
}

FileTime modified(const struct stat& info) noexcept {
  // A file may have any time; a FileTime ends in 2262. Two times of this range can be subtracted.
  constexpr std::int64_t latest_second = 9'000'000'000;
  const std::int64_t second = std::clamp<std::int64_t>(info.st_mtim.tv_sec, 0, latest_second);
  return FileTime(std::chrono::seconds(second) + std::chrono::nanoseconds(info.st_mtim.tv_nsec));
}

TMAJIT_END
