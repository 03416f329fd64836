#pragma once

#include <tmajit/version.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

TMAJIT_BEGIN
namespace sim {

/// An arena for the many small records of a launch's accesses, which are freed together. It allocates slabs
/// of growing size, the large ones with huge pages: for launches with scattered accesses, page faults of 4
/// KiB pages took a quarter of the time. Thread-safe.
class Slabs {
 public:
  Slabs() = default;
  Slabs(const Slabs&) = delete;
  Slabs& operator=(const Slabs&) = delete;

  /// Returns `bytes` bytes, aligned for any type, which live as long as this object. Throws std::bad_alloc.
  [[nodiscard]] void* take(std::size_t bytes);

 private:
  struct Free {
    void operator()(std::byte* slab) const noexcept;
  };
  /// One of several independent arenas. The hash of a host thread's id selects its arena, so that threads
  /// seldom wait for each other.
  struct alignas(64) Arena {
    std::atomic_flag locked;
    std::byte* next = nullptr;
    std::size_t left = 0;  ///< bytes left in the newest slab
    std::size_t last = 0;  ///< size of the newest slab
    std::vector<std::unique_ptr<std::byte, Free>> slabs;

    void add(std::size_t least);
  };
  std::array<Arena, 8> arenas_;
};

}  // namespace sim
TMAJIT_END
