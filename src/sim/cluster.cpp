#include "sim/cluster.hpp"

#include "sim/memory_access.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

TMAJIT_BEGIN
namespace sim {
namespace {

/// Rounds of turns after which what waits for the others to come to rest happens all the same: threads that
/// spin with atomics never do.
constexpr std::uint64_t patience = 16;

}  // namespace

Cluster::Cluster(Launch& launch) : launch_(launch) {
  const auto& extent = launch.cluster;
  for (std::uint32_t rank = 0; rank < extent[0] * extent[1] * extent[2]; ++rank)
    ctas_.push_back(std::make_unique<Cta>(launch, *this, rank));
}

std::uint32_t Cluster::live_threads() const noexcept {
  return std::accumulate(ctas_.begin(), ctas_.end(), 0U,
                         [](std::uint32_t sum, const auto& cta) { return sum + cta->live_threads; });
}

std::uint64_t Cluster::changes() const noexcept {
  return std::accumulate(ctas_.begin(), ctas_.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const auto& cta) { return sum + cta->changes; });
}

void Cluster::run(std::array<std::uint32_t, 3> clusterid) {
  const auto& extent = launch_.cluster;
  barrier_ = {};
  changes_at_time_out_ = ~0ULL;
  // Whoever goes first meets peers that have not begun: both ends of the row have their turn at it.
  ascending_ = ((clusterid[0] + clusterid[1] + clusterid[2] + launch_.options.seed) & 1) != 0;
  order_.clear();
  for (std::uint32_t rank = 0; rank < size(); ++rank) {
    ctas_[rank]->start({clusterid[0] * extent[0] + rank % extent[0],
                        clusterid[1] * extent[1] + rank / extent[0] % extent[1],
                        clusterid[2] * extent[2] + rank / extent[0] / extent[1]});
    order_.push_back(ctas_[rank].get());
  }
  if (!ascending_) std::ranges::reverse(order_);
  try {
    std::uint64_t busy = 0;
    for (std::uint64_t round = 0; live_threads() > 0 && !launch_.stopped; ++round) {
      const std::uint64_t before = changes();
      const bool ran = turn(round);
      // Late as the copy engine and accesses to peers are, they happen when the warps only wait or spin.
      if (changes() != before && ++busy < patience) continue;
      busy = 0;
      const bool held_first = size() > 1 && (ctas_[0]->random() & 1) != 0;
      if ((held_first && release_held()) || deliver() || release_held() || changes() != before) continue;
      if (!ran && !time_out() && live_threads() > 0) report_deadlock();
    }
  } catch (const Stop&) {
    launch_.stopped = true;
  }
  for (auto& cta : ctas_) cta->stop();
}

bool Cluster::turn(std::uint64_t round) {
  if (size() > 1 && round > 0 && round % 2 == 0) std::ranges::shuffle(order_, ctas_[0]->random);
  bool ran = false;
  for (Cta* cta : order_) {
    if (cta->live_threads == 0) continue;
    ran = cta->turn(round) || ran;
    if (cta->live_threads == 0 && !launch_.stopped) cta->finish();
  }
  return ran;
}

bool Cluster::deliver() {
  return std::ranges::any_of(order_,
                             [](Cta* cta) { return cta->engine.deliver() || cta->small_copies.deliver(); });
}

bool Cluster::time_out() {
  if (changes() == changes_at_time_out_) return false;
  changes_at_time_out_ = changes();
  bool any = false;
  for (auto& cta : ctas_) any = cta->time_out() || any;
  return any;
}

void Cluster::arrive(Warp& warp, Mask mask) {
  warp.cluster_arrived |= mask;
  barrier_.arrived += static_cast<std::uint32_t>(std::popcount(mask));
  ++warp.cta->changes;
  complete_barrier();
}

void Cluster::threads_exited(Warp& warp, Mask mask) {
  barrier_.arrived -= static_cast<std::uint32_t>(std::popcount(warp.cluster_arrived & mask));
  warp.cluster_arrived &= ~mask;
  complete_barrier();
}

void Cluster::complete_barrier() {
  if (barrier_.arrived == 0 || barrier_.arrived < live_threads()) return;
  barrier_.arrived = 0;
  ++barrier_.phase;
  for (auto& cta : ctas_) {
    ++cta->changes;
    for (auto& warp : cta->warps) {
      warp->cluster_passed |= std::exchange(warp->cluster_arrived, 0);
      warp->wake([](const Wait& wait) { return wait.kind == Wait::Kind::cluster; });
    }
  }
}

bool Cluster::hold(Warp& warp, const MemoryAccess& access, Mask mask) {
  // Before the cluster has met once, accesses happen at once: the peer may not have begun.
  if (barrier_.phase == 0 || launch_.options.mode == SimOptions::Mode::early) return false;
  if (launch_.options.mode == SimOptions::Mode::random && (ctas_[0]->random() & 1) != 0) return false;
  if ((mask & ~warp.released) == 0) {
    warp.released &= ~mask;
    return false;
  }
  Mask reaching = 0;
  for_lanes(mask, [&](std::uint32_t lane) {
    if (warp.cta->is_peer_address(address_of(warp, access, lane), access.space)) reaching |= 1U << lane;
  });
  if (reaching == 0) return false;
  warp.park(mask, warp.here(), {Wait::Kind::held, 0, 0});
  return true;
}

bool Cluster::release_held() {
  bool any = false;
  for (auto& cta : ctas_) {
    for (auto& warp : cta->warps) {
      for (Group& group : warp->groups) {
        if (group.wait.kind != Wait::Kind::held) continue;
        warp->released |= group.mask;
        group.wait = {};
        any = true;
      }
      warp->update_join();
    }
  }
  return any;
}

void Cluster::report_deadlock() {
  std::string found =
      size() == 1 ? "no thread of the CTA can go on, and the copy engine has nothing to deliver:"
                  : "no thread of the cluster can go on, and the copy engines have nothing to deliver:";
  Cta* first = nullptr;
  for (auto& cta : ctas_) {
    if (cta->live_threads == 0) continue;
    found += cta->describe_waits();
    if (first == nullptr) first = cta.get();
  }
  first->report_deadlock(std::move(found));
}

}  // namespace sim
TMAJIT_END
