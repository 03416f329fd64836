#include "sim/memory/heap.hpp"

#include "sim/memory/region.hpp"
#include "sim/program/grid.hpp"

#include <algorithm>
#include <cstring>
#include <set>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

TMAJIT_BEGIN
namespace sim {
namespace {

/// Limit of the heap's size: more than the memory of any GPU.
constexpr std::uint64_t max_heap_bytes = 1ULL << 38;
/// Gap after each block, so that an access past its end hits no other block.
constexpr std::uint64_t gap = 48;

std::uint64_t room_of(std::uint64_t bytes) {
  return (bytes + gap + heap_alignment - 1) / heap_alignment * heap_alignment;
}

}  // namespace

std::string HeapCall::text() const {
  return fmt::format("by thread ({}) of CTA ({}) at PTX line {}", fmt::join(thread, ", "),
                     fmt::join(cta, ", "), ptx_line);
}

DeviceHeap::DeviceHeap(std::uint64_t bytes)
    : capacity_(std::min(bytes, max_heap_bytes)), span_(std::max<std::uint64_t>(256 << 20, 4 * capacity_)) {}

Region DeviceHeap::region() const {
  const std::shared_lock lock(mutex_);
  return {heap_begin, span_, memory_};
}

bool DeviceHeap::begin_launch() {
  const std::unique_lock lock(mutex_);
  full_ = false;
  if (used_ != 0) return false;
  if (next_ > span_ / 2) {
    blocks_.clear();
    free_.clear();
    next_ = 0;
  }
  return true;
}

DeviceHeap::Allocation DeviceHeap::allocate(std::uint64_t bytes, const HeapCall& call) {
  const std::unique_lock lock(mutex_);
  if (bytes == 0) return {};
  if (bytes > capacity_ - used_) {
    full_ = true;
    return {};
  }
  // Not cleared, so that the operating system provides pages only when they are touched.
  if (!memory_) memory_ = std::shared_ptr<std::byte[]>(new std::byte[span_]);
  std::uint64_t room = room_of(bytes);
  Allocation allocation;
  if (room <= span_ - next_) {
    allocation.address = heap_begin + next_;
    next_ += room;
  } else {
    const auto found = free_.lower_bound(room);
    if (found == free_.end()) {
      full_ = true;
      return {};
    }
    allocation = {found->second, blocks_.at(found->second).freed->launch == call.launch};
    room = found->first;
    free_.erase(found);
  }
  used_ += bytes;
  blocks_[allocation.address] = {bytes, room, call, {}};
  return allocation;
}

DeviceHeap::FreeError DeviceHeap::free(std::uint64_t address, const HeapCall& call) {
  const std::unique_lock lock(mutex_);
  const auto found = blocks_.find(address);
  if (found == blocks_.end()) return FreeError::no_block;
  if (found->second.freed) return FreeError::already_freed;
  found->second.freed = call;
  used_ -= found->second.bytes;
  free_.emplace(found->second.room, address);
  return FreeError::none;
}

std::optional<DeviceHeap::Block> DeviceHeap::block(std::uint64_t address) const {
  const std::shared_lock lock(mutex_);
  const auto found = blocks_.find(address);
  return found == blocks_.end() ? std::nullopt : std::optional(found->second);
}

/// The last block that begins at or before the address; blocks_.end() if there is none.
DeviceHeap::Blocks::const_iterator DeviceHeap::find(std::uint64_t address) const {
  const auto after = blocks_.upper_bound(address);
  return after == blocks_.begin() ? blocks_.end() : std::prev(after);
}

std::byte* DeviceHeap::at(std::uint64_t address, std::uint64_t bytes) const noexcept {
  const std::shared_lock lock(mutex_);
  const auto found = find(address);
  if (found == blocks_.end() || found->second.freed) return nullptr;
  const std::uint64_t offset = address - found->first;
  if (offset > found->second.bytes || bytes > found->second.bytes - offset) return nullptr;
  return memory_.get() + (address - heap_begin);
}

bool DeviceHeap::is_freed(std::uint64_t address) const {
  const std::shared_lock lock(mutex_);
  const auto found = find(address);
  return found != blocks_.end() && found->second.freed && address - found->first < found->second.bytes;
}

std::string DeviceHeap::describe(std::uint64_t address, std::uint64_t bytes) const {
  const std::shared_lock lock(mutex_);
  if (!holds(address))
    return full_ ? fmt::format("malloc gave null: the heap has {} bytes", capacity_) : std::string();
  const auto found = find(address);
  if (found == blocks_.end()) return "malloc has returned no block there";
  const auto& [begin, block] = *found;
  std::string text =
      fmt::format("the block of {} bytes at {:#x}, allocated {}", block.bytes, begin, block.allocated.text());
  const std::uint64_t offset = address - begin;
  if (block.freed && offset < block.bytes) return text + ", has been freed " + block.freed->text();
  if (offset + bytes <= block.bytes) return text + fmt::format(", begins {} bytes earlier", offset);
  if (offset >= block.bytes) return text + fmt::format(", ends {} bytes earlier", offset - block.bytes);
  return text + fmt::format(", ends {} bytes before the access does", offset + bytes - block.bytes);
}

std::vector<std::pair<std::uint64_t, DeviceHeap::Block>> DeviceHeap::lost(
    std::uint64_t launch, const std::vector<Region>& memory) const {
  const std::shared_lock lock(mutex_);
  std::set<std::uint64_t> unseen;
  for (const auto& [address, block] : blocks_)
    if (!block.freed) unseen.insert(address);
  std::vector<std::uint64_t> to_search;
  // Every aligned word whose value is an address in a block counts as a pointer to that block.
  const auto search = [&](const std::byte* from, std::uint64_t begin, std::uint64_t bytes) {
    for (std::uint64_t at = (8 - begin % 8) % 8; at + 8 <= bytes; at += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, from + at, sizeof word);
      if (!holds(word)) continue;
      const auto block = find(word);
      if (block != blocks_.end() && word - block->first <= block->second.bytes &&
          unseen.erase(block->first) != 0)
        to_search.push_back(block->first);
    }
  };
  const bool allocated_by_launch = std::ranges::any_of(
      unseen, [&](std::uint64_t at) { return blocks_.at(at).allocated.launch == launch; });
  if (!allocated_by_launch) return {};
  for (const Region& region : memory) search(region.memory.get(), region.begin, region.bytes);
  while (!to_search.empty()) {
    const std::uint64_t begin = to_search.back();
    to_search.pop_back();
    search(memory_.get() + (begin - heap_begin), begin, blocks_.at(begin).bytes);
  }
  std::vector<std::pair<std::uint64_t, Block>> found;
  for (const std::uint64_t address : unseen)
    if (const Block& block = blocks_.at(address); block.allocated.launch == launch)
      found.emplace_back(address, block);
  return found;
}

}  // namespace sim
TMAJIT_END
