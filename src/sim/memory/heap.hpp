#pragma once

/// The device's heap: memory that kernels take by malloc and give back by free (CUDA guide, "Dynamic Global
/// Memory Allocation and Operations").
#include "sim/program/program.hpp"

#include <tmajit/error.hpp>
#include <tmajit/sim.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <vector>

TMAJIT_BEGIN
namespace sim {

struct Region;

/// Alignment of CUDA's malloc, in bytes.
inline constexpr std::uint64_t heap_alignment = 16;
/// Above all that the host allocates, and below the windows of other spaces.
inline constexpr std::uint64_t heap_begin = 0x6000'0000'0000;

/// A call of malloc or free, and its caller.
struct HeapCall {
  std::uint64_t launch = 0;
  std::uint32_t place =
      0;  ///< index into the program's places; of other launches than the running one nothing
  std::uint32_t ptx_line = 0;
  std::array<std::uint32_t, 3> cta{};
  std::array<std::uint32_t, 3> thread{};

  /// "by thread (3, 0, 0) of CTA (0, 0, 0) at PTX line 12"
  [[nodiscard]] std::string text() const;
};

/// Blocks outlive launches. Addresses are given out again only when there are no fresh ones left, so that an
/// access after a free, or far behind an end, meets nothing. Thread-safe.
class DeviceHeap {
 public:
  /// At most `bytes` are taken at a time.
  explicit DeviceHeap(std::uint64_t bytes);

  /// The host memory behind all addresses that the heap gives out. Only touched parts occupy memory.
  [[nodiscard]] Region region() const;
  [[nodiscard]] bool holds(std::uint64_t address) const noexcept { return address - heap_begin < span_; }
  /// Whether no block is taken. If so, most addresses are fresh again.
  [[nodiscard]] bool begin_launch();

  struct Block {
    std::uint64_t bytes = 0;
    std::uint64_t room = 0;  ///< with what lies unused behind it
    HeapCall taken;
    std::optional<HeapCall> freed{};
  };
  struct Taken {
    std::uint64_t address = 0;  ///< 0: there is no room for it, or nothing is asked for
    bool reused = false;        ///< this memory was allocated before in the same launch
  };
  [[nodiscard]] Taken take(std::uint64_t bytes, const HeapCall& call);
  /// Nothing if the address is that of a block, which then is free; else what is there.
  enum class Wrong : std::uint8_t { nothing, freed, no_block };
  Wrong free(std::uint64_t address, const HeapCall& call);
  /// The block that begins there, or has last begun there.
  [[nodiscard]] std::optional<Block> block(std::uint64_t address) const;

  /// The bytes of one block; null if no block that is taken holds all of them.
  [[nodiscard]] std::byte* at(std::uint64_t address, std::uint64_t bytes) const noexcept;
  /// Whether the address is of memory that has been freed, and not taken again.
  [[nodiscard]] bool is_freed(std::uint64_t address) const;
  /// Describes an address where at() is null. For an address outside the heap, it only says whether malloc
  /// has returned null.
  [[nodiscard]] std::string describe(std::uint64_t address, std::uint64_t bytes) const;

  /// The blocks that this launch has taken, and to which no pointer leads from other memory.
  [[nodiscard]] std::vector<std::pair<std::uint64_t, Block>> lost(std::uint64_t launch,
                                                                  const std::vector<Region>& memory) const;

 private:
  using Blocks = std::map<std::uint64_t, Block>;
  [[nodiscard]] Blocks::const_iterator find(std::uint64_t address) const;

  const std::uint64_t capacity_;
  const std::uint64_t span_;  ///< addresses of blocks, taken and freed ones
  mutable std::shared_mutex mutex_;
  std::shared_ptr<std::byte[]> memory_;  ///< null until the first allocation
  std::uint64_t next_ = 0;               ///< of fresh memory, from the first byte
  std::uint64_t used_ = 0;
  bool full_ = false;  ///< a request exceeded the free capacity
  Blocks blocks_;      ///< taken ones, and freed ones whose memory has not been taken again
  std::multimap<std::uint64_t, std::uint64_t> free_;  ///< addresses of those, by their room
};

}  // namespace sim
TMAJIT_END
