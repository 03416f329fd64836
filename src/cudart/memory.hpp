#pragma once

#include "cudart/device.hpp"
#include "cudart/pools.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

TMAJIT_BEGIN
namespace cudart {

/// The kind of an allocation. `mapped` is device memory that the program mapped into a range of addresses
/// that it reserved.
enum class MemoryKind : std::uint8_t { device, mapped, pinned, managed, registered };

/// Whether the host cannot access memory of this kind.
[[nodiscard]] constexpr bool is_device(MemoryKind kind) noexcept {
  return kind == MemoryKind::device || kind == MemoryKind::mapped;
}

/// Memory that the program allocated, mapped or registered.
struct Allocation {
  std::uint64_t begin = 0;
  std::uint64_t bytes = 0;
  MemoryKind kind = MemoryKind::device;
  unsigned flags = 0;            ///< flags of cudaHostAlloc() or cudaHostRegister()
  std::byte* pages = nullptr;    ///< host memory that was mapped for the allocation; null if none was
  std::shared_ptr<Pool> pool{};  ///< the pool that counts it; null if none does
};

[[nodiscard]] inline std::uint64_t address_of(const void* pointer) noexcept {
  return reinterpret_cast<std::uintptr_t>(pointer);
}
[[nodiscard]] inline void* pointer_at(std::uint64_t address) noexcept {
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(address));  // NOLINT(performance-no-int-to-ptr)
}

/// Allocates memory of any kind except `registered`. Throws Failure or Error.
[[nodiscard]] void* allocate(std::uint64_t bytes, MemoryKind kind, unsigned flags = 0);
/// Allocates device memory from a pool.
[[nodiscard]] void* allocate(std::uint64_t bytes, std::shared_ptr<Pool> pool);
/// Reserves a range of device addresses, without memory. It begins at a multiple of `alignment`, a power of
/// two. No later call reserves these addresses.
[[nodiscard]] std::uint64_t reserve_addresses(std::uint64_t bytes, std::uint64_t alignment);
/// Allocates device memory of a pool at a reserved address. Throws Failure if memory is already there.
void allocate_at(std::uint64_t address, std::uint64_t bytes, std::shared_ptr<Pool> pool);
/// Frees the device or managed memory that begins at the pointer. Ignores null. Throws Failure for any other
/// memory.
void release(const void* pointer);
/// Frees the pinned memory that begins at the pointer. Ignores null. Throws Failure for any other memory.
void release_pinned(const void* pointer);
void register_host(void* pointer, std::uint64_t bytes, unsigned flags);
void unregister_host(const void* pointer);
/// The allocation that holds the address, if there is one.
[[nodiscard]] std::optional<Allocation> allocation_at(const void* pointer);
/// The allocation that holds the address, if the host can access it. Throws Failure if there is none.
[[nodiscard]] Allocation host_allocation_at(const void* pointer);
/// Whether the address is in device memory that the host cannot access. The range of device addresses decides
/// if no allocation holds the address: it may be that of a module's variable.
[[nodiscard]] bool is_device_address(const void* pointer);
/// Add and remove the record that device memory is mapped at an address.
void add_mapped(std::uint64_t address, std::uint64_t bytes);
void remove_mapped(std::uint64_t address);
/// Throws the Failure of an allocation for which the device has no room.
[[noreturn]] void throw_out_of_memory(std::uint64_t bytes);
/// Counts device memory as in use, before it is allocated. Throws Failure if the device has no room.
void count_allocated(std::uint64_t bytes);
/// Counts device memory as free again.
void count_released(std::uint64_t bytes) noexcept;
/// Bytes of device memory in use.
[[nodiscard]] std::uint64_t used_bytes();

/// The layout of a rectangle of bytes, or of a box of rectangles.
struct Rows {
  std::uint64_t pitch = 0;  ///< bytes from row to row
  std::uint64_t slice = 0;  ///< bytes from rectangle to rectangle
};
struct Extent {
  std::uint64_t width = 0;  ///< bytes
  std::uint64_t height = 1;
  std::uint64_t depth = 1;
};

/// Copies in the direction that follows from the addresses, as the driver does with unified addressing.
void copy(void* destination, const void* source, std::uint64_t bytes, cudaStream_t stream);
void copy(void* destination, const Rows& destination_rows, const void* source, const Rows& source_rows,
          const Extent& extent, cudaStream_t stream);
void fill(void* destination, int value, std::uint64_t bytes, cudaStream_t stream);
/// Fills elements of 1, 2 or 4 bytes.
void fill(void* destination, const Rows& rows, std::uint32_t value, std::uint32_t element_bytes,
          const Extent& extent, cudaStream_t stream);

}  // namespace cudart
TMAJIT_END
