#include "sim/global_shadow.hpp"

#include <algorithm>

TMAJIT_BEGIN
namespace sim {

GlobalShadow::GlobalShadow(const std::vector<Region>& regions) {
  parts_.reserve(regions.size());
  for (const Region& region : regions) {
    Part part{region.begin, region.bytes, nullptr};
    part.blocks = std::make_unique<std::atomic<Block*>[]>(blocks_of(part));
    parts_.push_back(std::move(part));
  }
}

GlobalShadow::~GlobalShadow() {
  for (const Part& part : parts_) {
    for (std::size_t i = 0; i < blocks_of(part); ++i) delete part.blocks[i].load();
  }
}

void GlobalShadow::search(std::uint64_t address, std::size_t& hint) const noexcept {
  const auto after = std::ranges::upper_bound(parts_, address, {}, &Part::begin);
  hint = static_cast<std::size_t>(after - parts_.begin()) - 1;
}

void GlobalShadow::prefetch(std::uint64_t address, std::size_t& hint) const noexcept {
  const Part& at = part(address, hint);
  const std::uint64_t offset = address - at.begin;
  const Block* const block = at.blocks[offset / Block::bytes].load(std::memory_order_acquire);
  if (block != nullptr) block->prefetch(static_cast<std::uint32_t>(offset % Block::bytes / line_bytes));
}

GlobalShadow::Found GlobalShadow::find(std::uint64_t address, std::size_t& hint) {
  const Part& at = part(address, hint);
  const std::uint64_t offset = address - at.begin;
  const auto line = static_cast<std::uint32_t>(offset % Block::bytes / line_bytes);
  std::atomic<Block*>& slot = at.blocks[offset / Block::bytes];
  Block* block = slot.load(std::memory_order_acquire);
  if (block != nullptr) [[likely]]
    return {block, line};
  auto fresh = std::make_unique<Block>();
  if (slot.compare_exchange_strong(block, fresh.get(), std::memory_order_acq_rel)) block = fresh.release();
  return {block, line};
}

}  // namespace sim
TMAJIT_END
