#pragma once

/// The device's heap: memory that kernels allocate with malloc and release with free (CUDA guide, "Dynamic
/// Global Memory Allocation and Operations").
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
/// First address of the heap: above all allocations of the host, below the windows of other spaces.
inline constexpr std::uint64_t heap_begin = 0x6000'0000'0000;

/// A call of malloc or free, and its caller.
struct HeapCall {
  std::uint64_t launch = 0;
  std::uint32_t location =
      0;  ///< index into Program::locations; valid only if the call was in the running launch
  std::uint32_t ptx_line = 0;
  std::array<std::uint32_t, 3> cta{};
  std::array<std::uint32_t, 3> thread{};

  /// "by thread (3, 0, 0) of CTA (0, 0, 0) at PTX line 12"
  [[nodiscard]] std::string text() const;
};

/// The blocks of the heap, which outlive launches. Addresses are reused only after all addresses have been
/// used, so that an access after a free, or far past the end of a block, hits no other block. Thread-safe.
class DeviceHeap {
 public:
  /// At most `bytes` bytes can be allocated at a time.
  explicit DeviceHeap(std::uint64_t bytes);

  /// The host memory of the heap's whole address range. Only touched pages occupy memory.
  [[nodiscard]] Region region() const;
  [[nodiscard]] bool holds(std::uint64_t address) const noexcept { return address - heap_begin < span_; }
  /// Returns whether no block is allocated. If so, and if over half of the address range has been used, the
  /// heap forgets its freed blocks and starts from its first address again.
  [[nodiscard]] bool begin_launch();

  struct Block {
    std::uint64_t bytes = 0;          ///< that the kernel asked for
    std::uint64_t room = 0;           ///< bytes up to the next block: `bytes` and the gap after them
    HeapCall allocated;               ///< the malloc
    std::optional<HeapCall> freed{};  ///< the free, if there was one
  };
  struct Allocation {
    std::uint64_t address = 0;  ///< 0: the heap is full, or the request was for 0 bytes
    bool reused = false;        ///< a block at this address was freed in the same launch
  };
  [[nodiscard]] Allocation allocate(std::uint64_t bytes, const HeapCall& call);
  enum class FreeError : std::uint8_t { none, already_freed, no_block };
  /// Frees the block that begins at `address`.
  FreeError free(std::uint64_t address, const HeapCall& call);
  /// The block that begins at an address, allocated or freed; nothing if there is none.
  [[nodiscard]] std::optional<Block> block(std::uint64_t address) const;

  /// The host memory of a range; null if no allocated block contains all of it.
  [[nodiscard]] std::byte* at(std::uint64_t address, std::uint64_t bytes) const noexcept;
  /// Whether the address is in a freed block.
  [[nodiscard]] bool is_freed(std::uint64_t address) const;
  /// Describes an address for which at() returns null. For an address outside the heap, the text only says
  /// that malloc has returned null, or is empty.
  [[nodiscard]] std::string describe(std::uint64_t address, std::uint64_t bytes) const;

  /// The blocks that launch `launch` has allocated and that no chain of pointers from `memory` reaches, by
  /// address.
  [[nodiscard]] std::vector<std::pair<std::uint64_t, Block>> lost(std::uint64_t launch,
                                                                  const std::vector<Region>& memory) const;

 private:
  using Blocks = std::map<std::uint64_t, Block>;
  [[nodiscard]] Blocks::const_iterator find(std::uint64_t address) const;

  const std::uint64_t capacity_;
  const std::uint64_t span_;  ///< bytes of the address range, for allocated and freed blocks
  mutable std::shared_mutex mutex_;
  std::shared_ptr<std::byte[]> memory_;  ///< null until the first allocation
  std::uint64_t next_ = 0;               ///< offset of the first address that has not been used
  std::uint64_t used_ = 0;               ///< bytes of the allocated blocks
  bool full_ = false;                    ///< an allocation has failed in this launch
  Blocks blocks_;  ///< allocated blocks, and freed blocks whose address range has not been reused
  std::multimap<std::uint64_t, std::uint64_t> free_;  ///< addresses of the freed blocks, by their room
};

}  // namespace sim
TMAJIT_END
