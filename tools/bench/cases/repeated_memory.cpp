#include "repeated_memory.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include <sys/mman.h>
#include <unistd.h>

namespace bench {
namespace {

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

std::byte* map(void* where, std::uint64_t bytes, int flags, int file) {
  void* const mapped = mmap(where, bytes, PROT_READ | PROT_WRITE, flags, file, 0);
  if (mapped == MAP_FAILED) fail("mmap");
  return static_cast<std::byte*>(mapped);
}

}  // namespace

RepeatedMemory::RepeatedMemory(std::span<const std::byte> period, std::uint64_t bytes)
    : bytes_(std::max<std::uint64_t>((bytes + period.size() - 1) / period.size(), 1) * period.size()) {
  const int file = memfd_create("period", MFD_CLOEXEC);
  if (file < 0) fail("memfd_create");
  try {
    if (ftruncate(file, static_cast<off_t>(period.size())) != 0) fail("ftruncate");
    first_ = map(nullptr, bytes_, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
    for (std::uint64_t at = 0; at < bytes_; at += period.size())
      map(first_ + at, period.size(), MAP_SHARED | MAP_FIXED, file);
    std::memcpy(first_, period.data(), period.size());
  } catch (...) {
    if (first_ != nullptr) munmap(first_, bytes_);
    close(file);
    throw;
  }
  close(file);
}

RepeatedMemory::~RepeatedMemory() {
  munmap(first_, bytes_);
}

}  // namespace bench
