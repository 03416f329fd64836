#pragma once

/// Order made through memory: what fences, releases and atomics publish at an address, and who has seen it
/// (PTX ISA, "Memory Consistency Model": release and acquire patterns).
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

/// A release of another cluster that a thread has acquired, and those that it had acquired before.
struct Acquired {
  const Release* release = nullptr;
  const Acquired* before = nullptr;
  std::uint32_t time = 0;    ///< how many these are
  std::uint64_t number = 0;  ///< none of what leads here has a higher one
};

/// The knowledge and accesses of a thread when it released; never changes once it can be found.
struct Release {
  /// The releases that a thread of its cluster had acquired.
  struct Import {
    Agent agent = 0;
    const Acquired* last = nullptr;
  };

  std::uint32_t cluster = 0;
  std::uint32_t rank = 0;   ///< of the CTA in it
  bool wide = false;        ///< at a scope beyond its CTA
  bool sequential = false;  ///< by a fence.sc
  Clock clock;
  const Release* before = nullptr;   ///< the one at this address before it
  const Release* foreign = nullptr;  ///< the last of those that is of another cluster
  std::uint64_t number = 0;          ///< what leads to it has lower ones
  std::vector<Import> imports;       ///< known to the thread
};

/// The releases at each address of the launch's or a cluster's memory, which live as long as this.
/// Thread-safe.
///
/// An acquire synchronises with all releases at the address so far: with more than the one whose value it has
/// read if a plain store came between, and never with fewer, though threads of the host run the CTAs.
class Releases {
 public:
  /// `numbers` counts those of the whole launch.
  explicit Releases(std::atomic<std::uint64_t>& numbers) : numbers_(numbers) {}

  /// Gives its number.
  std::uint64_t add(std::uint64_t address, Release release);
  [[nodiscard]] const Release* latest(std::uint64_t address);
  /// Keeps what a thread has acquired, beside `before`.
  [[nodiscard]] const Acquired* keep(const Release& release, const Acquired* before);
  void clear();

 private:
  std::atomic<std::uint64_t>& numbers_;
  std::mutex mutex_;
  std::unordered_map<std::uint64_t, const Release*> heads_;
  std::deque<Release> all_;
  std::deque<Acquired> acquired_;
};

/// The releases that the threads of a cluster have acquired from other clusters. Each thread that acquires is
/// an agent; its time is the number of releases that it has acquired. The releases that led to those are
/// searched on demand, the latest first, and no further than the query needs: queries are rare even in a grid
/// where each CTA acquires from many.
class Imports {
 public:
  /// Begins for the cluster with this number.
  void start(std::uint32_t cluster);
  /// The cluster has released for the first time, by this number.
  void begin(std::uint64_t number) noexcept { first_ = std::min(first_, number); }

  /// Adds what `agent` has acquired, if `wide` at a scope beyond its CTA, and gives the agent's time. Calls
  /// visit(release) for each of the cluster's own that it meets for the first time.
  template <typename Visit>
  std::uint32_t add(Agent agent, const Release& release, bool wide, Releases& all, const Visit& visit) {
    List& list = lists_[agent];
    meet_own(list, release, visit);
    const Release* const foreign = release.cluster != cluster_ ? &release : release.foreign;
    if (wide && foreign != nullptr && list.kept.insert(foreign).second) {
      list.acquired.push_back(all.keep(*foreign, list.acquired.empty() ? nullptr : list.acquired.back()));
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
  /// One of both.
  struct Step {
    const Release* release = nullptr;
    const Acquired* acquired = nullptr;
  };
  struct List {
    std::vector<const Acquired*> acquired;
    std::unordered_set<const Release*> kept;
    std::unordered_set<const void*> met_own;  ///< on the way to the cluster's own releases
    // By the time of what they come from.
    std::map<std::uint32_t, std::deque<Step>> open;         ///< not looked at yet
    std::unordered_map<const void*, std::uint32_t> looked;  ///< the earliest time that leads there
    std::unordered_map<std::uint32_t, std::vector<Seen>> by_cluster;
  };

  /// Visits the cluster's own releases among those that lead to `release`. Their clocks include what they
  /// have acquired.
  template <typename Visit>
  void meet_own(List& list, const Release& release, const Visit& visit) {
    std::vector<Step> open{{&release, nullptr}};
    while (!open.empty()) {
      const Step step = open.back();
      open.pop_back();
      const std::uint64_t number = step.release != nullptr ? step.release->number : step.acquired->number;
      if (number < first_ || !list.met_own.insert(key(step)).second) continue;
      if (step.release != nullptr && step.release->cluster == cluster_) visit(*step.release);
      follow(step, [&](const Step& next) { open.push_back(next); });
    }
  }
  /// Adds the steps that lead to a step directly.
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
  /// Looks at one more step of those up to `time`; false if there is none.
  bool look(List& list, std::uint32_t time);

  std::uint32_t cluster_ = 0;
  std::uint64_t first_ = ~0ULL;
  std::unordered_map<Agent, List> lists_;
};

}  // namespace sim
TMAJIT_END
