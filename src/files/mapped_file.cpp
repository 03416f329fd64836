#include "files/mapped_file.hpp"

#include "files/open_file.hpp"
#include "files/trust.hpp"

#include <cerrno>

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

TMAJIT_BEGIN

MappedFile::MappedFile(const std::filesystem::path& path, std::error_code& error) {
  struct stat info {};
  file_ = open_regular_file(path, Writer::anyone, info, error);
  if (file_ < 0 || info.st_size == 0) return;  // mmap() refuses an empty range
  const auto size = static_cast<std::size_t>(info.st_size);
  void* const mapped = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file_, 0);
  if (mapped == MAP_FAILED) {
    error = {errno, std::generic_category()};
    return;
  }
  data_ = static_cast<const char*>(mapped);
  size_ = size;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<char*>(data_), size_);
  if (file_ >= 0) ::close(file_);
}

bool MappedFile::is_whole() const noexcept {
  struct stat info {};
  return file_ >= 0 && ::fstat(file_, &info) == 0 && static_cast<std::size_t>(info.st_size) >= size_;
}

bool MappedFile::is_trusted() const noexcept {
  struct stat info {};
  return file_ >= 0 && ::fstat(file_, &info) == 0 && is_trusted_file(info);
}

TMAJIT_END
