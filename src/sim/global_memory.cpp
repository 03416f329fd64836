#include "sim/global_memory.hpp"

#include "sim/program.hpp"

#include <tmajit/error.hpp>

#include <algorithm>
#include <new>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace sim {
namespace {

/// What cuMemAlloc guarantees is 256; a guard zone follows each allocation.
constexpr std::uint64_t alignment = 512;
constexpr std::uint64_t guard_bytes = 64 * 1024;

}  // namespace

std::uint64_t GlobalMemory::allocate(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  const auto full = [&] {
    return Error(ErrorCode::out_of_memory,
                 fmt::format("the simulated device has no room for {} bytes: {} of {} are free", bytes,
                             capacity_ - used_, capacity_));
  };
  if (bytes > capacity_ - used_) throw full();
  const std::uint64_t size = std::max<std::uint64_t>(bytes, 1);
  Region region{next_, size, {}};
  try {
    // Not cleared: the host hands out pages when they are touched.
    region.memory = std::shared_ptr<std::byte[]>(new std::byte[size]);
  } catch (const std::bad_alloc&) {
    throw full();
  }
  next_ += (size + guard_bytes + alignment - 1) / alignment * alignment;
  used_ += bytes;
  return regions_.emplace(region.begin, std::move(region)).first->first;
}

void GlobalMemory::free(std::uint64_t address) noexcept {
  const std::lock_guard lock(mutex_);
  const auto found = regions_.find(address);
  if (found == regions_.end()) return;
  used_ -= std::min(used_, found->second.bytes);
  regions_.erase(found);
}

std::shared_ptr<std::byte> GlobalMemory::at(std::uint64_t address, std::uint64_t bytes) const {
  const std::lock_guard lock(mutex_);
  auto found = regions_.upper_bound(address);
  if (found != regions_.begin()) {
    const Region& region = std::prev(found)->second;
    const std::uint64_t offset = address - region.begin;
    if (offset <= region.bytes && bytes <= region.bytes - offset) {
      return {region.memory, region.memory.get() + offset};
    }
  }
  throw Error(
      ErrorCode::invalid_argument,
      fmt::format("{} bytes at {:#x} do not lie in one allocation of the simulated device", bytes, address));
}

std::vector<Region> GlobalMemory::regions() const {
  const std::lock_guard lock(mutex_);
  std::vector<Region> all;
  all.reserve(regions_.size());
  for (const auto& [begin, region] : regions_) all.push_back(region);
  return all;
}

}  // namespace sim
TMAJIT_END
