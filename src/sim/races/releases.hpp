#pragma once

/// Order made through memory: what fences, releases and atomics publish at an address, and which threads have
/// acquired it (PTX ISA, "Memory Consistency Model": release and acquire patterns).
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

/// A release of another cluster that a thread has acquired, as a list with those that it had acquired before.
struct Acquired {
  const Release* release = nullptr;
  const Acquired* before = nullptr;
  std::uint32_t time = 0;    ///< length of the list
  std::uint64_t number = 0;  ///< upper bound of Release::number of all releases that lead here
};

/// The knowledge and accesses of a thread at its release. Immutable once Releases::latest() can return it.
struct Release {
  /// The releases of other clusters that an agent of this cluster had acquired.
  struct Import {
    Agent agent = 0;
    const Acquired* last = nullptr;
  };

  std::uint32_t cluster = 0;
  std::uint32_t rank = 0;   ///< rank of the CTA in the cluster
  bool wide = false;        ///< its scope is wider than its CTA
  bool sequential = false;  ///< a fence.sc made it
  Clock clock;
  const Release* before = nullptr;   ///< the previous release at this address
  const Release* foreign = nullptr;  ///< the last previous release at this address by another cluster
  std::uint64_t number = 0;          ///< larger than the numbers of all releases that lead here
  std::vector<Import> imports;       ///< imports that the thread knew
};

/// The releases at each address of the launch's global memory or of a cluster's shared memory. They live as
/// long as this object. Thread-safe.
///
/// An acquire synchronises with all releases at the address so far. These are more than the ISA says if a
/// plain store came in between. They are never fewer, although several host threads run the CTAs.
class Releases {
 public:
  /// `numbers` counts the releases of the whole launch.
  explicit Releases(std::atomic<std::uint64_t>& numbers) : numbers_(numbers) {}

  /// Adds a release and returns its number.
  std::uint64_t add(std::uint64_t address, Release release);
  [[nodiscard]] const Release* latest(std::uint64_t address);
  /// Adds a release to the list `before` of those that a thread has acquired, and returns the new list.
  [[nodiscard]] const Acquired* append(const Release& release, const Acquired* before);
  void clear();

 private:
  std::atomic<std::uint64_t>& numbers_;
  std::mutex mutex_;
  std::unordered_map<std::uint64_t, const Release*> heads_;
  std::deque<Release> all_;
  std::deque<Acquired> acquired_;
};

/// The releases that the threads of a cluster have acquired from other clusters. Each thread that acquires is
/// an agent, whose time is the number of releases that it has acquired. Earlier releases that led to those
/// are searched on demand, the latest first, and no further than a query needs: queries are rare even in a
/// grid in which each CTA acquires from many.
class Imports {
 public:
  /// Begins for the cluster with this number.
  void start(std::uint32_t cluster);
  /// The cluster has made a release with this number.
  void begin(std::uint64_t number) noexcept { first_ = std::min(first_, number); }

  /// Adds a release that `agent` has acquired, and returns the agent's time. `wide`: the scope of the acquire
  /// is wider than its CTA. Calls visit(release) for each release of this cluster that leads to it and that
  /// the agent has not met before.
  template <typename Visit>
  std::uint32_t add(Agent agent, const Release& release, bool wide, Releases& all, const Visit& visit) {
    List& list = lists_[agent];
    visit_own_releases(list, release, visit);
    const Release* const foreign = release.cluster != cluster_ ? &release : release.foreign;
    if (wide && foreign != nullptr && list.acquired_set.insert(foreign).second) {
      list.acquired.push_back(all.append(*foreign, list.acquired.empty() ? nullptr : list.acquired.back()));
      list.open[static_cast<std::uint32_t>(list.acquired.size())].push_back({foreign, nullptr});
    }
    return static_cast<std::uint32_t>(list.acquired.size());
  }
  /// Checks whether a thread with this clock knows what a lane of another cluster's agent did at `time`.
  [[nodiscard]] bool know(const Clock& clock, std::uint32_t cluster, Agent agent, std::uint32_t lane,
                          std::uint32_t time);
  /// Returns all releases that a thread with this clock has acquired.
  [[nodiscard]] std::vector<Release::Import> of(const Clock& clock) const;

 private:
  struct Seen {
    const Release* release;
    std::uint32_t time;
  };
  /// A step of the search: either a release or a list of acquired ones.
  struct Step {
    const Release* release = nullptr;
    const Acquired* acquired = nullptr;
  };
  struct List {
    std::vector<const Acquired*> acquired;
    std::unordered_set<const Release*> acquired_set;
    std::unordered_set<const void*> visited_own;  ///< steps visited by meet_own()
    // Steps by the time of the acquired release from which they come.
    std::map<std::uint32_t, std::deque<Step>> open;  ///< steps to be visited
    std::unordered_map<const void*, std::uint32_t>
        reached;  ///< the earliest time from which the step is reached
    std::unordered_map<std::uint32_t, std::vector<Seen>> by_cluster;
  };

  /// Visits the releases of this cluster among those that lead to `release`. The clock of such a release
  /// includes what its thread had acquired, so the search ends there.
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
  /// Calls add(step) for each step that leads to `step` directly.
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
  [[nodiscard]] static const void* key(const Step& step) noexcept {
    return step.release != nullptr ? static_cast<const void*>(step.release) : step.acquired;
  }
  /// Visits one more step with a time up to `time`. Returns false if there is none.
  bool expand(List& list, std::uint32_t time);

  std::uint32_t cluster_ = 0;
  std::uint64_t first_ = ~0ULL;
  std::unordered_map<Agent, List> lists_;
};

}  // namespace sim
TMAJIT_END
