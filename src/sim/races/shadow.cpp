#include "sim/races/shadow.hpp"

#include "sim/races/releases.hpp"
#include "sim/warp/warp.hpp"

#include <algorithm>

TMAJIT_BEGIN
namespace sim {
namespace {

bool has_no_table(const Access& access) {
  return access.spread != a_set && access.spread != a_map;
}

/// Divides the line into units of `grain` bytes, a power of two. For each unit with bytes in `bytes`, calls
/// visit with the first such byte, until visit returns false.
template <typename Visit>
void for_grains(ByteMask bytes, std::uint32_t grain, const Visit& visit) {
  while (bytes != 0) {
    const std::uint32_t byte = first_of(bytes);
    if (!visit(byte)) return;
    const std::uint32_t next = (byte | (grain - 1)) + 1;
    if (next == line_bytes) return;
    bytes &= whole_line << next;
  }
}

/// Whether each of `bytes` belongs to the same lanes in both pieces.
bool same_lanes(const Piece& a, const Piece& b, ByteMask bytes) {
  if (a.access.spread == b.access.spread && a.access.spread != a_map)
    return a.access.first == b.access.first && (a.access.spread != a_set || a.table.set == b.table.set);
  bool same = true;
  for_grains(bytes, std::min(a.grain(), b.grain()), [&](std::uint32_t byte) {
    same = a.lanes_at(byte) == b.lanes_at(byte);
    return same;
  });
  return same;
}

/// Checks the lanes of two accesses at one byte; returns the first pair that no edge orders.
std::optional<Conflict> unordered_lanes(const Piece& earlier, const Piece& later, const Touch& touch,
                                        std::uint32_t byte) {
  std::optional<Conflict> conflict;
  const Mask before = earlier.lanes_at(byte);
  for_lanes(later.lanes_at(byte), [&](std::uint32_t lane) {
    for_lanes(before, [&](std::uint32_t other) {
      if (conflict || touch.knows(lane, earlier.access, other)) return;
      conflict = Conflict{earlier.access, other, earlier.access.writes(), lane, byte};
    });
  });
  return conflict;
}

/// A quick check that usually suffices: returns true if no byte can have a conflict.
bool has_no_conflict(const Piece& earlier, const Piece& later, const Touch& touch) {
  if (morally_strong(earlier.access, touch.access)) return true;
  return earlier.access.cluster == touch.access.cluster && earlier.access.agent == touch.access.agent &&
         touch.knowledge != nullptr && later.one_lane_each() &&
         same_lanes(earlier, later, earlier.bytes & later.bytes);
}

std::optional<Conflict> first_conflict(const Piece& earlier, const Piece& later, const Touch& touch) {
  std::optional<Conflict> conflict;
  for_grains(earlier.bytes & later.bytes, std::min(earlier.grain(), later.grain()), [&](std::uint32_t byte) {
    conflict = unordered_lanes(earlier, later, touch, byte);
    return !conflict;
  });
  return conflict;
}

/// The first conflict of `piece` with the pieces that `for_each` visits; conflicts with threads come before
/// those with copies.
template <typename ForEach>
[[gnu::noinline]] std::optional<Conflict> search(const ForEach& for_each, const Piece& piece,
                                                 const Touch& touch) {
  std::optional<Conflict> with_copy;
  std::optional<Conflict> conflict;
  for_each([&](const Piece& earlier) {
    if (has_no_conflict(earlier, piece, touch)) return true;
    conflict = first_conflict(earlier, piece, touch);
    // A report about a thread that has not released the bytes is more useful than one about a copy whose
    // bytes it has used.
    if (conflict && !earlier.access.is_copy()) return false;
    if (conflict && !with_copy) with_copy = conflict;
    conflict.reset();
    return true;
  });
  return conflict ? conflict : with_copy;
}

/// Reads by different instructions have separate pieces as long as a line has at most this many.
constexpr std::size_t many_pieces = 16;

/// An Access as two words, which are faster to compare than its members.
using Words = std::array<std::uint64_t, 2>;

/// Mask of the bits in which two reads must agree to be merged: all bits, or with `ignore_location` all
/// except the index of the instruction.
Words merge_mask(bool ignore_location) {
  Access all;
  all.time = all.cluster = ~0U;
  all.location = ignore_location ? ~Access::location_mask : ~0U;
  all.agent = 0xffff;
  all.first = -1;
  all.spread = 0xff;
  return std::bit_cast<Words>(all);
}

bool equal_under(const Words& a, const Words& b, const Words& mask) {
  return (((a[0] ^ b[0]) & mask[0]) | ((a[1] ^ b[1]) & mask[1])) == 0;
}

/// Merges `piece`, a read, into an earlier read. Returns false if their tables of lanes differ.
bool merge(Piece& earlier, const Piece& piece) {
  if (earlier.access.spread == a_set && earlier.table.set != piece.table.set) return false;
  if (earlier.access.spread == a_map) {
    if (!same_lanes(earlier, piece, earlier.bytes & piece.bytes)) return false;
    for_grains(piece.bytes & ~earlier.bytes, piece.grain(), [&](std::uint32_t byte) {
      earlier.table.map[piece.unit_of(byte)] = piece.table.map[piece.unit_of(byte)];
      return true;
    });
  }
  earlier.bytes |= piece.bytes;
  return true;
}

/// Merges a read into an earlier one if possible, and returns whether it has. Removes the bytes of this read
/// from earlier reads that are ordered before it: an access ordered after this read is also ordered after
/// those.
bool add_read(PieceList& pieces, const Piece& piece, const Touch& touch) {
  const Words mask = merge_mask(pieces.size() > many_pieces);
  const auto now = std::bit_cast<Words>(piece.access);
  bool merged = false;
  bool emptied = false;
  const auto outdated = [&](const Access& earlier) {
    return earlier.agent == touch.access.agent || touch.ordered_after(earlier);
  };
  using Look = PieceList::Look;
  const auto look = [&](Part& earlier) {
    if (earlier.access.writes()) return Look::nothing;
    if (equal_under(std::bit_cast<Words>(earlier.access), now, mask)) {
      if (earlier.has_table()) return Look::something;
      earlier.bytes |= piece.bytes;
      merged = true;
      return Look::all;
    }
    const bool both = (earlier.bytes & piece.bytes) != 0;
    return both && outdated(earlier.access) ? Look::something : Look::nothing;
  };
  pieces.for_each_of(touch.access.cluster, look, [&](Piece& earlier) {
    merged = equal_under(std::bit_cast<Words>(earlier.access), now, mask) && merge(earlier, piece);
    if (merged) return false;
    const ByteMask both = earlier.bytes & piece.bytes;
    if (!touch.ordered_after(earlier.access) &&
        (earlier.access.agent != touch.access.agent || touch.knowledge == nullptr ||
         !same_lanes(earlier, piece, both)))
      return true;
    earlier.bytes &= ~piece.bytes;
    emptied = emptied || earlier.bytes == 0;
    return true;
  });
  if (emptied) pieces.erase(0);
  return merged;
}

}  // namespace

bool Touch::knows(std::uint32_t lane, const Access& earlier, std::uint32_t of) const {
  const Clock& clock_of_lane = knowledge != nullptr ? knowledge->of(lane) : *clock;
  if (earlier.cluster != access.cluster)
    return imports->knows(clock_of_lane, earlier.cluster, earlier.agent, of, earlier.time);
  if (knowledge != nullptr && earlier.agent == access.agent && of == lane) return true;
  return clock_of_lane.knows(earlier.agent, of, earlier.time);
}

const Block::Records Block::Whole::none{};

void Block::Whole::take(Records*& spare) {
  if (spare == nullptr) allocated_ = std::make_unique<Records>();
  own_ = spare != nullptr ? spare : allocated_.get();
  records_ = own_;
  spare = nullptr;
}

void Block::begin_pieces(std::uint32_t line) {
  if (lists_.load(std::memory_order_relaxed) == nullptr) lists_ = new (slabs_.take(sizeof(Lists))) Lists;
  PieceList& pieces = (*lists_.load(std::memory_order_relaxed))[line];
  split_ |= 1U << line;
  pieces.clear();
  for (Whole* const records : {&writes_, &reads_}) {
    if (records->at(line).time == 0) continue;
    Piece piece;
    piece.bytes = whole_line;
    piece.access = records->at(line);
    pieces.push(piece, slabs_);
    records->forget(line);
  }
}

std::optional<Conflict> Block::last(std::uint32_t line, ByteMask accessed, bool writes) {
  std::optional<Conflict> found;
  const auto take = [&](const Piece& piece) {
    const std::uint32_t byte = first_of(piece.bytes & accessed);
    found = Conflict{piece.access, first_lane(piece.lanes_at(byte)), piece.access.writes(), 0, byte};
    return writes;  // the last write counts, so continue; else the first access found is enough
  };
  if ((split_ >> line & 1) != 0) {
    const auto counts = [&](const Part& part) {
      return (part.bytes & accessed) != 0 && (part.access.writes() || !writes);
    };
    (*lists_.load(std::memory_order_relaxed))[line].for_each(counts, take);
    return found;
  }
  for (const Whole* const records : {&writes_, &reads_}) {
    if (records->at(line).time == 0 || (records == &reads_ && writes)) continue;
    Piece piece;
    piece.bytes = whole_line;
    piece.access = records->at(line);
    take(piece);
    break;
  }
  return found;
}

std::optional<Conflict> Block::check(std::uint32_t line, const Piece& piece, const Touch& touch) {
  PieceList& pieces = split(line);
  const auto for_each = [&](const auto& visit) {
    const auto counts = [&](const Part& earlier) {
      return (earlier.bytes & piece.bytes) != 0 && !touch.ordered_after(earlier.access) &&
             !touch.repeats_write(earlier.access);
    };
    if (touch.write) {
      pieces.for_each(counts, visit);
    } else {
      pieces.for_each_write(counts, visit);
    }
  };
  bool clear = true;
  for_each([&](const Piece& earlier) {
    clear = has_no_conflict(earlier, piece, touch);
    return clear;
  });
  if (clear) [[likely]]
    return std::nullopt;
  return search(for_each, piece, touch);
}

void Block::add(std::uint32_t line, const Piece& piece, const Touch& touch) {
  PieceList& pieces = split(line);
  if (touch.write) {
    // A strong write does not replace a weak one: a later strong access races only with the weak one.
    const bool weak_writes_stay = !piece.access.is_weak_write();
    if (piece.bytes == whole_line && has_no_table(piece.access) &&
        !(weak_writes_stay && pieces.has_weak_write())) {
      pieces.clear();
      split_ &= ~(1U << line);
      writes_.set(line, piece.access, spare_);
      return;
    }
    pieces.erase(piece.bytes, weak_writes_stay);
  } else if (add_read(pieces, piece, touch)) {
    return;
  }
  pieces.push(piece, slabs_);
}

void Block::clear() {
  if (split_ != 0) {
    for (std::uint32_t line = 0; line < lines; ++line) {
      if ((split_ >> line & 1) != 0) (*lists_.load(std::memory_order_relaxed))[line].clear();
    }
    split_ = 0;
  }
  writes_.clear();
  reads_.clear();
}

GlobalShadow::GlobalShadow(const std::vector<Region>& regions, Slabs& slabs) : slabs_(slabs) {
  parts_.reserve(regions.size());
  for (const Region& region : regions) {
    const std::uint64_t past = region.begin % line_bytes;
    Part part{region.begin - past, past + region.bytes, nullptr};
    part.blocks = std::make_unique<std::atomic<Block*>[]>(blocks_of(part));
    parts_.push_back(std::move(part));
  }
}

GlobalShadow::~GlobalShadow() {
  for (const Part& part : parts_) {
    for (std::size_t i = 0; i < blocks_of(part); ++i) {
      if (Block* const block = part.blocks[i].load()) std::destroy_at(block);
    }
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
  auto* const fresh = new (slabs_.take(sizeof(Block))) Block(slabs_);
  if (slot.compare_exchange_strong(block, fresh, std::memory_order_acq_rel)) return {fresh, line};
  std::destroy_at(fresh);  // another host thread was first
  return {block, line};
}

std::optional<GlobalShadow::Found> GlobalShadow::touched(std::uint64_t address) const noexcept {
  if (parts_.empty() || address < parts_.front().begin) return {};
  std::size_t index = 0;
  search(address, index);
  const Part& at = parts_[index];
  const std::uint64_t offset = address - at.begin;
  if (offset >= at.bytes) return {};
  Block* const block = at.blocks[offset / Block::bytes].load(std::memory_order_acquire);
  if (block == nullptr) return {};
  return Found{block, static_cast<std::uint32_t>(offset % Block::bytes / line_bytes)};
}

}  // namespace sim
TMAJIT_END
