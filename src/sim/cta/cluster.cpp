#include "sim/causes/causes.hpp"
#include "sim/cta/cta.hpp"
#include "sim/cta/warpgroup.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace sim {
namespace {

/// Delayed accesses and copies act after this many rounds even if threads still make changes: threads that
/// spin with atomics make changes in every round.
constexpr std::uint64_t rounds_before_delivery = 16;

/// Moves the lines that contain `part` to the front. Each line of `text` begins with a line break.
std::string move_first(const std::string& text, const std::string& part) {
  std::string before;
  std::string after;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at + 1), text.size());
    const std::string line = text.substr(at, end - at);
    (line.find(part) != std::string::npos ? before : after) += line;
    at = end;
  }
  return before + after;
}

}  // namespace

Cluster::Cluster(Launch& launch) : launch_(launch) {
  for (std::uint32_t rank = 0; rank < volume(launch.cluster); ++rank)
    ctas_.push_back(std::make_unique<Cta>(launch, *this, rank));
  if (launch.order == nullptr) return;
  races_ = std::make_unique<Races>(*this, launch);
  for (auto& cta : ctas_) cta->races = races_.get();
}

std::uint32_t Cluster::live_threads() const noexcept {
  return std::accumulate(ctas_.begin(), ctas_.end(), 0U,
                         [](std::uint32_t sum, const auto& cta) { return sum + cta->live_threads; });
}

std::uint64_t Cluster::changes() const noexcept {
  return std::accumulate(ctas_.begin(), ctas_.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const auto& cta) { return sum + cta->changes; });
}

void Cluster::begin(std::uint64_t number) {
  barrier_ = {};
  origins_.clear();
  busy_ = round_ = 0;
  quiet_ = false;
  changes_at_time_out_ = ~0ULL;
  // The CTA that runs first finds that its peers have not begun. The cluster's position in the grid and the
  // seed decide whether the lowest or the highest rank runs first.
  const Triple first = launch_.ctaid(number, 0);
  std::uint64_t parity = launch_.options.seed;
  for (std::size_t d = 0; d < 3; ++d) parity += first[d] / launch_.cluster[d];
  ascending_ = (parity & 1) != 0;
  order_.clear();
  for (std::uint32_t rank = 0; rank < size(); ++rank) {
    ctas_[rank]->start(launch_.ctaid(number, rank));
    order_.push_back(ctas_[rank].get());
  }
  if (!ascending_) std::ranges::reverse(order_);
  if (races_) races_->start(static_cast<std::uint32_t>(number));
}

bool Cluster::step() {
  if (live_threads() > 0 && !launch_.stopped) {
    try {
      play_round();
      return true;
    } catch (const Stop& stop) {
      launch_.stopped = true;
      if (launch_.allows(stop.rule)) launch_.reports.explain_stop(stop.rule);
    }
  }
  for (auto& cta : ctas_) cta->stop();
  return false;
}

void Cluster::play_round() {
  const std::uint64_t before = changes();
  const bool ran = turn(round_++);
  quiet_ = changes() == before;
  // Copies and delayed accesses act as late as they may: when the warps only wait or spin.
  if (!quiet_ && ++busy_ < rounds_before_delivery) return;
  busy_ = 0;
  const bool accesses_first = size() > 1 && (ctas_[0]->random() & 1) != 0;
  if ((accesses_first && release_delayed()) || deliver() || release_delayed() || changes() != before) return;
  if (!ran && !time_out() && live_threads() > 0) report_deadlock();
}

bool Cluster::turn(std::uint64_t round) {
  if (size() > 1 && round > 0 && round % 2 == 0) std::ranges::shuffle(order_, ctas_[0]->random);
  bool ran = false;
  for (Cta* cta : order_) {
    if (cta->live_threads == 0) continue;
    ran = cta->turn(round, quiet_) || ran;
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
  barrier_.arrived += count_of(mask);
  ++warp.cta->changes;
  complete_barrier();
}

void Cluster::threads_exited(Warp& warp, Mask mask) {
  barrier_.arrived -= count_of(warp.cluster_arrived & mask);
  warp.cluster_arrived &= ~mask;
  complete_barrier();
}

void Cluster::complete_barrier() {
  if (barrier_.arrived == 0 || barrier_.arrived < live_threads()) return;
  barrier_.arrived = 0;
  ++barrier_.phase;
  if (races_) races_->cluster_phase();
  for (auto& cta : ctas_) {
    ++cta->changes;
    for (auto& warp : cta->warps) {
      warp->cluster_passed |= std::exchange(warp->cluster_arrived, 0);
      warp->wake([](const Wait& wait) { return wait.kind == Wait::Kind::cluster; });
    }
  }
}

bool Cluster::delay_peer_access(Warp& warp, const MemoryAccess& access, Mask mask) {
  if (size() == 1) return false;
  // Before the first phase of the cluster's barrier is over, nothing is delayed: an access then detects a
  // peer that has not begun.
  if (barrier_.phase == 0 || launch_.options.mode == SimOptions::Mode::early) return false;
  if (launch_.options.mode == SimOptions::Mode::random && (ctas_[0]->random() & 1) != 0) return false;
  if ((mask & ~warp.released) == 0) {
    warp.released &= ~mask;
    return false;
  }
  Mask reaching = 0;  // lanes that access a peer
  for_lanes(mask, [&](std::uint32_t lane) {
    if (warp.cta->is_peer_address(address_of(warp, access, lane), access.space)) reaching |= 1U << lane;
  });
  if (reaching == 0) return false;
  warp.park(mask, warp.here(), {Wait::Kind::delayed, 0, 0});
  return true;
}

bool Cluster::release_delayed() {
  bool any = false;
  for (auto& cta : ctas_) {
    for (auto& warp : cta->warps) {
      for (Group& group : warp->groups) {
        if (group.wait.kind != Wait::Kind::delayed) continue;
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
  report_wrong_bytes(*this);
  const std::optional<DeadlockCause> cause = why_deadlock(*this);
  std::string found = cause ? cause->why.found + "; " : "";
  found += size() == 1
               ? "no thread of the CTA can continue, and the copy engine has nothing to deliver:"
               : "no thread of the cluster can continue, and the copy engines have nothing to deliver:";
  Cta* first = nullptr;
  std::string waits;
  for (auto& cta : ctas_) {
    if (cta->live_threads == 0) continue;
    waits += cta->describe_waits();
    if (first == nullptr) first = cta.get();
  }
  if (cause) waits = move_first(waits, cause->first);
  found += waits;
  // Lagging warps of a warpgroup explain an uncertain cause. A certain cause may have made warps lag.
  if (cause &&
      (cause->certain || !std::ranges::any_of(ctas_, [](auto& cta) { return report_lagging_warps(*cta); }))) {
    const Cause& why = cause->why;
    About about;
    about.leads = cause->certain;
    why.cta->report(why.thread, why.location, why.rule, std::move(found), why.expected, why.remedy,
                    std::move(about));
    throw Stop{why.rule->id};
  }
  if (cause) throw Stop{};
  first->report_deadlock(std::move(found));
}

}  // namespace sim
TMAJIT_END
