#include "lib/allocations.hpp"

#include <cstdlib>
#include <new>

namespace {

thread_local std::size_t count = 0;

void* counted(std::size_t bytes) noexcept {
  ++count;
  return std::malloc(bytes == 0 ? 1 : bytes);
}

void* counted_or_throw(std::size_t bytes) {
  if (void* memory = counted(bytes)) return memory;
  throw std::bad_alloc();
}

}  // namespace

std::size_t allocations() noexcept {
  return count;
}

// All the unaligned forms, so that no other allocator's memory comes to these operators delete.
void* operator new(std::size_t bytes) {
  return counted_or_throw(bytes);
}
void* operator new[](std::size_t bytes) {
  return counted_or_throw(bytes);
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return counted(bytes);
}
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
  return counted(bytes);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete[](void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  std::free(memory);
}
