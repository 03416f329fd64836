#include "sim/cta.hpp"

#include "sim/cluster.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace sim {
namespace {

/// Instructions that a warp runs before others get their turn.
constexpr std::uint32_t slice = 20'000;

/// Thread-instructions after which a CTA adds its count to the launch's, for who watches it.
constexpr std::uint64_t counted_apart = 1 << 20;

std::uint32_t threads_of(const LaunchShape& shape) {
  return shape.block[0] * shape.block[1] * shape.block[2];
}

std::uint32_t special(SpecialSlot::Kind kind, const Cta& cta, const Warp& warp, std::uint32_t lane) {
  using Kind = SpecialSlot::Kind;
  const LaunchShape& shape = cta.launch.shape;
  const auto tid = cta.thread_index(warp.index * lanes + lane);
  switch (kind) {
    case Kind::tid_x: return tid[0];
    case Kind::tid_y: return tid[1];
    case Kind::tid_z: return tid[2];
    case Kind::ntid_x: return shape.block[0];
    case Kind::ntid_y: return shape.block[1];
    case Kind::ntid_z: return shape.block[2];
    case Kind::ctaid_x: return cta.ctaid[0];
    case Kind::ctaid_y: return cta.ctaid[1];
    case Kind::ctaid_z: return cta.ctaid[2];
    case Kind::nctaid_x: return shape.grid[0];
    case Kind::nctaid_y: return shape.grid[1];
    case Kind::nctaid_z: return shape.grid[2];
    case Kind::laneid: return lane;
    case Kind::warpid: return warp.index;
    case Kind::nwarpid: return (threads_of(shape) + lanes - 1) / lanes;
    case Kind::smid: return cta.ctaid[0] % cta.launch.options.sm_count;
    case Kind::nsmid: return cta.launch.options.sm_count;
    case Kind::cluster_ctaid_x: return cta.ctaid[0] % cta.launch.cluster[0];
    case Kind::cluster_ctaid_y: return cta.ctaid[1] % cta.launch.cluster[1];
    case Kind::cluster_ctaid_z: return cta.ctaid[2] % cta.launch.cluster[2];
    case Kind::cluster_nctaid_x: return cta.launch.cluster[0];
    case Kind::cluster_nctaid_y: return cta.launch.cluster[1];
    case Kind::cluster_nctaid_z: return cta.launch.cluster[2];
    case Kind::cluster_ctarank: return cta.rank;
    case Kind::cluster_nctarank: return cta.cluster.size();
    case Kind::clusterid_x: return cta.ctaid[0] / cta.launch.cluster[0];
    case Kind::clusterid_y: return cta.ctaid[1] / cta.launch.cluster[1];
    case Kind::clusterid_z: return cta.ctaid[2] / cta.launch.cluster[2];
    case Kind::nclusterid_x: return shape.grid[0] / cta.launch.cluster[0];
    case Kind::nclusterid_y: return shape.grid[1] / cta.launch.cluster[1];
    case Kind::nclusterid_z: return shape.grid[2] / cta.launch.cluster[2];
    case Kind::lanemask_eq: return 1U << lane;
    case Kind::lanemask_le: return (1U << lane) | ((1U << lane) - 1);
    case Kind::lanemask_lt: return (1U << lane) - 1;
    case Kind::lanemask_ge: return ~((1U << lane) - 1);
    case Kind::lanemask_gt: return ~((1U << lane) | ((1U << lane) - 1));
    case Kind::dynamic_smem_size: return shape.shared_bytes;
    case Kind::total_smem_size: return cta.shared_bytes() + shared_base;
    default: return 0;
  }
}

}  // namespace

Cta::Cta(Launch& all, Cluster& peers, std::uint32_t own_rank)
    : launch(all),
      cluster(peers),
      program(all.program),
      rank(own_rank),
      engine(*this),
      small_copies(*this),
      random(all.options.seed),
      shared_bytes_((program.static_shared_bytes + launch.shape.shared_bytes + 15) / 16 * 16),
      shared_(shared_bytes_),
      shadow_(shared_bytes_),
      writers_(shared_bytes_ / 4 + 1),
      fences_(threads_of(launch.shape)) {
  const std::uint32_t threads = threads_of(launch.shape);
  const std::uint32_t count = (threads + lanes - 1) / lanes;
  registers_.resize(std::size_t{count} * program.register_bytes / 8);
  local_.resize(std::size_t{count} * lanes * program.local_bytes);
  for (std::uint32_t i = 0; i < count; ++i) {
    auto warp = std::make_unique<Warp>();
    warp->cta = this;
    warp->program = &program;
    warp->registers =
        reinterpret_cast<std::byte*>(registers_.data()) + std::size_t{i} * program.register_bytes;
    warp->local = local_.data() + std::size_t{i} * lanes * program.local_bytes;
    warp->index = i;
    fill_constants(*warp);
    warps.push_back(std::move(warp));
  }
  if (launch.order != nullptr) races = std::make_unique<Races>(*this, *launch.order);
}

void Cta::fill_constants(Warp& warp) {
  predicate(warp, true_slot) = all_lanes;
  for (const ConstantSlot& constant : program.constants) {
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
      if (constant.wide) {
        put<std::uint64_t>(warp.registers + constant.slot, lane, constant.bits);
      } else {
        put<std::uint32_t>(warp.registers + constant.slot, lane, static_cast<std::uint32_t>(constant.bits));
      }
    }
  }
}

void Cta::start(std::array<std::uint32_t, 3> index) {
  ctaid = index;
  started = ended = false;
  std::ranges::fill(shadow_, std::uint8_t{0});
  std::ranges::fill(writers_, 0U);
  std::ranges::fill(fences_, 0U);
  mbarriers_.clear();
  barriers = {};
  engine.reset();
  small_copies.reset();
  executed_ = looks_ = 0;
  thread_instructions_ = 0;
  // Each CTA its own sequence, the same whichever thread runs it.
  random.seed(launch.options.seed ^
              (ctaid[0] + 0x9e3779b9ULL * ctaid[1] + 0x85ebca6bULL * ctaid[2]) * 0x9e3779b97f4a7c15ULL);
  live_threads = threads_of(launch.shape);
  for (auto& warp : warps) {
    const std::uint32_t left = live_threads - warp->index * lanes;
    warp->live = left >= lanes ? all_lanes : (1U << left) - 1;
    warp->active = warp->live;
    warp->pc = program.first;
    warp->groups.clear();
    warp->calls.reset();
    warp->timed_out = false;
    warp->cluster_arrived = warp->cluster_passed = warp->released = 0;
    warp->update_join();
    for (const SpecialSlot& slot : program.specials) {
      if (slot.kind == SpecialSlot::Kind::is_explicit_cluster) {
        predicate(*warp, slot.slot) = launch.explicit_cluster ? all_lanes : 0;
        continue;
      }
      for (std::uint32_t lane = 0; lane < lanes; ++lane) {
        const std::uint32_t value = special(slot.kind, *this, *warp, lane);
        if (slot.wide) {
          put<std::uint64_t>(warp->registers + slot.slot, lane, value);
        } else {
          put<std::uint32_t>(warp->registers + slot.slot, lane, value);
        }
      }
    }
  }
  if (races) {
    const auto& grid = launch.shape.grid;
    races->start(ctaid[0] + grid[0] * (ctaid[1] + grid[1] * ctaid[2]));
  }
}

/// Whoever forgets a barrier should meet the others in an unlucky order: the first warp, which mostly sets
/// things up, begins last; then every other round is in order, and the rest are shuffled.
void Cta::order_warps(std::uint64_t round) {
  order_.clear();
  for (auto& warp : warps) order_.push_back(warp.get());
  if (round == 0) {
    std::ranges::reverse(order_);
  } else if (round % 2 == 0) {
    std::ranges::shuffle(order_, random);
  }
}

bool Cta::turn(std::uint64_t round) {
  bool ran = false;
  started = true;
  order_warps(round);
  for (Warp* warp : order_) {
    if (warp->live == 0) continue;
    if (!warp->choose()) {
      warp->wake([](const Wait& wait) { return wait.kind == Wait::Kind::yielded; });
      if (!warp->choose()) continue;
    }
    ran = true;
    execute(*warp, slice);
    if (launch.options.mode == SimOptions::Mode::random && random() % 4 == 0) (void)engine.deliver();
  }
  return ran;
}

void Cta::finish() {
  engine.finish();
  small_copies.reset();
  ended = true;
  ++changes;
}

void Cta::stop() {
  engine.reset();
  small_copies.reset();
  launch.thread_instructions += thread_instructions_;
}

void Cta::execute(Warp& warp, std::uint32_t most) {
  const MicroOp* const code = program.code.data();
  std::uint64_t threads = 0;
  std::uint32_t n = 0;
  for (; warp.running && n < most; ++n) {
    const MicroOp& op = code[warp.pc];
    const Mask guard = predicate(warp, op.guard & ~1U) ^ (0U - (op.guard & 1U));
    const Mask mask = warp.active & guard;
    ++warp.pc;
    threads += mask == all_lanes ? lanes : static_cast<std::uint64_t>(std::popcount(mask));
    if (mask != 0) op.handler(warp, op, mask);
    if (warp.pc >= warp.join && warp.running) warp.choose();
  }
  thread_instructions_ += threads;
  executed_ += n;
  if (thread_instructions_ >= counted_apart)
    launch.thread_instructions += std::exchange(thread_instructions_, 0);
  if (executed_ > launch.options.instruction_limit) report_limit(warp);
  // Its turn is over, and other lanes of the warp may be what it waits for.
  if (warp.running && !warp.groups.empty()) warp.park(warp.active, warp.pc, {Wait::Kind::yielded, 0, 0});
}

bool Cta::time_out() {
  bool any = false;
  for (auto& warp : warps) {
    warp->wake([&](const Wait& wait) {
      if (wait.kind != Wait::Kind::mbarrier) return false;
      return warp->timed_out = any = true;
    });
  }
  return any;
}

std::byte* Cta::global(std::uint64_t address, std::uint64_t bytes) noexcept {
  const auto& regions = launch.regions;
  const auto holds = [&](const Region& region) {
    return address >= region.begin && address - region.begin <= region.bytes &&
           bytes <= region.bytes - (address - region.begin);
  };
  if (last_region_ < regions.size() && holds(regions[last_region_])) {
    return regions[last_region_].memory.get() + (address - regions[last_region_].begin);
  }
  const auto after = std::ranges::upper_bound(regions, address, {}, &Region::begin);
  if (after == regions.begin() || !holds(*std::prev(after))) return nullptr;
  last_region_ = static_cast<std::size_t>(std::prev(after) - regions.begin());
  return std::prev(after)->memory.get() + (address - std::prev(after)->begin);
}

std::optional<std::uint32_t> Cta::shared_offset(std::uint64_t address, std::uint64_t bytes) const noexcept {
  if (address >= shared_window && address < shared_window + window_bytes) address -= shared_window;
  if (address >> rank_shift == rank + 1) address -= std::uint64_t{rank + 1} << rank_shift;
  if (address < shared_base || address - shared_base > shared_bytes_ ||
      bytes > shared_bytes_ - (address - shared_base)) {
    return std::nullopt;
  }
  return static_cast<std::uint32_t>(address - shared_base);
}

bool Cta::is_peer_address(std::uint64_t address, Space space) const noexcept {
  if (address >= shared_window && address < shared_window + window_bytes) {
    address -= shared_window;
  } else if (space != Space::shared) {
    return false;
  }
  const std::uint64_t named = address >> rank_shift;
  return named != 0 && named != rank + 1;
}

std::string Cta::describe_global(std::uint64_t address, std::uint64_t bytes) const {
  const auto& regions = launch.regions;
  if (regions.empty()) return "nothing is allocated";
  const auto after = std::ranges::upper_bound(regions, address, {}, &Region::begin);
  const bool below = after != regions.begin();
  const Region& near = below ? *std::prev(after) : *after;
  const std::uint64_t end = near.begin + near.bytes;
  if (!below) {
    return fmt::format("no allocation holds it; the first, {} bytes, begins at {:#x}", near.bytes,
                       near.begin);
  }
  if (address < end) {
    return fmt::format("{} bytes more than the {} left of the allocation of {} bytes at {:#x}",
                       bytes - (end - address), end - address, near.bytes, near.begin);
  }
  return fmt::format("no allocation holds it; the one before, {} bytes at {:#x}, ends {} bytes earlier",
                     near.bytes, near.begin, address - end);
}

Mbarrier* Cta::mbarrier(std::uint32_t offset) noexcept {
  const auto found = mbarriers_.find(offset);
  return found == mbarriers_.end() ? nullptr : &found->second;
}

Mbarrier& Cta::make_mbarrier(std::uint32_t offset) {
  std::memset(shadow_.data() + offset, initialised | in_mbarrier, 8);
  std::memset(shared_.data() + offset, 0xba, 8);
  return mbarriers_[offset] = {};
}

void Cta::drop_mbarrier(std::uint32_t offset) {
  std::memset(shadow_.data() + offset, 0, 8);
  mbarriers_.erase(offset);
}

void Cta::fence_mbarriers(std::uint32_t thread) {
  for (auto& [offset, barrier] : mbarriers_) {
    if (((barrier.writer - 1) & 1023) == thread) barrier.fenced = true;
  }
}

void Cta::settle(std::uint32_t offset, Mbarrier& barrier) {
  ++changes;
  if (barrier.pending != 0 || barrier.bytes != 0) return;
  ++barrier.phase;
  barrier.pending = barrier.expected;
  if (races) races->mbarrier_phase(offset);
  for (auto& warp : warps) {
    warp->wake([&](const Wait& wait) { return wait.kind == Wait::Kind::mbarrier && wait.what == offset; });
  }
}

void Cta::release_barrier(std::uint32_t id) {
  ++changes;
  const NamedBarrier state = std::exchange(barriers[id], {});
  for (auto& warp : warps) {
    bool waits = false;
    for (Group& group : warp->groups) {
      if (group.wait.kind != Wait::Kind::barrier || group.wait.what != id) continue;
      waits = true;
      group.wait = {};
      if (races) races->barrier_pass(id, *warp, group.mask);
    }
    if (waits) {
      warp->reductions[id] = state.said;
      warp->reduced[id] = state.arrived;
    }
    warp->update_join();
  }
  if (races) races->barrier_done(id);
}

void Cta::threads_exited(Warp& warp, Mask mask) {
  live_threads -= static_cast<std::uint32_t>(std::popcount(mask));
  cluster.threads_exited(warp, mask);
  ++changes;
  for (std::uint32_t id = 0; id < barriers.size(); ++id) {
    const NamedBarrier& barrier = barriers[id];
    if (barrier.arrived > 0 && barrier.expected == 0 && barrier.arrived >= live_threads) release_barrier(id);
  }
}

std::array<std::uint32_t, 3> Cta::thread_index(std::uint32_t thread) const noexcept {
  const auto& block = launch.shape.block;
  return {thread % block[0], thread / block[0] % block[1], thread / block[0] / block[1]};
}

}  // namespace sim
TMAJIT_END
