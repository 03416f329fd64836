#include "sim/races/releases.hpp"

#include <algorithm>

TMAJIT_BEGIN
namespace sim {

std::uint64_t Releases::add(std::uint64_t address, Release release) {
  const std::lock_guard lock(mutex_);
  const Release*& head = heads_[address];
  release.before = head;
  // Consecutive releases of one CTA are merged. Otherwise a loop that spins on a counter would add a release
  // in every iteration.
  if (head != nullptr && head->cluster == release.cluster && head->rank == release.rank &&
      head->wide == release.wide) {
    release.clock.join(head->clock);
    release.sequential = release.sequential || head->sequential;
    release.before = head->before;
    for (const Release::Import& known : head->imports) {
      const auto own = std::ranges::find(release.imports, known.agent, &Release::Import::agent);
      if (own == release.imports.end()) {
        release.imports.push_back(known);
      } else if (own->last->time < known.last->time) {
        own->last = known.last;
      }
    }
  }
  if (release.before != nullptr) {
    const Release& before = *release.before;
    release.foreign = before.cluster != release.cluster ? &before : before.foreign;
  }
  release.number = ++numbers_;
  head = &all_.emplace_back(std::move(release));
  return head->number;
}

const Release* Releases::latest(std::uint64_t address) {
  const std::lock_guard lock(mutex_);
  const auto found = heads_.find(address);
  return found == heads_.end() ? nullptr : found->second;
}

const Acquired* Releases::append(const Release& release, const Acquired* before) {
  const std::lock_guard lock(mutex_);
  return &acquired_.emplace_back(
      Acquired{&release, before, before == nullptr ? 1 : before->time + 1, numbers_.load()});
}

void Releases::clear() {
  const std::lock_guard lock(mutex_);
  heads_.clear();
  all_.clear();
  acquired_.clear();
}

void Imports::start(std::uint32_t cluster) {
  cluster_ = cluster;
  first_ = ~0ULL;
  lists_.clear();
}

bool Imports::expand(List& list, std::uint32_t time) {
  auto latest = list.open.upper_bound(time);
  if (latest == list.open.begin()) return false;
  --latest;
  const std::uint32_t from = latest->first;
  const Step step = latest->second.front();
  latest->second.pop_front();
  if (latest->second.empty()) list.open.erase(latest);
  const auto [reached, fresh] = list.reached.try_emplace(key(step), from);
  if (!fresh && reached->second <= from) return true;
  reached->second = from;
  if (step.release != nullptr && step.release->wide && step.release->cluster != cluster_)
    list.by_cluster[step.release->cluster].push_back({step.release, from});
  follow(step, [&](const Step& next) { list.open[from].push_back(next); });
  return true;
}

bool Imports::knows(const Clock& clock, std::uint32_t cluster, Agent agent, std::uint32_t lane,
                    std::uint32_t time) {
  for (auto& [importer, list] : lists_) {
    const std::uint32_t known = clock.time_of(importer);
    if (known == 0) continue;
    std::vector<Seen>& of_cluster = list.by_cluster[cluster];
    const auto includes_access = [&](const Seen& seen) {
      return seen.time <= known && seen.release->clock.knows(agent, lane, time);
    };
    if (std::any_of(of_cluster.rbegin(), of_cluster.rend(), includes_access)) return true;
    for (std::size_t checked = of_cluster.size(); expand(list, known);) {
      for (; checked < of_cluster.size(); ++checked) {
        if (includes_access(of_cluster[checked])) return true;
      }
    }
  }
  return false;
}

std::vector<Release::Import> Imports::of(const Clock& clock) const {
  std::vector<Release::Import> all;
  for (const auto& [agent, list] : lists_) {
    const std::size_t known = std::min<std::size_t>(clock.time_of(agent), list.acquired.size());
    if (known != 0) all.push_back({agent, list.acquired[known - 1]});
  }
  return all;
}

}  // namespace sim
TMAJIT_END
