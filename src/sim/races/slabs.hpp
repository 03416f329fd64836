#pragma once

#include <tmajit/version.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

TMAJIT_BEGIN
namespace sim {

/// Memory for many small things that end together: what is remembered of a launch's accesses. It comes from
/// the system in larger and larger pieces, and the system is asked to back the large ones by large pages:
/// faults for 4 KiB at a time were a quarter of the time of gathers. Thread-safe.
class Slabs {
 public:
  Slabs() = default;
  Slabs(const Slabs&) = delete;
  Slabs& operator=(const Slabs&) = delete;

  /// So many bytes, aligned for anything. They are there until the Slabs end. Throws std::bad_alloc.
  [[nodiscard]] void* take(std::size_t bytes);

 private:
  struct Free {
    void operator()(std::byte* slab) const noexcept;
  };
  /// What some of the host's threads take from: others seldom wait for them.
  struct alignas(64) Corner {
    std::atomic_flag locked;
    std::byte* next = nullptr;
    std::size_t left = 0;
    std::size_t last = 0;  ///< bytes of the newest slab
    std::vector<std::unique_ptr<std::byte, Free>> slabs;

    void add(std::size_t least);
  };
  std::array<Corner, 8> corners_;
};

}  // namespace sim
TMAJIT_END
