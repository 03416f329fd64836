#include "sim/races/slabs.hpp"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <new>
#include <thread>
#include <utility>

#include <sys/mman.h>

TMAJIT_BEGIN
namespace sim {
namespace {

constexpr std::size_t min_slab = std::size_t{16} << 10;
constexpr std::size_t large_page = std::size_t{2} << 20;
constexpr std::size_t max_slab = 2 * large_page;
constexpr std::size_t alignment = alignof(std::max_align_t);

std::size_t rounded(std::size_t bytes, std::size_t to) {
  return (bytes + to - 1) / to * to;
}

}  // namespace

void Slabs::Free::operator()(std::byte* slab) const noexcept {
  std::free(slab);
}

void Slabs::Arena::add(std::size_t least) {
  last = std::clamp(2 * last, min_slab, max_slab);
  const std::size_t bytes = std::max(last, rounded(least, min_slab));
  slabs.reserve(slabs.size() + 1);
  const bool large = bytes >= large_page;
  left = large ? rounded(bytes, large_page) : bytes;
  next = static_cast<std::byte*>(large ? std::aligned_alloc(large_page, left) : std::malloc(left));
  if (next == nullptr) {
    left = 0;
    throw std::bad_alloc();
  }
  slabs.emplace_back(next);
  if (large) ::madvise(next, left, MADV_HUGEPAGE);  // failure is harmless: small pages are only slower
}

void* Slabs::take(std::size_t bytes) {
  bytes = rounded(bytes, alignment);
  Arena& arena = arenas_[std::hash<std::thread::id>{}(std::this_thread::get_id()) % arenas_.size()];
  while (arena.locked.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
  const struct Unlock {
    std::atomic_flag& flag;
    ~Unlock() { flag.clear(std::memory_order_release); }
  } unlock{arena.locked};
  if (arena.left < bytes) arena.add(bytes);
  arena.left -= bytes;
  return std::exchange(arena.next, arena.next + bytes);
}

}  // namespace sim
TMAJIT_END
