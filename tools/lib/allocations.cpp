#include "lib/allocations.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

#include <malloc.h>

namespace {

thread_local std::size_t allocation_calls = 0;
std::atomic<std::size_t> in_use = 0;

/// Allocates memory and counts it. `alignment` must divide `bytes`; 0 is malloc's alignment.
void* allocate_counted(std::size_t bytes, std::size_t alignment = 0) noexcept {
  ++allocation_calls;
  if (bytes == 0) bytes = alignment == 0 ? 1 : alignment;
  void* const memory = alignment == 0 ? std::malloc(bytes) : std::aligned_alloc(alignment, bytes);
  in_use.fetch_add(::malloc_usable_size(memory), std::memory_order_relaxed);
  return memory;
}

void free_counted(void* memory) noexcept {
  in_use.fetch_sub(::malloc_usable_size(memory), std::memory_order_relaxed);
  std::free(memory);
}

void* allocate_counted_or_throw(std::size_t bytes) {
  if (void* memory = allocate_counted(bytes)) return memory;
  throw std::bad_alloc();
}
void* allocate_counted_or_throw(std::size_t bytes, std::align_val_t alignment) {
  const auto unit = static_cast<std::size_t>(alignment);
  if (void* memory = allocate_counted((bytes + unit - 1) / unit * unit, unit)) return memory;
  throw std::bad_alloc();
}

}  // namespace

std::size_t allocations() noexcept {
  return allocation_calls;
}
std::size_t heap_bytes() noexcept {
  return in_use.load(std::memory_order_relaxed);
}

// Replaces all throwing forms and the unaligned nothrow forms of operator new, so that the operators delete
// below never get memory of another allocator.
void* operator new(std::size_t bytes) {
  return allocate_counted_or_throw(bytes);
}
void* operator new[](std::size_t bytes) {
  return allocate_counted_or_throw(bytes);
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return allocate_counted(bytes);
}
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
  return allocate_counted(bytes);
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate_counted_or_throw(bytes, alignment);
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return allocate_counted_or_throw(bytes, alignment);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  free_counted(memory);
}
void operator delete[](void* memory, std::align_val_t) noexcept {
  free_counted(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  free_counted(memory);
}
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept {
  free_counted(memory);
}
void operator delete(void* memory) noexcept {
  free_counted(memory);
}
void operator delete[](void* memory) noexcept {
  free_counted(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  free_counted(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  free_counted(memory);
}
