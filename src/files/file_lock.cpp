#include "files/file_lock.hpp"

#include "files/files.hpp"

#include <algorithm>
#include <cerrno>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>

TMAJIT_BEGIN
namespace {

enum class Attempt { taken, busy, impossible };

int open_lock(const std::filesystem::path& path) {
  // Writable, because NFS locks only such files.
  return file_system().open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0600);
}

/// Says of a locked file whether it is still the file at `path`. If it was removed, another process may hold
/// the lock of a new file.
Attempt attempt_with(int descriptor, const std::filesystem::path& path) {
  struct stat opened {};
  struct stat named {};
  if (file_system().fstat(descriptor, opened) != 0 || file_system().lstat(path, named) != 0) {
    return errno == ENOENT || errno == ESTALE ? Attempt::busy : Attempt::impossible;
  }
  return opened.st_dev == named.st_dev && opened.st_ino == named.st_ino ? Attempt::taken : Attempt::busy;
}

/// Tries to take the lock once. Opens the file each time, because the previous holder removes its file.
Attempt attempt(const std::filesystem::path& path, int& descriptor) {
  descriptor = open_lock(path);
  if (descriptor < 0 && errno == ENOENT && !make_private_folder(path.parent_path())) {
    descriptor = open_lock(path);
  }
  if (descriptor < 0) return Attempt::impossible;
  const Attempt result = file_system().lock(descriptor) == 0 ? attempt_with(descriptor, path)
                         : errno == EWOULDBLOCK              ? Attempt::busy
                                                             : Attempt::impossible;
  if (result != Attempt::taken) file_system().close(std::exchange(descriptor, -1));
  return result;
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
  file_system().unlink(path_);
  // Unlocked explicitly: if a forked child also has the descriptor, closing it would not release the lock.
  file_system().unlock(descriptor_);
  file_system().close(descriptor_);
}

TMAJIT_END
