#include "sim/races/gather.hpp"

#include "sim/warp/warp.hpp"

#include <memory>

TMAJIT_BEGIN
namespace sim {

Gather::Gather(const Touch& touch, std::uint32_t bytes)
    : log_(static_cast<std::uint32_t>(std::countr_zero(bytes))),
      lane_bytes_((ByteMask{1} << bytes) - 1),
      access_(touch.access) {
  access_.spread = one_lane;
}

Gather::Gather(const Touch& touch, const std::array<std::uint64_t, lanes>& at, Mask mask, std::uint32_t bytes)
    : Gather(touch, bytes) {
  add_all(at, mask);
}

Gather::Gather(const Touch& touch, const std::array<std::uint64_t, lanes>& at, Mask mask, std::uint32_t bytes,
               GatherPatterns& patterns)
    : Gather(touch, bytes) {
  std::uint64_t differ = mask == all_lanes ? 0 : ~std::uint64_t{0};
  for (std::uint32_t lane = 0; lane < lanes && mask == all_lanes; ++lane) differ |= at[lane] ^ at[0];
  if (differ < line_bytes) {
    add_line(at, patterns.of(touch.access.location & Access::location_mask));
  } else {
    add_all(at, mask);
  }
}

void Gather::add_line(const std::array<std::uint64_t, lanes>& at, GatherPatterns::Pattern& pattern) {
  std::array<std::uint8_t, lanes> offsets;
  for (std::uint32_t lane = 0; lane < lanes; ++lane)
    offsets[lane] = static_cast<std::uint8_t>(at[lane] % line_bytes);
  const std::uint32_t location = access_.location & Access::location_mask;
  if (pattern.location == location && pattern.log == log_ && pattern.offsets == offsets) {
    count_ = pattern.count;
    distinct_lines_ = count_ == 1;
    folded_ = pattern.folded;
    for (std::uint32_t i = 0; i < count_; ++i) {
      std::construct_at(&entries_[i]);
      entries_[i].line = at[0] - offsets[0];
      entries_[i].piece = pattern.pieces[i];
      entries_[i].piece.access = access_.with_first(pattern.pieces[i].access.first);
      entries_[i].piece.access.spread = pattern.pieces[i].access.spread;
    }
    return;
  }
  add_folded(at, offsets);
  if (count_ > GatherPatterns::Pattern::max_pieces) return;
  pattern.location = location;
  pattern.log = log_;
  pattern.offsets = offsets;
  pattern.count = count_;
  pattern.folded = folded_;
  for (std::uint32_t i = 0; i < count_; ++i) pattern.pieces[i] = entries_[i].piece;
}

/// Folds the two halves of a warp into one piece if both halves read the same words, or if all lanes of a
/// half read one word.
void Gather::add_folded(const std::array<std::uint64_t, lanes>& at,
                        const std::array<std::uint8_t, lanes>& offsets) {
  constexpr std::uint32_t half = lanes / 2;
  bool twice = !access_.writes();
  bool halves = twice && offsets[0] != offsets[half];
  for (std::uint32_t lane = 0; lane < half; ++lane) {
    twice = twice && offsets[lane] == offsets[lane + half];
    halves = halves && offsets[lane] == offsets[0] && offsets[lane + half] == offsets[half];
  }
  add_all(at, twice ? 0xffffU : halves ? 0x00010001U : all_lanes);
  folded_ = twice || halves;
  for (std::uint32_t i = 0; i < count_ && folded_; ++i) {
    Piece& piece = entries_[i].piece;
    const std::int8_t fold = twice ? Part::folded_twice : Part::folded_halves;
    if (piece.access.spread == a_map) {
      piece.access.first = static_cast<std::int8_t>(piece.access.first | fold);
      continue;
    }
    const Mask half_lanes = piece.access.spread == a_set ? piece.table.set : 1U << piece.access.first;
    piece.access.spread = a_set;
    piece.access.first = 0;
    piece.table.set = half_lanes * (twice ? 0x00010001U : 0xffffU);
  }
}

void Gather::add_all(const std::array<std::uint64_t, lanes>& at, Mask mask) {
  for_lanes(mask, [&](std::uint32_t lane) {
    add(lane, at[lane] & ~std::uint64_t{line_bytes - 1}, static_cast<std::uint32_t>(at[lane] % line_bytes));
  });
}

void Gather::add(std::uint32_t lane, std::uint64_t line, std::uint32_t byte) {
  const ByteMask mask = lane_bytes_ << byte;
  std::uint8_t& latest = latest_[line / line_bytes % latest_.size()];
  if (latest != 0) {
    // If no other line has this hash, the last entry is of this line. Entries are tried from the last to the
    // first.
    std::uint32_t i = entries_[latest - 1U].line == line ? latest : count_;
    for (; i-- > 0;) {
      if (entries_[i].line != line) continue;
      if (join(entries_[i].piece, lane, mask, byte)) return;
      distinct_lines_ = false;
    }
  }
  Entry& entry = *std::construct_at(&entries_[count_++]);
  latest = static_cast<std::uint8_t>(count_);
  entry.line = line;
  entry.piece.bytes = mask;
  entry.piece.access = access_.with_first(static_cast<int>(lane));
}

bool Gather::join(Piece& piece, std::uint32_t lane, ByteMask mask, std::uint32_t byte) const {
  const std::uint8_t spread = piece.access.spread;
  if ((piece.bytes & mask) == 0 && spread != a_set) {
    const std::uint32_t first_byte = first_of(piece.bytes);
    if (Part::map_of(log_, first_byte) != Part::map_of(log_, byte)) return false;
    if (spread == one_lane) {
      const auto first = static_cast<std::uint8_t>(piece.access.first);
      piece.access.spread = a_map;
      piece.access.first = Part::map_of(log_, byte);
      piece.table.map[piece.unit_of(first_byte)] = first;
    }
    piece.table.map[piece.unit_of(byte)] = static_cast<std::uint8_t>(lane);
    piece.bytes |= mask;
    return true;
  }
  if (piece.bytes != mask || (spread != one_lane && spread != a_set)) return false;
  if (spread == one_lane) piece.table.set = 1U << piece.access.first;
  piece.access.spread = a_set;
  piece.access.first = 0;
  piece.table.set |= 1U << lane;
  return true;
}

}  // namespace sim
TMAJIT_END
