#pragma once

/// Order made through memory: what fences, releases and atomics publish at an address, and who has seen it
/// (PTX ISA, "Memory Consistency Model": release and acquire patterns).
#include "sim/clock.hpp"

#include <deque>
#include <mutex>
#include <unordered_map>
#include <unordered_set>

TMAJIT_BEGIN
namespace sim {

/// What a thread knew and had done when it released; never changes once it can be found.
struct Release {
  std::uint32_t cta = 0;
  bool wide = false;  ///< at a scope beyond its CTA
  Clock clock;
  const Release* before = nullptr;      ///< the one at this address before it
  std::vector<const Release*> imports;  ///< of other CTAs, known to the thread
};

/// The releases at each address of the launch's or a CTA's memory, which live as long as this. Thread-safe.
///
/// Whoever acquires meets all releases there so far: more than the one whose value it has read where a plain
/// store came between, and never less, though threads of the host run the CTAs.
class Releases {
 public:
  void add(std::uint64_t address, Release release);
  [[nodiscard]] const Release* latest(std::uint64_t address);
  void clear();

 private:
  std::mutex mutex_;
  std::unordered_map<std::uint64_t, const Release*> heads_;
  std::deque<Release> all_;
};

/// What the threads of a CTA have acquired from others. Each thread that does is an agent; its time is the
/// number of releases it has met.
class Imports {
 public:
  /// Adds what `agent` of CTA `own` has acquired, at a scope beyond it if `wide`, and gives the agent's new
  /// time. Calls visit(release) for what is of the CTA itself.
  template <typename Visit>
  std::uint32_t add(Agent agent, const Release& release, std::uint32_t own, bool wide, const Visit& visit) {
    const std::vector<const Release*> fresh = closure(agent, release);
    bool foreign = false;
    for (const Release* found : fresh) {
      if (found->cta == own) {
        visit(*found);
      } else {
        foreign = foreign || (wide && found->wide);
      }
    }
    return foreign ? keep(agent, release, fresh) : time_of(agent);
  }
  /// Whether somebody with this clock knows what a lane of another CTA's agent did at `time`.
  [[nodiscard]] bool know(const Clock& clock, std::uint32_t cta, Agent agent, std::uint32_t lane,
                          std::uint32_t time) const;
  /// Everything that somebody with this clock has acquired.
  [[nodiscard]] std::vector<const Release*> of(const Clock& clock) const;
  void clear() { lists_.clear(); }

 private:
  struct Seen {
    const Release* release;
    std::uint32_t time;
  };
  struct List {
    Agent agent = 0;
    std::vector<const Release*> heads;
    std::unordered_set<const Release*> met;
    std::unordered_map<std::uint32_t, std::vector<Seen>> by_cta;
  };
  /// What leads to a release and that the agent has not met.
  [[nodiscard]] std::vector<const Release*> closure(Agent agent, const Release& release) const;
  std::uint32_t keep(Agent agent, const Release& release, const std::vector<const Release*>& fresh);
  [[nodiscard]] std::uint32_t time_of(Agent agent) const;

  std::vector<List> lists_;
};

}  // namespace sim
TMAJIT_END
