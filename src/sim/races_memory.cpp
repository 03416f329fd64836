/// Accesses of threads and copies, line by line.
#include "sim/cta.hpp"
#include "sim/races.hpp"
#include "sim/tile.hpp"

#include <algorithm>

TMAJIT_BEGIN
namespace sim {
namespace {

constexpr std::uint64_t line_of(std::uint64_t at) {
  return at & ~std::uint64_t{line_bytes - 1};
}

/// The bytes of [at, end) in the line that begins at `line`.
ByteMask bytes_in(std::uint64_t line, std::uint64_t at, std::uint64_t end) {
  return ByteMask::range(at <= line ? 0 : static_cast<std::uint32_t>(at - line),
                         static_cast<std::uint32_t>(std::min<std::uint64_t>(end - line, line_bytes)));
}

/// What the lanes of one instruction do, as few pieces as possible.
class Gather {
 public:
  struct Entry {
    std::uint64_t line;
    Piece piece;
  };

  explicit Gather(const Touch& by) : by_(by) {}

  void add(std::uint32_t lane, std::uint64_t at, std::uint32_t bytes) {
    const std::uint64_t line = line_of(at);
    const ByteMask mask = bytes_in(line, at, at + bytes);
    for (std::uint32_t i = count_; i-- > 0;) {
      Entry& entry = entries_[i];
      if (entry.line != line) continue;
      if (!(entry.piece.bytes & mask).any() && entry.piece.access.spread != a_set) {
        spread(entry.piece, lane, mask);
        return;
      }
      if ((entry.piece.access.spread == one_lane || entry.piece.access.spread == a_set) &&
          entry.piece.bytes.words == mask.words) {
        if (entry.piece.access.spread == one_lane) entry.piece.set = 1U << entry.piece.access.first;
        entry.piece.access.spread = a_set;
        entry.piece.access.first = 0;
        entry.piece.set |= 1U << lane;
        return;
      }
    }
    Entry& entry = entries_[count_++];
    entry.line = line;
    entry.piece.bytes = mask;
    entry.piece.access = by_.access;
    entry.piece.access.spread = one_lane;
    entry.piece.access.first = static_cast<std::int8_t>(lane);
    entry.piece.set = 0;
    entry.piece.write = by_.write;
  }
  [[nodiscard]] const Entry* begin() const noexcept { return entries_.data(); }
  [[nodiscard]] const Entry* end() const noexcept { return entries_.data() + count_; }

 private:
  static void fill(Piece& piece, const ByteMask& mask, std::uint32_t lane) {
    for (std::uint32_t byte = mask.first(); byte < line_bytes && mask.has(byte); ++byte)
      piece.map[byte] = static_cast<std::uint8_t>(lane);
  }
  static void spread(Piece& piece, std::uint32_t lane, const ByteMask& mask) {
    if (piece.access.spread == one_lane) {
      fill(piece, piece.bytes, static_cast<std::uint32_t>(piece.access.first));
      piece.access.spread = a_map;
      piece.access.first = 0;
    }
    fill(piece, mask, lane);
    piece.bytes = piece.bytes | mask;
  }

  const Touch& by_;
  std::uint32_t count_ = 0;
  std::array<Entry, lanes> entries_;  // NOLINT: the first count_
};

}  // namespace

Touch Races::touch(const Warp& warp, Mask mask, const WarpAccess& access) const {
  const Knowledge& knowledge = warps_[warp.index];
  Touch by;
  by.access.time = knowledge.time();
  by.access.cta = number_;
  by.access.place = cta_.program.places[warp.here()] | (access.ordering.strong ? Access::strong : 0) |
                    (access.ordering.narrow ? Access::narrow : 0);
  by.access.agent = static_cast<Agent>(warp.index);
  by.clock = &knowledge.of_all(mask);
  by.knowledge = &knowledge;
  by.imports = &imports_;
  by.write = access.write;
  return by;
}

template <typename Use>
auto Races::with_block(Memory memory, std::uint64_t at, const Use& use) {
  const auto line = static_cast<std::uint32_t>(at % Block::bytes / line_bytes);
  if (memory == Memory::shared) return use(shared_[at / Block::bytes], line);
  // Regions begin at multiples of 512 only.
  const GlobalShadow::Found found = launch_.shadow.find(at, region_hint_);
  const std::lock_guard lock(*found.block);
  return use(*found.block, found.line);
}

std::optional<Conflict> Races::check(Memory memory, std::uint64_t line, const Piece& piece, const Touch& by) {
  return with_block(memory, line,
                    [&](Block& block, std::uint32_t number) { return block.check(number, piece, by); });
}

void Races::add(Memory memory, std::uint64_t line, const Piece& piece, const Touch& by) {
  with_block(memory, line, [&](Block& block, std::uint32_t number) { block.add(number, piece, by); });
}

void Races::piece(Memory memory, std::uint64_t line, const Piece& piece, const Touch& by, bool quiet) {
  const auto conflict = check(memory, line, piece, by);
  if (conflict && !quiet) report(*conflict, by, memory, line);
  add(memory, line, piece, by);
}

void Races::part(Memory memory, std::uint64_t line, const ByteMask& bytes, const Access& now, const Touch& by,
                 bool quiet) {
  Piece some;
  some.bytes = bytes;
  some.access = now;
  some.write = by.write;
  piece(memory, line, some, by, quiet);
}

void Races::whole_lines(Memory memory, std::uint64_t line, std::uint64_t end, const Touch& by, int first,
                        int step, bool quiet) {
  while (line < end) {
    // As many as one block holds, until one is not simple.
    bool simple = true;
    with_block(memory, line, [&](Block& block, std::uint32_t number) {
      for (; line < end && number < Block::lines; ++number) {
        simple = block.touch(number, by, by.access.from(first));
        if (!simple) return;
        line += line_bytes;
        first += step;
      }
    });
    if (simple) continue;
    part(memory, line, ByteMask::range(0, line_bytes), by.access.from(first), by, quiet);
    line += line_bytes;
    first += step;
  }
}

void Races::range(Memory memory, std::uint64_t at, std::uint64_t end, const Touch& by, int first, int step,
                  bool quiet) {
  std::uint64_t line = line_of(at);
  if (line != at) {
    part(memory, line, bytes_in(line, at, end), by.access.from(first), by, quiet);
    line += line_bytes;
    first += step;
  }
  const std::uint64_t last = line_of(end);
  if (line < last) {
    whole_lines(memory, line, last, by, first, step, quiet);
    first += step * static_cast<int>((last - line) / line_bytes);
    line = last;
  }
  if (line < end) part(memory, line, bytes_in(line, at, end), by.access.from(first), by, quiet);
}

void Races::access(const Warp& warp, const WarpAccess& access, std::uint64_t at) {
  Touch by = touch(warp, all_lanes, access);
  const int spread = std::countr_zero(access.bytes);
  by.access.spread = static_cast<std::uint8_t>(spread);
  // The lane of the first line's first byte is below 0 where the stretch begins behind it.
  range(access.memory, at, at + lanes * std::uint64_t{access.bytes}, by,
        -(static_cast<int>(at % line_bytes) >> spread), static_cast<int>(line_bytes) >> spread, false);
}

void Races::access(const Warp& warp, const WarpAccess& access, const std::array<std::uint64_t, lanes>& at,
                   Mask mask) {
  const Touch by = touch(warp, mask, access);
  Gather gather(by);
  for_lanes(mask, [&](std::uint32_t lane) { gather.add(lane, at[lane], access.bytes); });
  // Lanes of one instruction that write one place: one of them does, which is no race.
  for (const Gather::Entry& entry : gather) {
    if (const auto conflict = check(access.memory, entry.line, entry.piece, by))
      report(*conflict, by, access.memory, entry.line);
  }
  for (const Gather::Entry& entry : gather) add(access.memory, entry.line, entry.piece, by);
}

void Races::touch_mbarrier(const Warp& warp, Mask mask, std::uint32_t offset, bool write) {
  // To the memory under it, making an mbarrier is a write, and using it a read that may be anyone's.
  Touch by = touch(warp, mask, {Memory::shared, 8, write, {.strong = !write}});
  by.access.place |= Access::object;
  Piece object;
  object.bytes = bytes_in(line_of(offset), offset, offset + 8);
  object.access = by.access;
  object.access.spread = a_set;
  object.set = mask;
  object.write = write;
  piece(Memory::shared, line_of(offset), object, by, false);
}

Touch Races::copy_touch(const Copy& copy, Agent agent, std::uint32_t time, bool write) const {
  Touch by;
  by.access.time = time;
  by.access.cta = number_;
  by.access.place = copy.place;
  by.access.agent = agent;
  by.access.first = static_cast<std::int8_t>(copy.thread & 255);
  by.access.spread = static_cast<std::uint8_t>(no_lane | copy.thread >> 8);
  by.clock = &issue_;
  by.imports = &imports_;
  by.write = write;
  return by;
}

/// Ranges that no allocation holds are reported when they are copied.
void Races::global_range(std::uint64_t at, std::uint64_t bytes, const Touch& by, bool quiet) {
  if (bytes != 0 && cta_.global(at, bytes) != nullptr)
    range(Memory::global, at, at + bytes, by, by.access.first, 0, quiet);
}

void Races::tile(const Copy& copy, const Touch& in_shared, const Touch& in_global, bool quiet) {
  if (!copy.tensor) {
    range(Memory::shared, copy.shared, copy.shared + copy.bytes, in_shared, in_shared.access.first, 0, quiet);
    global_range(copy.global, copy.bytes, in_global, quiet);
    return;
  }
  const Tile tile(copy.map.spec, copy.origin);
  // A swizzle permutes chunks within 128 bytes: where rows leave no gap it covers the same bytes.
  const bool dense = tile.span() == tile.bytes();
  if (dense)
    range(Memory::shared, copy.shared, copy.shared + tile.span(), in_shared, in_shared.access.first, 0,
          quiet);
  tile.for_each_row([&](const TileRow& row) {
    if (!dense) {
      tile.for_each_piece(copy.shared, row, [&](std::uint32_t at, std::uint32_t, std::uint32_t bytes) {
        range(Memory::shared, at, at + bytes, in_shared, in_shared.access.first, 0, quiet);
      });
    }
    if (row.first == row.last) return;
    // A store writes whole chunks.
    const std::uint32_t last =
        in_global.write ? std::min((row.last + 15) / 16 * 16, tile.row_bytes()) : row.last;
    global_range(copy.map.address + static_cast<std::uint64_t>(row.global) + row.first, last - row.first,
                 in_global, quiet);
  });
}

void Races::load(const Copy& copy, const Warp& warp, std::uint32_t lane, bool quiet) {
  mbarrier_use(warp, 1U << lane, copy.barrier);
  Knowledge& knowledge = warps_[warp.index];
  issue_.clear();
  knowledge.release(1U << lane, issue_);
  knowledge.tick();
  Phases& order = phases(copy.barrier);
  tile(copy, copy_touch(copy, order.agent, order.time, true),
       copy_touch(copy, order.agent, order.time, false), quiet);
  // Who waits for the phase comes after the load, so after what the load comes after.
  order.arriving.join(issue_);
}

void Races::store(const Copy& copy, const Warp& warp, std::uint32_t lane, std::uint64_t group, bool quiet) {
  Knowledge& knowledge = warps_[warp.index];
  issue_.clear();
  knowledge.release(1U << lane, issue_);
  knowledge.tick();
  const auto [agents, fresh] = stores_.try_emplace(copy.thread);
  if (fresh) agents->second = {new_agent(), new_agent()};
  const auto time = static_cast<std::uint32_t>(group + 1);
  tile(copy, copy_touch(copy, agents->second.reads, time, false),
       copy_touch(copy, agents->second.writes, time, true), quiet);
}

void Races::wait_group(std::uint32_t thread, std::uint64_t group, bool read_only) {
  const auto agents = stores_.find(thread);
  if (agents == stores_.end()) return;
  Knowledge& knowledge = warps_[thread / lanes];
  const Mask live = cta_.warps[thread / lanes]->live;
  const Mask lane = 1U << thread % lanes;
  const auto time = static_cast<std::uint32_t>(group);
  knowledge.learn(lane, live, agents->second.reads, time);
  if (!read_only) knowledge.learn(lane, live, agents->second.writes, time);
}

}  // namespace sim
TMAJIT_END
