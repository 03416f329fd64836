#pragma once

/// The allocations of a simulated device, and the addresses that it gives them.
#include "sim/memory/heap.hpp"
#include "sim/memory/region.hpp"

#include <tmajit/error.hpp>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <set>
#include <utility>
#include <vector>

#include <spdlog/fmt/fmt.h>
#include <unistd.h>

TMAJIT_BEGIN
namespace sim {

/// Alignment of allocations in bytes; cuMemAlloc guarantees 256.
inline constexpr std::uint64_t allocation_alignment = 512;
/// Unused bytes after each allocation.
inline constexpr std::uint64_t guard_bytes = 64 * 1024;

/// A device's own range of addresses and stream handles. Devices that exist at the same time have different
/// ranges, so one device detects an address of another. A device takes the lowest free range, so that runs
/// are reproducible.
class DeviceRange {
 public:
  DeviceRange() {
    Registry& registry = all();
    const std::lock_guard lock(registry.mutex);
    while (number_ < registry.numbers.size() && registry.numbers[number_]) ++number_;
    if (number_ == registry.numbers.size()) registry.numbers.push_back(true);
    registry.numbers[number_] = true;
  }
  ~DeviceRange() {
    Registry& registry = all();
    const std::lock_guard lock(registry.mutex);
    registry.numbers[number_] = false;
  }
  DeviceRange(const DeviceRange&) = delete;
  DeviceRange& operator=(const DeviceRange&) = delete;

  [[nodiscard]] std::uint64_t first_address() const noexcept {
    return global_begin + number_ % ranges * range_bytes;
  }
  /// The handle of the device's stream number `n`, counted from 1.
  [[nodiscard]] Stream stream(std::uint64_t n) const noexcept {
    return reinterpret_cast<Stream>((number_ << 32U) + n * 16);
  }

 private:
  // All ranges end below the kernels' heap. If more than 90 devices exist at a time, devices share ranges.
  static constexpr std::uint64_t range_bytes = std::uint64_t{1} << 40U;
  static constexpr std::uint64_t ranges = 90;
  static_assert(global_begin + ranges * range_bytes <= heap_begin);

  struct Registry {
    std::mutex mutex;
    std::vector<bool> numbers;
  };
  /// The process has one address space, so this state is global. It is never destroyed, because devices may
  /// outlive static objects.
  static Registry& all() {
    static auto* const registry = new Registry;
    return *registry;
  }
  std::size_t number_ = 0;
};

/// The lowest address of host memory that is mapped. Smaller addresses are null pointers with an offset, or
/// shared addresses that a kernel did not convert.
inline constexpr std::uint64_t lowest_mapped = 1 << 20;

/// The allocations of a device. Addresses are never reused, and allocations are far apart, so that an access
/// out of bounds or after a free hits no other allocation. Thread-safe.
class GlobalMemory {
 public:
  GlobalMemory(std::uint64_t capacity, std::uint64_t first) : capacity_(capacity), next_(first) {}

  /// Allocates memory that begins `past` bytes after a multiple of `allocation_alignment`. Throws
  /// Error{out_of_memory}.
  [[nodiscard]] std::uint64_t allocate(std::uint64_t bytes, std::uint64_t past = 0) {
    const std::lock_guard lock(mutex_);
    const auto full = [&] {
      return Error(ErrorCode::out_of_memory,
                   fmt::format("the simulated device has no room for {} bytes: {} of {} are free", bytes,
                               capacity_ - used_, capacity_));
    };
    if (bytes > capacity_ - used_) throw full();
    const std::uint64_t size = std::max<std::uint64_t>(bytes, 1);
    Region region{next_ + past, size, {}};
    try {
      // Not cleared, so that the operating system provides pages only when they are touched. `past` gives the
      // host memory the alignment of the device address.
      const std::shared_ptr<std::byte[]> memory(new std::byte[past + size]);
      region.memory = {memory, memory.get() + past};
    } catch (const std::bad_alloc&) {
      throw full();
    }
    next_ +=
        (past + size + guard_bytes + allocation_alignment - 1) / allocation_alignment * allocation_alignment;
    used_ += bytes;
    return regions_.emplace(region.begin, std::move(region)).first->first;
  }
  /// Makes host memory an allocation that begins at the device address `begin`. Throws
  /// Error{invalid_argument} if the range overlaps another allocation or a window of generic addresses.
  void map(std::byte* host, std::uint64_t bytes, std::uint64_t begin) {
    const std::lock_guard lock(mutex_);
    const auto next = regions_.lower_bound(begin);
    const bool intersects =
        (next != regions_.end() && next->first - begin < bytes) ||
        (next != regions_.begin() && begin - std::prev(next)->first < std::prev(next)->second.bytes);
    if (bytes == 0 || intersects || begin < lowest_mapped ||
        std::ranges::any_of(windows, [&](const auto& each) {
          return each.second - begin < bytes || begin - each.second < window_bytes;
        })) {
      throw Error(
          ErrorCode::invalid_argument,
          fmt::format(
              "{} bytes of the host at {:#x} cannot be mapped: they overlap other memory of the device",
              bytes, begin));
    }
    regions_.emplace(begin, Region{begin, bytes, {std::shared_ptr<std::byte[]>(), host}});
    mapped_.insert(begin);
  }
  /// Frees the allocation that begins at `address`. Returns false if there is none. Does nothing in a forked
  /// child: another thread of the parent may have held the lock at the fork.
  bool free(std::uint64_t address) noexcept {
    if (::getpid() != owner_) return true;
    const std::lock_guard lock(mutex_);
    const auto found = regions_.find(address);
    if (found == regions_.end()) return false;
    if (mapped_.erase(address) == 0) used_ -= std::min(used_, found->second.bytes);
    regions_.erase(found);
    return true;
  }
  /// The host memory of `bytes` bytes at `address`. Throws Error{invalid_argument} unless one allocation
  /// contains them all. The pointer keeps the allocation alive.
  [[nodiscard]] std::shared_ptr<std::byte> at(std::uint64_t address, std::uint64_t bytes) const {
    const std::lock_guard lock(mutex_);
    auto found = regions_.upper_bound(address);
    if (found != regions_.begin()) {
      const Region& region = std::prev(found)->second;
      const std::uint64_t offset = address - region.begin;
      if (offset <= region.bytes && bytes <= region.bytes - offset) {
        return {region.memory, region.memory.get() + offset};
      }
    }
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} bytes at {:#x} do not lie in one allocation of the simulated device", bytes,
                            address));
  }
  /// All allocations, in address order.
  [[nodiscard]] std::vector<Region> regions() const {
    const std::lock_guard lock(mutex_);
    std::vector<Region> all;
    all.reserve(regions_.size());
    for (const auto& [begin, region] : regions_) all.push_back(region);
    return all;
  }

 private:
  mutable std::mutex mutex_;
  const ::pid_t owner_ = ::getpid();
  std::uint64_t capacity_;
  std::uint64_t used_ = 0;
  std::uint64_t next_;
  std::map<std::uint64_t, Region> regions_;
  std::set<std::uint64_t> mapped_;  ///< addresses of the regions that map() has made
};

/// An allocation of device memory, which the destructor frees.
class OwnMemory {
 public:
  /// Allocates `bytes` bytes, and clears the first `zeros` of them.
  OwnMemory(GlobalMemory& memory, std::uint64_t bytes, std::uint64_t zeros)
      : memory_(memory), bytes_(bytes), zeros_(std::min(bytes, zeros)), address_(memory.allocate(bytes)) {
    std::memset(memory_.at(address_, zeros_).get(), 0, zeros_);
  }
  ~OwnMemory() { memory_.free(address_); }
  OwnMemory(const OwnMemory&) = delete;
  OwnMemory& operator=(const OwnMemory&) = delete;

  [[nodiscard]] std::uint64_t address() const noexcept { return address_; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  /// Whether the bytes that the constructor cleared are zero now.
  [[nodiscard]] bool leaves_zeros() const {
    const std::shared_ptr<std::byte> first = memory_.at(address_, zeros_);
    return std::all_of(first.get(), first.get() + zeros_,
                       [](std::byte byte) { return byte == std::byte{0}; });
  }

 private:
  GlobalMemory& memory_;
  std::uint64_t bytes_;
  std::uint64_t zeros_;
  std::uint64_t address_;
};

}  // namespace sim
TMAJIT_END
