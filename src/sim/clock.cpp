#include "sim/clock.hpp"

#include "sim/warp.hpp"

#include <algorithm>

TMAJIT_BEGIN
namespace sim {

void Clock::learn(Agent agent, std::uint32_t time) {
  if (agent >= all_.size()) all_.resize(agent + 1U);
  all_[agent] = std::max(all_[agent], time);
}

void Clock::learn(Agent warp, Mask of, Mask existing, std::uint32_t time) {
  if (of == existing) {
    learn(warp, time);
    if (!lanes_.empty()) settle();
    return;
  }
  auto* apart = const_cast<Lanes*>(find(warp));
  if (apart == nullptr) {
    apart = &lanes_.emplace_back(Lanes{warp, {}});
    for (std::uint32_t lane = 0; lane < lanes; ++lane)
      apart->times[lane] = (existing >> lane & 1) != 0 ? all(warp) : forever;
  }
  for (std::uint32_t lane = 0; lane < lanes; ++lane) {
    if ((of >> lane & 1) != 0) apart->times[lane] = std::max(apart->times[lane], time);
  }
  settle();
}

void Clock::join(const Clock& other) {
  if (other.all_.size() > all_.size()) all_.resize(other.all_.size());
  for (std::size_t i = 0; i < other.all_.size(); ++i) all_[i] = std::max(all_[i], other.all_[i]);
  if (lanes_.empty() && other.lanes_.empty()) return;
  for (const Lanes& theirs : other.lanes_) {
    auto* mine = const_cast<Lanes*>(find(theirs.warp));
    if (mine == nullptr) {
      lanes_.push_back(theirs);
    } else {
      for (std::uint32_t lane = 0; lane < lanes; ++lane)
        mine->times[lane] = std::max(mine->times[lane], theirs.times[lane]);
    }
  }
  settle();
}

/// Raises each lane to what is known of all lanes, and drops lanes where all are known alike.
void Clock::settle() {
  std::erase_if(lanes_, [&](Lanes& apart) {
    const std::uint32_t low = std::max(all(apart.warp), *std::ranges::min_element(apart.times));
    learn(apart.warp, low);
    bool alike = true;
    for (std::uint32_t& time : apart.times) {
      time = std::max(time, low);
      alike = alike && (time == low || time == forever);
    }
    return alike;
  });
}

void Knowledge::start(Agent warp, Mask existing) {
  common_.clear();
  apart_ = 0;
  existing_ = existing;
  warp_ = warp;
  time_ = 1;
}

Clock& Knowledge::apart(std::uint32_t lane) {
  if ((apart_ >> lane & 1) == 0) {
    apart_ |= 1U << lane;
    if (own_[lane] == nullptr) own_[lane] = std::make_unique<Clock>();
    *own_[lane] = common_;
  }
  return *own_[lane];
}

void Knowledge::release(Mask mask, Clock& target) const {
  if ((mask & ~apart_) != 0) target.join(common_);
  for_lanes(mask & apart_, [&](std::uint32_t lane) { target.join(*own_[lane]); });
  target.learn(warp_, mask, existing_, time_);
}

void Knowledge::acquire(Mask mask, Mask live, const Clock& source) {
  const bool all = (live & ~mask) == 0;
  if (all) common_.join(source);
  for_lanes(all ? mask & apart_ : mask, [&](std::uint32_t lane) { apart(lane).join(source); });
}

void Knowledge::learn(Mask mask, Mask live, Agent agent, std::uint32_t time) {
  const bool all = (live & ~mask) == 0;
  if (all) common_.learn(agent, time);
  for_lanes(all ? mask & apart_ : mask, [&](std::uint32_t lane) { apart(lane).learn(agent, time); });
}

void Knowledge::meet(Mask mask, Mask live) {
  if ((live & ~mask) == 0) {
    for_lanes(mask & apart_, [&](std::uint32_t lane) { common_.join(*own_[lane]); });
    apart_ = 0;
    common_.learn(warp_, mask, existing_, time_);
  } else {
    Clock together;
    release(mask, together);
    for_lanes(mask, [&](std::uint32_t lane) { apart(lane) = together; });
  }
  tick();
}

void Releases::add(std::uint64_t address, Release release) {
  const std::lock_guard lock(mutex_);
  const Release*& head = heads_[address];
  release.before = head;
  // Those of one CTA in a row are one, or a spinning counter would make a chain of every turn.
  if (head != nullptr && head->cluster == release.cluster && head->rank == release.rank &&
      head->wide == release.wide) {
    release.clock.join(head->clock);
    release.sequential = release.sequential || head->sequential;
    release.before = head->before;
    for (const Release* known : head->imports) {
      if (std::ranges::find(release.imports, known) == release.imports.end())
        release.imports.push_back(known);
    }
  }
  head = &all_.emplace_back(std::move(release));
}

const Release* Releases::latest(std::uint64_t address) {
  const std::lock_guard lock(mutex_);
  const auto found = heads_.find(address);
  return found == heads_.end() ? nullptr : found->second;
}

void Releases::clear() {
  const std::lock_guard lock(mutex_);
  heads_.clear();
  all_.clear();
}

std::vector<const Release*> Imports::closure(Agent agent, const Release& release) const {
  const auto list = std::ranges::find(lists_, agent, &List::agent);
  const auto met = [&](const Release* one) { return list != lists_.end() && list->met.contains(one); };
  std::vector<const Release*> all;
  std::unordered_set<const Release*> seen;
  std::vector<const Release*> open{&release};
  while (!open.empty()) {
    const Release* const next = open.back();
    open.pop_back();
    if (next == nullptr || met(next) || !seen.insert(next).second) continue;
    all.push_back(next);
    open.push_back(next->before);
    open.insert(open.end(), next->imports.begin(), next->imports.end());
  }
  return all;
}

std::uint32_t Imports::keep(Agent agent, const Release& release, const std::vector<const Release*>& fresh) {
  auto list = std::ranges::find(lists_, agent, &List::agent);
  if (list == lists_.end()) list = lists_.insert(list, List{agent, {}, {}, {}});
  list->heads.push_back(&release);
  const auto time = static_cast<std::uint32_t>(list->heads.size());
  for (const Release* found : fresh) {
    list->met.insert(found);
    if (found->wide) list->by_cluster[found->cluster].push_back({found, time});
  }
  return time;
}

std::uint32_t Imports::time_of(Agent agent) const {
  const auto list = std::ranges::find(lists_, agent, &List::agent);
  return list == lists_.end() ? 0 : static_cast<std::uint32_t>(list->heads.size());
}

bool Imports::know(const Clock& clock, std::uint32_t cluster, Agent agent, std::uint32_t lane,
                   std::uint32_t time) const {
  return std::ranges::any_of(lists_, [&](const List& list) {
    const auto found = list.by_cluster.find(cluster);
    if (found == list.by_cluster.end()) return false;
    return std::ranges::any_of(found->second, [&](const Seen& seen) {
      return seen.time <= clock.all(list.agent) && seen.release->clock.knows(agent, lane, time);
    });
  });
}

std::vector<const Release*> Imports::of(const Clock& clock) const {
  std::vector<const Release*> heads;
  for (const List& list : lists_) {
    const std::size_t known = std::min<std::size_t>(clock.all(list.agent), list.heads.size());
    heads.insert(heads.end(), list.heads.begin(), list.heads.begin() + static_cast<std::ptrdiff_t>(known));
  }
  return heads;
}

}  // namespace sim
TMAJIT_END
