/// Checks and records the accesses of threads and copies, line by line.
#include "sim/cta/cta.hpp"
#include "sim/races/races.hpp"

#include <algorithm>

TMAJIT_BEGIN
namespace sim {

Touch Races::touch_of(const Warp& warp, Mask mask, const WarpAccess& access) {
  const Knowledge& knowledge = clocks_of(warp);
  const std::uint32_t strength = (access.ordering.strong ? Access::strong : 0) |
                                 (access.ordering.cta_scope ? Access::cta_scope : 0) |
                                 (access.write ? Access::written : 0) | warp.cta->rank << Access::rank_at;
  return {.access = {.time = knowledge.time(),
                     .cluster = number_,
                     .location = warp.location() | strength,
                     .agent = agent_of(warp)},
          .clock = &knowledge.of_all(mask),
          .knowledge = &knowledge,
          .imports = &imports_,
          .memory = access.memory,
          .write = access.write,
          .same_value = access.same_value};
}

template <typename Use>
auto Races::with_block(Memory memory, std::uint64_t at, const Use& use) {
  const auto line = static_cast<std::uint32_t>(at % Block::bytes / line_bytes);
  if (memory == Memory::shared) return use(shared_[at / Block::bytes], line);
  // The shadow of a region begins at a multiple of a line, not of a block, so find() returns the line, too.
  const GlobalShadow::Found found = launch_.shadow.find(at, region_hint_);
  if (in_step_) return use(*found.block, found.line);
  const std::lock_guard lock(*found.block);
  return use(*found.block, found.line);
}

Races::Step::Step(Races& races, const std::array<std::uint64_t, lanes>& at, Mask mask) : races_(races) {
  for_lanes(mask, [&](std::uint32_t lane) {
    Block* const block = races.launch_.shadow.find(at[lane], races.region_hint_).block;
    if (count_ == 0 || blocks_[count_ - 1] != block) blocks_[count_++] = block;
  });
  // Blocks are locked in address order, so they cannot deadlock.
  const auto end = blocks_.begin() + static_cast<std::ptrdiff_t>(count_);
  std::sort(blocks_.begin(), end);
  count_ = static_cast<std::size_t>(std::unique(blocks_.begin(), end) - blocks_.begin());
  for (std::size_t i = 0; i < count_; ++i) blocks_[i]->lock();
  races.in_step_ = true;
}

Races::Step::~Step() {
  races_.in_step_ = false;
  for (std::size_t i = 0; i < count_; ++i) blocks_[i]->unlock();
}

std::optional<Conflict> Races::check(std::uint64_t line, const Piece& piece, const Touch& touch) {
  return with_block(touch.memory, line,
                    [&](Block& block, std::uint32_t number) { return block.check(number, piece, touch); });
}

void Races::add(std::uint64_t line, const Piece& piece, const Touch& touch) {
  with_block(touch.memory, line,
             [&](Block& block, std::uint32_t number) { block.add(number, piece, touch); });
}

void Races::record(std::uint64_t line, const Piece& piece, const Touch& touch) {
  const auto conflict = with_block(touch.memory, line, [&](Block& block, std::uint32_t number) {
    const auto found = block.check(number, piece, touch);
    block.add(number, piece, touch);
    return found;
  });
  if (conflict && !touch.quiet) report(*conflict, touch, line);
}

void Races::record_bytes(std::uint64_t line, ByteMask bytes, const Access& now, const Touch& touch) {
  Piece piece;
  piece.bytes = bytes;
  piece.access = now;
  record(line, piece, touch);
}

void Races::record_lines(std::uint64_t line, std::uint64_t end, const Touch& touch, int first, int step) {
  while (line < end) {
    // Record the lines of one block under a single lock, until a line needs pieces.
    bool simple = true;
    with_block(touch.memory, line, [&](Block& block, std::uint32_t number) {
      for (; line < end && number < Block::lines; ++number) {
        simple = block.record_whole_line(number, touch, touch.access.with_first(first));
        if (!simple) return;
        line += line_bytes;
        first += step;
      }
    });
    if (simple) continue;
    record_bytes(line, whole_line, touch.access.with_first(first), touch);
    line += line_bytes;
    first += step;
  }
}

void Races::record_range(std::uint64_t at, std::uint64_t end, const Touch& touch, int first, int step) {
  std::uint64_t line = line_of(at);
  if (line != at) {
    record_bytes(line, bytes_in(line, at, end), touch.access.with_first(first), touch);
    line += line_bytes;
    first += step;
  }
  const std::uint64_t last = line_of(end);
  if (line < last) {
    record_lines(line, last, touch, first, step);
    first += step * static_cast<int>((last - line) / line_bytes);
    line = last;
  }
  if (line < end) record_bytes(line, bytes_in(line, at, end), touch.access.with_first(first), touch);
}

void Races::access(const Warp& warp, const WarpAccess& access, std::uint64_t at) {
  Touch touch = touch_of(warp, all_lanes, access);
  if (flights_ != nullptr && access.memory == Memory::global) {
    for (std::uint32_t lane = 0; lane < lanes; ++lane)
      check_flights(at + std::uint64_t{lane} * access.bytes, access.bytes, lane, touch);
  }
  const int spread = std::countr_zero(access.bytes);
  touch.access.spread = static_cast<std::uint8_t>(spread);
  // `first` is the lane to which the line's first byte would belong: negative if the range begins later in
  // the line.
  record_range(at, at + lanes * std::uint64_t{access.bytes}, touch,
               -(static_cast<int>(at % line_bytes) >> spread), static_cast<int>(line_bytes) >> spread);
}

/// Prefetches the shadow of scattered lines. It is reached through three pointers, hence the three loops.
void Races::prefetch_pieces(const Gather& gather) {
  std::array<GlobalShadow::Found, lanes> found;
  std::size_t count = 0;
  for (const Gather::Entry& entry : gather) {
    found[count] = launch_.shadow.find(entry.line, region_hint_);
    found[count].block->prefetch(found[count].line);
    ++count;
  }
  for (std::size_t i = 0; i < count; ++i) found[i].block->prefetch_list(found[i].line);
  for (std::size_t i = 0; i < count; ++i) found[i].block->prefetch_pieces(found[i].line);
}

void Races::access(const Warp& warp, const WarpAccess& access, const std::array<std::uint64_t, lanes>& at,
                   Mask mask) {
  const Touch touch = touch_of(warp, mask, access);
  if (flights_ != nullptr && access.memory == Memory::global)
    for_lanes(mask, [&](std::uint32_t lane) { check_flights(at[lane], access.bytes, lane, touch); });
  const Gather gather(touch, at, mask, access.bytes, patterns_);
  if (gather.distinct_lines() && !gather.folded()) {
    if (access.memory == Memory::global) prefetch_pieces(gather);
    for (const Gather::Entry& entry : gather) record(entry.line, entry.piece, touch);
    return;
  }
  // If lanes of one instruction write the same bytes, one of the writes takes effect, which is no race. So
  // all pieces are checked before any is recorded.
  bool clear = true;
  for (const Gather::Entry& entry : gather) {
    const auto conflict = check(entry.line, entry.piece, touch);
    clear = clear && !conflict;
    if (conflict && !gather.folded()) report(*conflict, touch, entry.line);
  }
  if (!clear && gather.folded()) {
    const Gather unfolded(touch, at, mask, access.bytes);
    for (const Gather::Entry& entry : unfolded) {
      if (const auto conflict = check(entry.line, entry.piece, touch)) report(*conflict, touch, entry.line);
    }
  }
  for (const Gather::Entry& entry : gather) add(entry.line, entry.piece, touch);
}

bool Races::follows_write(const Warp& warp, std::uint32_t lane, std::uint32_t offset) {
  const Touch touch = touch_of(warp, 1U << lane, {Memory::shared, 4, false, {}});
  Piece word;
  word.bytes = bytes_in(line_of(offset), offset, offset + 4);
  word.access = touch.access;
  word.access.spread = a_set;
  word.table.set = 1U << lane;
  return !check(line_of(offset), word, touch);
}

void Races::fence_async(const Warp& warp, Mask mask) {
  std::vector<AsyncFence>& fences = async_fences_[agent_of(warp)];
  for (AsyncFence& earlier : fences) earlier.last_of &= ~mask;
  std::erase_if(fences, [](const AsyncFence& each) { return each.last_of == 0; });
  fences.push_back({mask, clocks_of(warp).of_all(mask)});
}

bool Races::fenced(const Warp& warp, std::uint32_t lane, std::uint32_t offset) {
  const auto fences = async_fences_.find(agent_of(warp));
  if (fences == async_fences_.end()) return false;
  const auto own = std::ranges::find_if(
      fences->second, [&](const AsyncFence& each) { return (each.last_of >> lane & 1) != 0; });
  return own != fences->second.end() && knows_write(own->known, offset);
}

bool Races::knows_write(const Clock& known, std::uint32_t offset) {
  const std::uint64_t line = line_of(offset);
  const auto last = with_block(Memory::shared, line, [&](Block& block, std::uint32_t number) {
    return block.last(number, bytes_in(line, offset, offset + 4), true);
  });
  return last && known.knows(last->earlier.agent, last->earlier_lane, last->earlier.time);
}

void Races::mbarrier_use(const Warp& warp, Mask mask, std::uint32_t offset, bool write) {
  // mbarrier.init and mbarrier.inval count as writes of the mbarrier's memory, any other use as a strong
  // read.
  Touch touch = touch_of(warp, mask, {Memory::shared, 8, write, {.strong = !write}});
  touch.access.location |= Access::object;
  Piece object;
  object.bytes = bytes_in(line_of(offset), offset, offset + 8);
  object.access = touch.access;
  object.access.spread = a_set;
  object.table.set = mask;
  record(line_of(offset), object, touch);
}

Touch Races::copy_touch(const Copy& copy, Memory memory, Agent agent, std::uint32_t time, bool write,
                        bool quiet) {
  return {.access = {.time = time,
                     .cluster = number_,
                     .location =
                         copy.location | (write ? Access::written : 0) | copy.issuer->rank << Access::rank_at,
                     .agent = agent,
                     .first = static_cast<std::int8_t>(copy.thread & 255),
                     .spread = static_cast<std::uint8_t>(no_lane | copy.thread >> 8)},
          .clock = &issue_,
          .imports = &imports_,
          .memory = memory,
          .write = write,
          .quiet = quiet};
}

/// Checks and records an access of a copy. A range outside all allocations is skipped; the copy reports it.
void Races::record_global(std::uint64_t at, std::uint64_t bytes, const Touch& touch) {
  if (bytes == 0 || cluster_.cta(0).global(at, bytes) == nullptr) return;
  if (flights_ != nullptr && !touch.quiet) check_flights(at, bytes, 0, touch);
  record_range(at, at + bytes, touch, touch.access.first, 0);
}

void Races::record_copy(const Copy& copy, const Cta& cta, const Touch& in_shared, const Touch& in_global) {
  const std::uint32_t shared = cta.in_cluster(copy.shared);
  if (!copy.tensor) {
    record_range(shared, shared + copy.bytes, in_shared, in_shared.access.first, 0);
    record_global(copy.global, copy.bytes, in_global);
    return;
  }
  const Tile tile = copy.tile();
  // A swizzle permutes chunks within 128 bytes. If the rows leave no gap, the tile covers a single range.
  const bool dense = tile.span() == tile.bytes();
  if (dense) record_range(shared, shared + tile.span(), in_shared, in_shared.access.first, 0);
  tile.for_each_row([&](const TileRow& row) {
    if (!dense) {
      tile.for_each_piece(copy.shared, row, [&](std::uint32_t piece, std::uint32_t, std::uint32_t bytes) {
        const std::uint32_t at = cta.in_cluster(piece);
        record_range(at, at + bytes, in_shared, in_shared.access.first, 0);
      });
    }
    if (row.first == row.last) return;
    // A tensor store writes whole 16-byte chunks of a row.
    const std::uint32_t last =
        in_global.write ? std::min((row.last + 15) / 16 * 16, tile.row_bytes()) : row.last;
    record_global(copy.map.address + static_cast<std::uint64_t>(row.global) + row.first, last - row.first,
                  in_global);
  });
}

void Races::begin_issue(const Warp& warp, std::uint32_t lane) {
  Knowledge& knowledge = clocks_of(warp);
  issue_.clear();
  knowledge.release(1U << lane, issue_);
  knowledge.tick();
}

bool Races::load(const Copy& copy, const Warp& warp, std::uint32_t lane, const Cta& target, bool quiet) {
  const std::uint32_t barrier = target.in_cluster(copy.barrier);
  mbarrier_use(warp, 1U << lane, barrier);
  begin_issue(warp, lane);
  Phases& edges = phases(barrier);
  Touch writes = copy_touch(copy, Memory::shared, edges.agent, edges.time, true, quiet);
  if (copy.reduces) writes.access.location |= Access::strong;
  record_copy(copy, target, writes, copy_touch(copy, Memory::global, edges.agent, edges.time, false, quiet));
  if (copy.source != nullptr) {
    const Touch reads = copy_touch(copy, Memory::shared, edges.agent, edges.time, false, quiet);
    const std::uint32_t from = copy.source->in_cluster(copy.source_offset);
    record_range(from, from + copy.bytes, reads, reads.access.first, 0);
  }
  const bool knows = edges.time == edges.first || edges.time - 1 <= issue_.time_of(edges.agent);
  // A thread that waits for the phase is ordered after the load, and hence after everything before its issue.
  edges.arriving.join(issue_);
  return knows;
}

void Races::store(const Copy& copy, const Warp& warp, std::uint32_t lane, std::uint64_t group, bool quiet) {
  begin_issue(warp, lane);
  const auto [agents, fresh] = stores_.try_emplace(number_of(warp, lane));
  if (fresh) agents->second = {new_agent(), new_agent(), {}};
  const auto time = static_cast<std::uint32_t>(group + 1);
  agents->second.issued.resize(std::max<std::size_t>(agents->second.issued.size(), time));
  // Keep the time of the group's first store: without a commit all stores are in one group.
  std::uint32_t& issued = agents->second.issued[group];
  if (issued == 0) issued = clocks_of(warp).time() - 1;
  Touch writes = copy_touch(copy, Memory::global, agents->second.writes, time, true, quiet);
  // Each element of a reduction is relaxed at gpu scope, so reductions do not race with each other.
  if (copy.reduction.apply != nullptr) writes.access.location |= Access::strong;
  record_copy(copy, *warp.cta, copy_touch(copy, Memory::shared, agents->second.reads, time, false, quiet),
              writes);
}

void Races::product_read(const Warp& warp, std::uint32_t at, std::uint32_t bytes, std::uint64_t group,
                         bool quiet) {
  const auto [agent, fresh] = products_.try_emplace(agent_of(warp));
  if (fresh) agent->second.agent = new_agent();
  std::vector<std::uint32_t>& times = agent->second.issued;
  if (group >= times.size()) times.resize(group + 1);
  // Keep the time of the group's first product.
  if (times[group] == 0) times[group] = clocks_of(warp).time() - 1;
  Copy issued;
  issued.issuer = warp.cta;
  issued.thread = warp.thread(0);
  issued.location = warp.location();
  Touch touch = copy_touch(issued, Memory::shared, agent->second.agent, static_cast<std::uint32_t>(group + 1),
                           false, quiet);
  touch.access.spread |= a_product;
  record_range(at, at + bytes, touch, touch.access.first, 0);
}

void Races::wait_products(const Warp& warp, const Warp& other, std::uint64_t group) {
  const auto agent = products_.find(agent_of(other));
  if (agent != products_.end())
    clocks_of(warp).learn(warp.live, warp.live, agent->second.agent, static_cast<std::uint32_t>(group));
}

bool Races::is_peer_copy_read(const Conflict& conflict) const {
  // Only the agent of an mbarrier's loads reads shared memory as a copy to a peer; other reads by copies are
  // those of bulk stores and products, which have agents of their own.
  return conflict.earlier.is_copy() && !conflict.earlier_write && load_of(conflict.earlier).has_value();
}

void Races::cta_exited(Cta& cta) {
  if (cluster_.size() == 1) return;
  Clock known;
  for (const auto& warp : cta.warps) {
    const Mask all = clocks_of(*warp).existing();
    clocks_of(*warp).release(all, known);
    // A thread that has waited, even relaxed, exits after the operations that it has waited for.
    add_waited(*warp, all, known);
  }
  Touch touch;
  touch.access.cluster = number_;
  touch.access.spread = no_lane;
  touch.access.location = Access::written | cta.rank << Access::rank_at;
  touch.clock = &known;
  touch.imports = &imports_;
  touch.write = true;
  Piece whole;
  whole.bytes = whole_line;
  whole.access = touch.access;
  const std::uint64_t begin = cta.in_cluster(0);
  for (std::uint64_t at = begin; at < begin + cta.shared_bytes(); at += line_bytes) {
    const auto peer = with_block(Memory::shared, at, [&](Block& block, std::uint32_t line) {
      return block.follows(line, touch) ? std::nullopt : block.check(line, whole, touch);
    });
    if (!peer || (peer->earlier.rank() == cta.rank && !is_peer_copy_read(*peer))) continue;
    // When a thread arrives at the cluster's barrier, even relaxed, its reads and its arrivals at mbarriers
    // are complete, and so are reads by copies that it has waited for.
    const Access& access = peer->earlier;
    const bool object = (access.location & Access::object) != 0;
    if ((object || !peer->earlier_write) &&
        completed_knowledge_.knows(access.agent, peer->earlier_lane, access.time))
      continue;
    report_after_exit(*peer, cta);
  }
}

void Races::wait_group(const Cta& cta, std::uint32_t thread, std::uint64_t group, bool read_only) {
  const Warp& warp = *cta.warps[thread / lanes];
  const auto agents = stores_.find(number_of(warp, thread % lanes));
  if (agents == stores_.end()) return;
  Knowledge& knowledge = clocks_of(warp);
  const Mask live = warp.live;
  const Mask lane = 1U << thread % lanes;
  const auto time = static_cast<std::uint32_t>(group);
  knowledge.learn(lane, live, agents->second.reads, time);
  if (!read_only) knowledge.learn(lane, live, agents->second.writes, time);
}

}  // namespace sim
TMAJIT_END
