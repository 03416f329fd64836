#include "files.hpp"

#include <tmajit/error.hpp>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <spdlog/fmt/fmt.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace jitc {
namespace {

using tmajit::Error;
using tmajit::ErrorCode;

std::string reason(int error) {
  return std::generic_category().message(error);
}

std::filesystem::path folder_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

std::span<const std::byte> as_bytes(std::string_view text) {
  return std::as_bytes(std::span(text));
}

extern "C" void bus_error(int /*signal*/) {
  constexpr std::string_view message =
      "jitc: error: a file shrank, or its disk failed, while it was being read or written\n";
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, message.data(), message.size());
  ::_exit(1);
}

}  // namespace

Descriptor::~Descriptor() {
  if (fd_ >= 0) ::close(fd_);
}
Descriptor::Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

Mapping::~Mapping() {
  if (data_ != nullptr) ::munmap(data_, size_);
}
Mapping::Mapping(Mapping&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
Mapping& Mapping::operator=(Mapping&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

InputFile::InputFile(const std::filesystem::path& path) {
  const auto fail = [&](int error) {
    throw Error(ErrorCode::io, fmt::format("cannot read {}: {}", path.string(), reason(error)));
  };
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) fail(errno);
  struct ::stat status {};
  if (::fstat(file.get(), &status) != 0) fail(errno);
  if (S_ISDIR(status.st_mode)) fail(EISDIR);
  if (S_ISREG(status.st_mode)) {
    const auto size = static_cast<std::size_t>(status.st_size);
    if (size == 0) return;
    void* const data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
    if (data == MAP_FAILED) fail(errno);
    mapping_ = Mapping(static_cast<std::byte*>(data), size);
    return;
  }
  constexpr std::size_t piece = std::size_t{1} << 20U;
  for (std::size_t used = 0;;) {
    read_.resize(used + piece);
    const auto got = ::read(file.get(), read_.data() + used, piece);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(errno);
    used += static_cast<std::size_t>(got);
    if (got == 0) {
      read_.resize(used);
      return;
    }
  }
}

std::span<const std::byte> InputFile::bytes() const noexcept {
  return mapping_.bytes().empty() ? std::span<const std::byte>(read_) : mapping_.bytes();
}

void OutputFile::fail(const std::string& what, int error) const {
  throw Error(ErrorCode::io, fmt::format("cannot {} {}: {}", what, path_.string(), reason(error)));
}

OutputFile::OutputFile(std::filesystem::path path) : path_(std::move(path)) {
  if (path_.empty()) throw Error(ErrorCode::invalid_argument, "the name of the output file is empty");
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
    // A link keeps pointing where it did; the file that it names is replaced.
    std::error_code ignored;
    if (auto real = std::filesystem::canonical(path_, ignored); !ignored) path_ = std::move(real);
  } else if (errno != ENOENT) {
    fail("write", errno);
  }
  open_unnamed();
  if (mode != 0) ::fchmod(file_.get(), mode);
}

void OutputFile::open_unnamed() {
  // A file without a name vanishes with the process, however that ends.
  file_ = Descriptor(::open(folder_of(path_).c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0666));
  if (file_.get() >= 0) return;
  if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL) fail("write", errno);
  auto pattern = path_.string() + ".XXXXXX";
  file_ = Descriptor(::mkostemp(pattern.data(), O_CLOEXEC));
  if (file_.get() < 0) fail("write", errno);
  temporary_ = pattern;
  const auto mask = ::umask(0);
  ::umask(mask);
  ::fchmod(file_.get(), 0666U & ~mask);
}

OutputFile::~OutputFile() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void OutputFile::write(std::span<const std::byte> bytes) {
  write_fully(file_.get(), bytes, path_.string());
}

void OutputFile::write(std::string_view text) {
  write(as_bytes(text));
}

std::span<std::byte> OutputFile::reserve(std::uint64_t size) {
  if (size == 0) return {};
  int flags = MAP_SHARED;
  int fd = file_.get();
  if (direct_) {
    flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    fd = -1;
  } else if (const int error = ::posix_fallocate(fd, 0, static_cast<off_t>(size)); error != 0) {
    // Without the reservation a full disk would show up as a signal in the midst of the work.
    fail(fmt::format("reserve {} bytes for", size), error);
  }
  void* const data = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, flags, fd, 0);
  if (data == MAP_FAILED) fail("map", errno);
  mapping_ = Mapping(static_cast<std::byte*>(data), size);
  return mapping_.bytes();
}

void OutputFile::commit() {
  if (direct_) {
    write(mapping_.bytes());
    return;
  }
  if (::fsync(file_.get()) != 0) fail("write", errno);
  publish();
}

void OutputFile::publish() {
  if (temporary_.empty()) {
    // An unnamed file can only be linked to a name that is free, so it takes a temporary one first.
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
  // The new name must survive a crash too; a file system that cannot promise that is no reason to fail.
  const Descriptor folder(::open(folder_of(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.get() >= 0) ::fsync(folder.get());
}

void write_fully(int fd, std::span<const std::byte> bytes, std::string_view name) {
  // Linux writes at most 2 GiB − 4 KiB at a time; smaller pieces let signals through.
  constexpr std::size_t piece = std::size_t{1} << 30U;
  while (!bytes.empty()) {
    const auto written = ::write(fd, bytes.data(), std::min(bytes.size(), piece));
    if (written >= 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(written));
    } else if (errno != EINTR) {
      throw Error(ErrorCode::io, fmt::format("cannot write {}: {}", name, reason(errno)));
    }
  }
}

void write_stdout(std::span<const std::byte> bytes) {
  write_fully(STDOUT_FILENO, bytes, "to standard output");
}

void write_stdout(std::string_view text) {
  write_stdout(as_bytes(text));
}

void install_signal_handling() {
  ::signal(SIGXFSZ, SIG_IGN);
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGBUS, bus_error);
}

}  // namespace jitc
