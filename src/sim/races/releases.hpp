#pragma once

/// Synchronisation through memory: the releases that threads publish at an address, and which threads have
/// acquired them (PTX ISA, "Memory Consistency Model": release and acquire patterns).
#include "sim/races/clock.hpp"

#include <algorithm>
#include <atomic>
#include <deque>
#include <map>
#include <mutex>
#include <unordered_map>
#include <unordered_set>
#include <vector>

TMAJIT_BEGIN
namespace sim {

struct Release;

/// A linked list of the releases of other clusters that a thread has acquired, the last one first.
struct Acquired {
  const Release* release = nullptr;
  const Acquired* before = nullptr;
  std::uint32_t time = 0;    ///< length of the list
  std::uint64_t number = 0;  ///< at least Release::number of every release in the list
};

/// A release by a thread, with the thread's knowledge. Immutable once Releases::latest() can return it.
struct Release {
  /// The releases of other clusters that an agent of this cluster had acquired.
  struct Import {
    Agent agent = 0;
    const Acquired* last = nullptr;
  };

  std::uint32_t cluster = 0;
  std::uint32_t rank = 0;   ///< rank of the CTA in the cluster
  bool wide = false;        ///< the release has a scope wider than the CTA
  bool sequential = false;  ///< the release is by a fence.sc
  Clock clock;
  const Release* before = nullptr;   ///< the previous release at this address
  const Release* foreign = nullptr;  ///< the last previous release at this address by another cluster
  std::uint64_t number = 0;  ///< in the launch; larger than the numbers of all releases that led to this one
  std::vector<Import> imports;  ///< imports that the thread knew
};

/// The releases at each address of the launch's global memory or of a cluster's shared memory. They live as
/// long as this object. Thread-safe.
///
/// An acquire synchronises with all releases at its address so far. The ISA excludes releases before a later
/// plain store, so a race can be missed; none is reported wrongly.
class Releases {
 public:
  /// `numbers` is the launch's counter of releases.
  explicit Releases(std::atomic<std::uint64_t>& numbers) : numbers_(numbers) {}

  /// Adds a release and returns its number.
  std::uint64_t add(std::uint64_t address, Release release);
  /// The latest release at an address; null if there is none.
  [[nodiscard]] const Release* latest(std::uint64_t address);
  /// Returns the list `before` with `release` added.
  [[nodiscard]] const Acquired* append(const Release& release, const Acquired* before);
  void clear();

 private:
  std::atomic<std::uint64_t>& numbers_;
  std::mutex mutex_;
  std::unordered_map<std::uint64_t, const Release*> heads_;
  std::deque<Release> all_;
  std::deque<Acquired> acquired_;
};

/// The releases that the threads of a cluster have acquired from other clusters (imports). Each set of lanes
/// that acquires is an agent, whose time is the number of releases that it has acquired. An acquired release
/// contains the releases that its thread had acquired before, and so on. This chain is searched only when
/// knows() asks, the latest releases first, and only as far as necessary.
class Imports {
 public:
  /// Resets the state for the cluster with this number.
  void start(std::uint32_t cluster);
  /// Called with the number of each release by the cluster itself. Searches ignore releases with numbers
  /// below the lowest of these.
  void note_own_release(std::uint64_t number) noexcept { first_ = std::min(first_, number); }

  /// Adds a release that `agent` has acquired, and returns the agent's time. `wide`: the scope of the acquire
  /// is wider than the CTA. Calls visit(own) for each release `own` of this cluster that led to `release`,
  /// unless it has been visited for this agent before.
  template <typename Visit>
  std::uint32_t add(Agent agent, const Release& release, bool wide, Releases& releases, const Visit& visit) {
    List& list = lists_[agent];
    visit_own_releases(list, release, visit);
    const Release* const foreign = release.cluster != cluster_ ? &release : release.foreign;
    if (wide && foreign != nullptr && list.acquired_set.insert(foreign).second) {
      list.acquired.push_back(
          releases.append(*foreign, list.acquired.empty() ? nullptr : list.acquired.back()));
      list.open[static_cast<std::uint32_t>(list.acquired.size())].push_back({foreign, nullptr});
    }
    return static_cast<std::uint32_t>(list.acquired.size());
  }
  /// Whether a thread with this clock knows the accesses at `time` of an agent of another cluster, in lane
  /// `lane`.
  [[nodiscard]] bool knows(const Clock& clock, std::uint32_t cluster, Agent agent, std::uint32_t lane,
                           std::uint32_t time);
  /// The releases of other clusters that a thread with this clock has acquired, by agent.
  [[nodiscard]] std::vector<Release::Import> of(const Clock& clock) const;

 private:
  struct Seen {
    const Release* release;
    std::uint32_t time;  ///< of the importing agent: a clock with this time includes the release
  };
  /// A node of the search: either a release, or a list of acquired releases.
  struct Step {
    const Release* release = nullptr;
    const Acquired* acquired = nullptr;
  };
  /// The imports of one agent.
  struct List {
    std::vector<const Acquired*> acquired;
    std::unordered_set<const Release*> acquired_set;
    std::unordered_set<const void*> visited_own;  ///< steps visited by visit_own_releases()
    // The time of a step is that of the acquired release from which the search reached it.
    std::map<std::uint32_t, std::deque<Step>> open;                   ///< steps to be visited, by time
    std::unordered_map<const void*, std::uint32_t> reached;           ///< the least time of each visited step
    std::unordered_map<std::uint32_t, std::vector<Seen>> by_cluster;  ///< releases found, by their cluster
  };

  /// Visits `release`, if it is of this cluster, and the releases of this cluster that led to it. The search
  /// does not go past a release of this cluster to its imports, because its clock includes them.
  template <typename Visit>
  void visit_own_releases(List& list, const Release& release, const Visit& visit) {
    std::vector<Step> open{{&release, nullptr}};
    while (!open.empty()) {
      const Step step = open.back();
      open.pop_back();
      const std::uint64_t number = step.release != nullptr ? step.release->number : step.acquired->number;
      if (number < first_ || !list.visited_own.insert(key(step)).second) continue;
      if (step.release != nullptr && step.release->cluster == cluster_) visit(*step.release);
      follow(step, [&](const Step& next) { open.push_back(next); });
    }
  }
  /// Calls add(step) for each step that directly led to `step`.
  template <typename Add>
  void follow(const Step& step, const Add& add) const {
    if (step.acquired != nullptr) {
      add({step.acquired->release, nullptr});
      if (step.acquired->before != nullptr) add({nullptr, step.acquired->before});
      return;
    }
    if (step.release->before != nullptr) add({step.release->before, nullptr});
    if (step.release->cluster == cluster_) return;
    for (const Release::Import& import : step.release->imports) add({nullptr, import.last});
  }
  /// Identifies a step.
  [[nodiscard]] static const void* key(const Step& step) noexcept {
    return step.release != nullptr ? static_cast<const void*>(step.release) : step.acquired;
  }
  /// Visits one more step with a time up to `time`. Returns false if there is none.
  bool expand(List& list, std::uint32_t time);

  std::uint32_t cluster_ = 0;
  std::uint64_t first_ = ~0ULL;  ///< the lowest number of a release by this cluster
  std::unordered_map<Agent, List> lists_;
};

}  // namespace sim
TMAJIT_END
