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

/// Calls visit(byte) for the first of `bytes` in each stretch of `grain` that the line is divided into, a
/// power of two, until it gives false.
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

/// Whether both name the same lanes at all of `bytes`.
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

/// The lanes of one byte against those of another access.
std::optional<Conflict> compare(const Piece& earlier, const Piece& later, const Touch& by,
                                std::uint32_t byte) {
  std::optional<Conflict> conflict;
  const Mask before = earlier.lanes_at(byte);
  for_lanes(later.lanes_at(byte), [&](std::uint32_t lane) {
    for_lanes(before, [&](std::uint32_t other) {
      if (conflict || by.knows(lane, earlier.access, other)) return;
      conflict = Conflict{earlier.access, other, earlier.access.writes(), lane, byte};
    });
  });
  return conflict;
}

/// Whether no byte can show a conflict: a look that is quick, and mostly enough.
bool passes(const Piece& earlier, const Piece& later, const Touch& by) {
  if (morally_strong(earlier.access, by.access)) return true;
  return earlier.access.cluster == by.access.cluster && earlier.access.agent == by.access.agent &&
         by.knowledge != nullptr && later.access.spread != a_set &&
         same_lanes(earlier, later, earlier.bytes & later.bytes);
}

std::optional<Conflict> first_conflict(const Piece& earlier, const Piece& later, const Touch& by) {
  std::optional<Conflict> conflict;
  for_grains(earlier.bytes & later.bytes, std::min(earlier.grain(), later.grain()), [&](std::uint32_t byte) {
    conflict = compare(earlier, later, by, byte);
    return !conflict;
  });
  return conflict;
}

/// Reads of other instructions are told apart as long as a line has few.
constexpr std::size_t many_pieces = 16;

/// Whether a read may become a part of an earlier one, if they agree on the lanes of each byte.
bool alike(const Access& a, const Access& b, bool whatever_place) {
  if (a.time != b.time || a.agent != b.agent || a.cluster != b.cluster || a.spread != b.spread ||
      a.first != b.first)
    return false;
  return a.place == b.place || (whatever_place && ((a.place ^ b.place) & ~Access::place_mask) == 0);
}

/// Makes `piece`, a read, a part of an earlier one.
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

/// Whether the read has become a part of an earlier one. Others forget what it touches of them if who follows
/// this one follows both.
bool add_read(PieceList& pieces, const Piece& piece, const Touch& by) {
  const bool many = pieces.size() > many_pieces;
  bool merged = false;
  bool emptied = false;
  const auto counts = [&](const Part& earlier) {
    if (earlier.access.writes()) return false;
    return (earlier.bytes & piece.bytes) != 0 || alike(earlier.access, piece.access, many);
  };
  pieces.for_each(counts, [&](Piece& earlier) {
    merged = alike(earlier.access, piece.access, many) && merge(earlier, piece);
    if (merged) return false;
    const ByteMask both = earlier.bytes & piece.bytes;
    const bool own = earlier.access.agent == by.access.agent && earlier.access.cluster == by.access.cluster &&
                     by.knowledge != nullptr;
    if (!by.ordered_after(earlier.access) && !(own && same_lanes(earlier, piece, both))) return true;
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

PieceList& Block::split(std::uint32_t line) {
  if (lists_.load(std::memory_order_relaxed) == nullptr) lists_ = new Lists;
  PieceList& pieces = (*lists_.load(std::memory_order_relaxed))[line];
  if ((split_ >> line & 1) != 0) return pieces;
  split_ |= 1U << line;
  pieces.clear();
  for (Whole* const records : {&writes_, &reads_}) {
    if (records->at(line).time == 0) continue;
    Piece piece;
    piece.bytes = whole_line;
    piece.access = records->at(line);
    pieces.push(piece);
    records->forget(line);
  }
  return pieces;
}

std::optional<Conflict> Block::check(std::uint32_t line, const Piece& piece, const Touch& by) {
  PieceList& pieces = split(line);
  if (!by.write && !pieces.has_writes()) return std::nullopt;
  const auto counts = [&](const Part& earlier) {
    return (by.write || earlier.access.writes()) && (earlier.bytes & piece.bytes) != 0 &&
           !by.ordered_after(earlier.access);
  };
  bool clear = true;
  pieces.for_each(counts, [&](const Piece& earlier) {
    clear = passes(earlier, piece, by);
    return clear;
  });
  if (clear) [[likely]]
    return std::nullopt;
  std::optional<Conflict> with_copy;
  std::optional<Conflict> conflict;
  pieces.for_each(counts, [&](const Piece& earlier) {
    if (passes(earlier, piece, by)) return true;
    conflict = first_conflict(earlier, piece, by);
    // A thread that has not released says more than the copy whose bytes it used.
    if (conflict && !earlier.access.is_copy()) return false;
    if (conflict && !with_copy) with_copy = conflict;
    conflict.reset();
    return true;
  });
  return conflict ? conflict : with_copy;
}

void Block::add(std::uint32_t line, const Piece& piece, const Touch& by) {
  PieceList& pieces = split(line);
  if (by.write) {
    if (piece.bytes == whole_line && whole_piece(piece.access)) {
      pieces.clear();
      split_ &= ~(1U << line);
      writes_.set(line, piece.access, spare_);
      return;
    }
    pieces.erase(piece.bytes);
  } else if (add_read(pieces, piece, by)) {
    return;
  }
  pieces.push(piece);
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
