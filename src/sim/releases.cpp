#include "sim/releases.hpp"

#include <algorithm>

TMAJIT_BEGIN
namespace sim {

void Releases::add(std::uint64_t address, Release release) {
  const std::lock_guard lock(mutex_);
  const Release*& head = heads_[address];
  release.before = head;
  // Those of one CTA in a row are one, or a spinning counter would make a chain of every turn.
  if (head != nullptr && head->cta == release.cta && head->wide == release.wide) {
    release.clock.join(head->clock);
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
    if (found->wide) list->by_cta[found->cta].push_back({found, time});
  }
  return time;
}

std::uint32_t Imports::time_of(Agent agent) const {
  const auto list = std::ranges::find(lists_, agent, &List::agent);
  return list == lists_.end() ? 0 : static_cast<std::uint32_t>(list->heads.size());
}

bool Imports::know(const Clock& clock, std::uint32_t cta, Agent agent, std::uint32_t lane,
                   std::uint32_t time) const {
  return std::ranges::any_of(lists_, [&](const List& list) {
    const auto found = list.by_cta.find(cta);
    if (found == list.by_cta.end()) return false;
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
