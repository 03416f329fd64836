#include "sim/shadow.hpp"

#include "sim/warp.hpp"

#include <algorithm>

TMAJIT_BEGIN
namespace sim {
namespace {

/// Strong accesses whose scopes include each other are no race, whatever orders them.
bool morally_strong(const Access& a, const Access& b) {
  if ((a.place & b.place & Access::strong) == 0) return false;
  return (a.cluster == b.cluster && a.rank() == b.rank()) || ((a.place | b.place) & Access::narrow) == 0;
}

bool whole_piece(const Access& access) {
  return access.spread != a_set && access.spread != a_map;
}

/// Whether both name the same lanes at all of `bytes`.
bool same_lanes(const Piece& a, const Piece& b, ByteMask bytes) {
  if (a.access.spread == b.access.spread && a.access.spread != a_map)
    return a.access.first == b.access.first && (a.access.spread != a_set || a.set == b.set);
  for (std::uint32_t byte = first_of(bytes); byte < line_bytes; ++byte) {
    if (has(bytes, byte) && a.lanes_at(byte) != b.lanes_at(byte)) return false;
  }
  return true;
}

/// The lanes of one byte against those of another access.
std::optional<Conflict> compare(const Piece& earlier, const Piece& later, const Touch& by,
                                std::uint32_t byte) {
  std::optional<Conflict> conflict;
  const Mask before = earlier.lanes_at(byte);
  for_lanes(later.lanes_at(byte), [&](std::uint32_t lane) {
    for_lanes(before, [&](std::uint32_t other) {
      if (conflict || by.knows(lane, earlier.access, other)) return;
      conflict = Conflict{earlier.access, other, earlier.write, lane, byte};
    });
  });
  return conflict;
}

/// Reads of other instructions are told apart as long as a line has few.
constexpr std::size_t many_pieces = 16;

/// Makes `piece`, a read, a part of an earlier one of the same time and lanes.
bool merge(Piece& earlier, const Piece& piece, bool whatever_place) {
  const Access& a = earlier.access;
  const Access& b = piece.access;
  if (a.time != b.time || a.agent != b.agent || a.cluster != b.cluster || a.spread != b.spread) return false;
  if (a.place != b.place && (!whatever_place || ((a.place ^ b.place) & ~Access::place_mask) != 0))
    return false;
  if (a.spread == a_map) {
    if (!same_lanes(earlier, piece, earlier.bytes & piece.bytes)) return false;
    for (std::uint32_t byte = 0; byte < line_bytes; ++byte) {
      if (has(piece.bytes, byte)) earlier.map[byte] = piece.map[byte];
    }
  } else if (a.first != b.first || (a.spread == a_set && earlier.set != piece.set)) {
    return false;
  }
  earlier.bytes |= piece.bytes;
  return true;
}

bool one_answer(const Piece& piece) {
  return piece.access.spread >= one_lane && piece.access.spread != a_map;
}

}  // namespace

bool Touch::knows(std::uint32_t lane, const Access& earlier, std::uint32_t of) const {
  const Clock& clock_of_lane = knowledge != nullptr ? knowledge->of(lane) : *clock;
  if (earlier.cluster != access.cluster)
    return imports->know(clock_of_lane, earlier.cluster, earlier.agent, of, earlier.time);
  if (knowledge != nullptr && earlier.agent == access.agent && of == lane) return true;
  return clock_of_lane.knows(earlier.agent, of, earlier.time);
}

const Block::Records Block::Whole::none{};

void Block::Whole::take(Records*& spare) {
  if (spare == nullptr) more_ = std::make_unique<Records>();
  own_ = spare != nullptr ? spare : more_.get();
  records_ = own_;
  spare = nullptr;
}

Block::Pieces& Block::split(std::uint32_t line) {
  if (pieces_ == nullptr) pieces_ = std::make_unique<std::array<Pieces, lines>>();
  Pieces& pieces = (*pieces_)[line];
  if ((split_ >> line & 1) != 0) return pieces;
  split_ |= 1U << line;
  pieces.clear();
  const auto take = [&](Whole& records, bool write) {
    if (records.at(line).time == 0) return;
    Piece& piece = pieces.emplace_back();
    piece.bytes = whole_line;
    piece.access = records.at(line);
    piece.write = write;
    records.forget(line);
  };
  take(writes_, true);
  take(reads_, false);
  return pieces;
}

std::optional<Conflict> Block::check(std::uint32_t line, const Piece& piece, const Touch& by) {
  std::optional<Conflict> with_copy;
  for (const Piece& earlier : split(line)) {
    if (!earlier.write && !by.write) continue;
    const ByteMask both = earlier.bytes & piece.bytes;
    if (both == 0 || morally_strong(earlier.access, by.access)) continue;
    if (earlier.access.cluster == by.access.cluster &&
        earlier.access.time <= by.clock->all(earlier.access.agent))
      continue;
    const bool once = one_answer(earlier) && one_answer(piece);
    for (std::uint32_t byte = first_of(both); byte < line_bytes; ++byte) {
      if (!has(both, byte)) continue;
      const auto conflict = compare(earlier, piece, by, byte);
      // A thread that has not released says more than the copy whose bytes it used.
      if (conflict && !earlier.access.is_copy()) return conflict;
      if (conflict && !with_copy) with_copy = conflict;
      if (conflict || once) break;
    }
  }
  return with_copy;
}

void Block::add(std::uint32_t line, const Piece& piece, const Touch& by) {
  Pieces& pieces = split(line);
  if (by.write && piece.bytes == whole_line && whole_piece(piece.access)) {
    pieces.clear();
    split_ &= ~(1U << line);
    writes_.set(line, piece.access, spare_);
    return;
  }
  bool merged = false;
  const bool many = pieces.size() > many_pieces;
  std::erase_if(pieces, [&](Piece& earlier) {
    if (!by.write) {
      if (earlier.write || merged) return false;
      merged = merge(earlier, piece, many);
      if (merged) return false;
    }
    const ByteMask both = earlier.bytes & piece.bytes;
    if (both == 0) return false;
    if (!by.write) {
      // A read that this one follows needs no remembering: who follows this one follows both.
      const bool here = earlier.access.cluster == by.access.cluster;
      const bool known = here && earlier.access.time <= by.clock->all(earlier.access.agent);
      const bool own = here && earlier.access.agent == by.access.agent && by.knowledge != nullptr &&
                       same_lanes(earlier, piece, both);
      if (!known && !own) return false;
    }
    earlier.bytes &= ~piece.bytes;
    return earlier.bytes == 0;
  });
  if (merged) return;
  pieces.push_back(piece);
  pieces.back().write = by.write;
}

void Block::clear() {
  if (split_ != 0) {
    for (std::uint32_t line = 0; line < lines; ++line) {
      if ((split_ >> line & 1) != 0) (*pieces_)[line].clear();
    }
    split_ = 0;
  }
  writes_.clear();
  reads_.clear();
}

GlobalShadow::GlobalShadow(const std::vector<Region>& regions) {
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
