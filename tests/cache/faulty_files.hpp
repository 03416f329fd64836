#pragma once

#include "files/file_system.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>

namespace tests {

/// A file system whose calls fail at random while it lives, and whose clock can be set. Thread-safe.
///
/// A call fails with an error that network file systems and full disks give. A read or write may transfer
/// fewer bytes, or damaged ones. A write may lose its bytes and yet succeed, as if the power was cut before
/// they were on the disk. A successful call may report that it failed, as NFS does if the server's answer was
/// lost.
class FaultyFileSystem final : public tmajit::FileSystem {
 public:
  explicit FaultyFileSystem(std::uint64_t seed)
      : random_(seed), before_(tmajit::replace_file_system(*this)) {}
  ~FaultyFileSystem() override { tmajit::replace_file_system(before_); }
  FaultyFileSystem(const FaultyFileSystem&) = delete;
  FaultyFileSystem& operator=(const FaultyFileSystem&) = delete;

  /// One in `calls` calls fails; 0 for none.
  void set_rate(unsigned calls) {
    const std::lock_guard lock(mutex_);
    calls_ = calls;
  }
  /// The clock of this machine and of the disk, relative to the real clock.
  void set_clock(std::chrono::seconds offset) {
    const std::lock_guard lock(mutex_);
    offset_ = offset;
  }
  [[nodiscard]] std::size_t faults() const {
    const std::lock_guard lock(mutex_);
    return faults_;
  }

  int open(const std::string& path, int flags, unsigned mode) override {
    return result([&] { return FileSystem::open(path, flags, mode); }, Repeatable::no);
  }
  ::ssize_t read(int file, char* bytes, std::size_t count) override {
    if (!fails()) return FileSystem::read(file, bytes, count);
    const unsigned kind = draw(4);
    if (kind == 0) return fail();
    if (kind == 1) return 0;  // the file was truncated
    const auto filled =
        FileSystem::read(file, bytes, kind == 2 ? std::max<std::size_t>(count / 2, 1) : count);
    if (kind == 3 && filled > 0) damage(bytes, static_cast<std::size_t>(filled));
    return filled;
  }
  ::ssize_t write(int file, const char* bytes, std::size_t count) override {
    if (!fails()) return FileSystem::write(file, bytes, count);
    const unsigned kind = draw(4);
    if (kind == 0) return fail();
    if (kind == 1) return FileSystem::write(file, bytes, std::max<std::size_t>(count / 2, 1));
    if (kind == 2) return static_cast<::ssize_t>(count);  // lost
    std::string damaged(bytes, count);
    if (count > 0) damage(damaged.data(), count);
    return FileSystem::write(file, damaged.data(), count);
  }
  int sync(int) override { return fails() ? fail() : 0; }  // does not wait for the disk
  int close(int file) override {
    const int closed = FileSystem::close(file);
    return fails() ? fail() : closed;
  }
  int stat(const std::string& path, struct stat& info) override {
    return result([&] { return FileSystem::stat(path, info); });
  }
  int lstat(const std::string& path, struct stat& info) override {
    return result([&] { return FileSystem::lstat(path, info); });
  }
  int fstat(int file, struct stat& info) override {
    return result([&] { return FileSystem::fstat(file, info); });
  }
  int rename(const std::string& from, const std::string& to) override {
    return result([&] { return FileSystem::rename(from, to) == 0 ? set_time(to) : -1; });
  }
  int unlink(const std::string& path) override {
    return result([&] { return FileSystem::unlink(path); });
  }
  int ftruncate(int file, std::uint64_t bytes) override {
    return result([&] { return FileSystem::ftruncate(file, bytes); });
  }
  int mkdir(const std::string& path, unsigned mode) override {
    return result([&] { return FileSystem::mkdir(path, mode); });
  }
  int touch(const std::string& path) override {
    return result([&] { return set_time(path); });
  }
  int list(const std::string& folder, std::vector<std::string>& names) override {
    return result([&] { return FileSystem::list(folder, names); });
  }
  int refresh(const std::string& folder) override {
    return result([&] { return FileSystem::refresh(folder); });
  }
  int lock(int file) override {
    return result([&] { return FileSystem::lock(file); });
  }
  tmajit::FileTime now() override {
    const std::lock_guard lock(mutex_);
    return FileSystem::now() + offset_;
  }

 private:
  enum class Repeatable { no, yes };

  [[nodiscard]] unsigned draw(unsigned count) {
    const std::lock_guard lock(mutex_);
    return static_cast<unsigned>(random_() % count);
  }
  [[nodiscard]] bool fails() {
    const std::lock_guard lock(mutex_);
    if (calls_ == 0 || random_() % calls_ != 0) return false;
    ++faults_;
    return true;
  }
  /// Flips a bit, or clears the end of the bytes.
  void damage(char* bytes, std::size_t count) {
    const std::size_t at = draw(static_cast<unsigned>(count));
    if (draw(2) == 0) {
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << draw(8)));
    } else {
      std::memset(bytes + at, 0, count - at);
    }
  }
  int fail() {
    constexpr std::array errors{ESTALE, EBUSY, ENOSPC, EIO, EACCES, ENOENT, ETIMEDOUT, EROFS, EDQUOT, ENOLCK};
    errno = errors[draw(errors.size())];
    return -1;
  }
  template <class Call>
  int result(Call call, Repeatable repeatable = Repeatable::yes) {
    if (!fails()) return call();
    if (repeatable == Repeatable::yes && draw(2) == 0) (void)call();  // only its answer is lost
    return fail();
  }
  int set_time(const std::string& path) {
    const auto time = now().time_since_epoch();
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time);
    const ::timespec stamp{.tv_sec = seconds.count(), .tv_nsec = (time - seconds).count()};
    const std::array<::timespec, 2> times{stamp, stamp};
    return ::utimensat(AT_FDCWD, path.c_str(), times.data(), AT_SYMLINK_NOFOLLOW);
  }

  mutable std::mutex mutex_;
  std::mt19937_64 random_;
  unsigned calls_ = 0;
  std::chrono::seconds offset_{0};
  std::size_t faults_ = 0;
  tmajit::FileSystem& before_;
};

}  // namespace tests
