#include "files/file_lock.hpp"

#include "files/files.hpp"

#include <algorithm>
#include <cerrno>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

TMAJIT_BEGIN
namespace {

enum class Attempt { taken, busy, impossible };

int open_lock(const std::filesystem::path& path) {
  return ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
}

/// Whether `descriptor` is still the file at `path`, and not a file that was removed.
bool is_at(int descriptor, const std::filesystem::path& path) {
  struct stat opened {};
  struct stat named {};
  return ::fstat(descriptor, &opened) == 0 && ::lstat(path.c_str(), &named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

/// Tries to take the lock once. Opens the file each time, because the previous holder removes its file.
Attempt attempt(const std::filesystem::path& path, int& descriptor) {
  descriptor = open_lock(path);
  if (descriptor < 0 && errno == ENOENT && !make_private_folder(path.parent_path())) {
    descriptor = open_lock(path);
  }
  if (descriptor < 0) return errno == EINTR ? Attempt::busy : Attempt::impossible;
  const bool locked = ::flock(descriptor, LOCK_EX | LOCK_NB) == 0;
  if (locked && is_at(descriptor, path)) return Attempt::taken;
  const bool busy = locked || errno == EWOULDBLOCK || errno == EINTR;
  ::close(std::exchange(descriptor, -1));
  return busy ? Attempt::busy : Attempt::impossible;
}

}  // namespace

FileLock::FileLock(std::filesystem::path path, std::chrono::milliseconds patience) : path_(std::move(path)) {
  using Clock = std::chrono::steady_clock;
  // Polls, because flock() can wait, but not with a time limit.
  constexpr std::chrono::milliseconds longest_pause{20};
  const auto deadline = Clock::now() + patience;
  for (std::chrono::milliseconds pause{1}; attempt(path_, descriptor_) == Attempt::busy;
       pause = std::min(2 * pause, longest_pause)) {
    timed_out_ = Clock::now() >= deadline;
    if (timed_out_) return;
    std::this_thread::sleep_for(pause);
  }
}

FileLock::~FileLock() {
  if (descriptor_ < 0) return;
  ::unlink(path_.c_str());
  // Unlocked explicitly: if a forked child also has the descriptor, closing it would not release the lock.
  static_cast<void>(::flock(descriptor_, LOCK_UN));
  ::close(descriptor_);
}

TMAJIT_END
