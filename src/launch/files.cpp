#include "launch/files.hpp"

#include "spec/refuse.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <spdlog/fmt/fmt.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

TMAJIT_BEGIN
namespace {

std::string reason(int error) {
  return std::generic_category().message(error);
}

std::filesystem::path folder_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

}  // namespace

Descriptor::~Descriptor() {
  if (fd_ >= 0) ::close(fd_);
}

InputFile::InputFile(const std::filesystem::path& path) {
  if (path == standard_stream) {
    static const std::shared_ptr<llvm::MemoryBuffer> standard_input = [] {
      auto read = llvm::MemoryBuffer::getSTDIN();
      if (!read) fail(ErrorCode::io, "cannot read standard input: {}", read.getError().message());
      return std::move(*read);
    }();
    buffer_ = standard_input;
    return;
  }
  auto buffer =
      llvm::MemoryBuffer::getFile(path.string(), /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer) fail(ErrorCode::io, "cannot read {}: {}", path.string(), buffer.getError().message());
  buffer_ = std::move(*buffer);
}

void OutputFile::fail(const std::string& what, int error) const {
  tmajit::fail(ErrorCode::io, "cannot {} {}: {}", what, path_.string(), reason(error));
}

OutputFile::OutputFile(std::filesystem::path path) : path_(std::move(path)) {
  if (path_.empty()) refuse("the name of the output file is empty");
  if (path_ == standard_stream) {
    path_ = "standard output";
    direct_ = true;
    file_ = Descriptor(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0));
    if (file_.get() < 0) fail("write", errno);
    return;
  }
  struct ::stat status {};
  mode_t mode = 0;
  if (::stat(path_.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode)) fail("write", EISDIR);
    if (!S_ISREG(status.st_mode)) {
      direct_ = true;
      file_ = Descriptor(::open(path_.c_str(), O_WRONLY | O_CLOEXEC));
      if (file_.get() < 0) fail("write", errno);
      return;
    }
    if (::access(path_.c_str(), W_OK) != 0) fail("write", errno);
    mode = status.st_mode & 07777U;
    // A symbolic link stays as it is; the file that it points to is replaced.
    std::error_code ignored;
    if (auto real = std::filesystem::canonical(path_, ignored); !ignored) path_ = std::move(real);
  } else if (errno != ENOENT) {
    fail("write", errno);
  }
  open_unnamed();
  if (mode != 0) ::fchmod(file_.get(), mode);
}

void OutputFile::open_unnamed() {
  // A file without a name disappears with the process, however the process ends.
  file_ = Descriptor(::open(folder_of(path_).c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0666));
  if (file_.get() >= 0) return;
  if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL) fail("write", errno);
  auto pattern = path_.string() + ".XXXXXX";
  file_ = Descriptor(::mkostemp(pattern.data(), O_CLOEXEC));
  if (file_.get() < 0) fail("write", errno);
  temporary_ = pattern;
  // mkostemp() makes a private file; give it the permissions that open() would. Only a change reads the mask.
  const auto mask = ::umask(0);
  ::umask(mask);
  ::fchmod(file_.get(), 0666U & ~mask);
}

OutputFile::~OutputFile() {
  if (!mapped_.empty()) ::munmap(mapped_.data(), mapped_.size());
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void OutputFile::write(std::span<const std::byte> bytes) {
  write_fully(file_.get(), bytes, path_.string());
}

void OutputFile::write(std::string_view text) {
  write(std::as_bytes(std::span(text)));
}

std::span<std::byte> OutputFile::reserve(std::uint64_t size) {
  if (size == 0) return {};
  int flags = MAP_SHARED;
  int fd = file_.get();
  if (direct_) {
    flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    fd = -1;
  } else if (const int error = ::posix_fallocate(fd, 0, static_cast<off_t>(size)); error != 0) {
    // Without the reservation, a full disk would raise a signal while the mapped file is written.
    fail(fmt::format("reserve {} bytes for", size), error);
  }
  void* const data = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, flags, fd, 0);
  if (data == MAP_FAILED) fail("map", errno);
  return mapped_ = {static_cast<std::byte*>(data), size};
}

void OutputFile::commit() {
  if (direct_) {
    write(mapped_);
    return;
  }
  if (::fsync(file_.get()) != 0) fail("write", errno);
  publish();
}

void OutputFile::publish() {
  if (temporary_.empty()) {
    // An unnamed file can only be linked to an unused name, so it gets a temporary name first.
    const auto unnamed = fmt::format("/proc/self/fd/{}", file_.get());
    for (unsigned attempt = 0;; ++attempt) {
      const std::string candidate = fmt::format("{}.{}-{}", path_.string(), ::getpid(), attempt);
      if (::linkat(AT_FDCWD, unnamed.c_str(), AT_FDCWD, candidate.c_str(), AT_SYMLINK_FOLLOW) == 0) {
        temporary_ = candidate;
        break;
      }
      if (errno != EEXIST || attempt == 100) fail("write", errno);
    }
  }
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail("write", errno);
  temporary_.clear();
  // Makes the new name survive a crash. Failures are ignored: some file systems cannot do it.
  const Descriptor folder(::open(folder_of(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.get() >= 0) ::fsync(folder.get());
}

namespace {

/// Whether both paths name the same regular file, or the same file that does not exist yet.
bool name_one_file(const std::filesystem::path& a, const std::filesystem::path& b) {
  if (a == standard_stream || b == standard_stream) return false;
  std::error_code error;
  const auto status = std::filesystem::status(a, error);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) return false;
  if (std::filesystem::equivalent(a, b, error)) return true;
  const auto real_a = std::filesystem::weakly_canonical(std::filesystem::absolute(a, error), error);
  const auto real_b = std::filesystem::weakly_canonical(std::filesystem::absolute(b, error), error);
  return !error && real_a == real_b;
}

}  // namespace

void require_distinct(std::span<const std::filesystem::path> written,
                      std::span<const std::filesystem::path> read) {
  for (std::size_t i = 0; i < written.size(); ++i) {
    for (const auto& other : written.first(i)) {
      if (!name_one_file(written[i], other)) continue;
      refuse("{} is written twice; each output needs a file of its own", written[i].string());
    }
    for (const auto& other : read) {
      if (!name_one_file(written[i], other)) continue;
      refuse("{} is read and written; an output needs a file of its own", written[i].string());
    }
  }
}

void write_fully(int fd, std::span<const std::byte> bytes, std::string_view name) {
  // Linux writes at most 2 GiB − 4 KiB at a time; smaller pieces let signals through.
  constexpr std::size_t piece = std::size_t{1} << 30U;
  while (!bytes.empty()) {
    const auto written = ::write(fd, bytes.data(), std::min(bytes.size(), piece));
    if (written >= 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(written));
    } else if (errno != EINTR) {
      fail(ErrorCode::io, "cannot write {}: {}", name, reason(errno));
    }
  }
}

TMAJIT_END
