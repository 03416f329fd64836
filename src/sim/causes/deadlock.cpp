/// Finds the wait that keeps all other waits of a deadlock from ending.
#include "sim/causes/causes.hpp"

#include <algorithm>
#include <bit>
#include <set>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace sim {
namespace {

/// A group of threads that waits.
struct Waiting {
  Cta* cta = nullptr;
  const Warp* warp = nullptr;
  const Group* group = nullptr;
  [[nodiscard]] Wait::Kind kind() const { return group->wait.kind; }
  /// Wait::what: the number of a barrier, or the offset of an mbarrier.
  [[nodiscard]] std::uint32_t what() const { return group->wait.what; }
  [[nodiscard]] std::uint32_t thread() const { return warp->thread(first_lane(group->mask)); }
};

/// Kinds of evidence that a wait cannot end, the strongest first.
enum class Rank : std::uint8_t {
  wrong_count,      ///< a count of arrivals, threads or bytes that cannot fit
  skipped_phase,    ///< a thread waits for a phase after one that no thread has waited for
  few_at_barrier,   ///< all users of a CTA barrier have arrived, but they are too few
  few_at_mbarrier,  ///< all users of an mbarrier have arrived in this phase, but they are too few
  first_load,       ///< a thread waits before it loads for the first time
  first_wait,       ///< the first phase of a load's mbarrier is over, and no wait for the mbarrier has ended
};

struct Evidence {
  Rank rank{};
  DeadlockCause cause;
};

std::string count_of_threads(std::uint32_t count) {
  return fmt::format("{} thread{}", count, count == 1 ? "" : "s");
}

/// Searches the waits of a cluster for the one that all others depend on.
class Search {
 public:
  explicit Search(Cluster& cluster) {
    for (std::uint32_t rank = 0; rank < cluster.size(); ++rank) {
      Cta& cta = cluster.cta(rank);
      for (const auto& warp : cta.warps) {
        for (const Group& group : warp->groups) waits_.push_back({&cta, warp.get(), &group});
      }
    }
  }

  std::optional<DeadlockCause> run() {
    // If warps wait for registers, Cta::report_deadlock() reports these waits as the cause.
    const auto registers = [](const Waiting& each) { return each.kind() == Wait::Kind::registers; };
    if (std::ranges::any_of(waits_, registers)) return std::nullopt;
    std::optional<Evidence> best;
    for (const Waiting& each : waits_) {
      const auto found = evidence(each);
      if (found && (!best || found->rank < best->rank)) best = found;
    }
    if (!best || best->rank != Rank::wrong_count) {
      if (auto found = waits_for_own_load()) return found;
    }
    if (best) return best->cause;
    if (auto found = unawaited_loads()) return found;
    return end_of_chain();
  }

 private:
  static std::uint32_t location_of(const Waiting& wait) {
    // At a CTA barrier the group's pc is already past the instruction.
    const std::uint32_t pc = wait.group->pc - (wait.kind() == Wait::Kind::barrier ? 1 : 0);
    const auto& locations = wait.cta->program.location_of;
    return locations[pc < locations.size() ? pc : 0];
  }
  static std::uint32_t line_of(const Waiting& wait) {
    return wait.cta->program.locations[location_of(wait)].line;
  }
  static Cause at_wait(const Waiting& wait, std::string found, check::RuleId rule = "deadlock") {
    return {.rule = rule,
            .cta = wait.cta,
            .thread = wait.thread(),
            .location = location_of(wait),
            .found = std::move(found)};
  }
  static std::string address_of(const Waiting& wait) {
    return fmt::format("{:#x}", wait.what() + shared_base);
  }
  static std::string name_of(const Waiting& wait, const Mbarrier& barrier) {
    return sim::name_of(*wait.cta, wait.what(), barrier);
  }

  std::optional<Evidence> evidence(const Waiting& wait) {
    // The mbarrier of the thread's last completed wait may have too small a count.
    const auto last = wait.cta->last_wait(wait.thread());
    const Mbarrier* const before = last ? wait.cta->mbarrier(*last) : nullptr;
    if (before != nullptr && before->uses.arrivers() > before->expected) {
      if (auto cause = wrong_count(*wait.cta, *last, *before))
        return make_evidence(Rank::wrong_count, *cause,
                             fmt::format("shared address {:#x} for", *last + shared_base), true);
    }
    if (wait.kind() == Wait::Kind::barrier) return barrier_evidence(wait);
    if (wait.kind() == Wait::Kind::mbarrier) return mbarrier_evidence(wait);
    return std::nullopt;
  }

  static Evidence make_evidence(Rank rank, const Cause& cause, std::string first, bool certain) {
    return {rank, {cause, std::move(first), certain}};
  }

  /// Evidence for a CTA barrier with a thread count: the count does not fit the warps that use the barrier.
  [[nodiscard]] std::optional<Evidence> barrier_evidence(const Waiting& wait) const {
    const NamedBarrier& barrier = wait.cta->barriers[wait.what()];
    if (barrier.expected == 0) return std::nullopt;
    std::uint32_t users = 0;
    for (const auto& warp : wait.cta->warps)
      users += (warp->used_barriers >> wait.what() & 1) != 0 ? lanes : 0;
    const std::string first = fmt::format("wait at barrier {}:", wait.what());
    const std::string what =
        fmt::format("barrier {} at PTX line {} is for {} threads, and {} threads arrive at it", wait.what(),
                    line_of(wait), barrier.expected, users);
    if (users > barrier.expected && users % barrier.expected != 0) {
      return make_evidence(
          Rank::wrong_count,
          at_wait(wait, what + fmt::format(": {} of them wait for more threads, and the others have already "
                                           "passed it",
                                           barrier.arrived)),
          first, true);
    }
    // Threads that wait elsewhere may still come to this barrier.
    const bool alone = std::ranges::all_of(waits_, [&](const Waiting& other) {
      return other.cta != wait.cta || (other.kind() == Wait::Kind::barrier && other.what() == wait.what());
    });
    if (alone && users == barrier.arrived && users < barrier.expected)
      return make_evidence(Rank::few_at_barrier, at_wait(wait, what + ", all of which have arrived"), first,
                           false);
    return std::nullopt;
  }

  std::optional<Evidence> mbarrier_evidence(const Waiting& wait) {
    const Mbarrier* const barrier = wait.cta->mbarrier(wait.what());
    if (barrier == nullptr) return std::nullopt;
    const std::string first = fmt::format("shared address {} for", address_of(wait));
    if (auto cause = wrong_count(*wait.cta, wait.what(), *barrier))
      return make_evidence(Rank::wrong_count, *cause, first, true);
    const MbarrierUses::Thread uses = barrier->uses.of(wait.cta->number_of(wait.thread()));
    // Threads that take turns at an mbarrier skip the phases of the others, so only phases that no thread has
    // waited for are evidence.
    const auto passed = [&](const MbarrierUses::Thread& each) {
      return each.wait != 0 && each.ended == barrier->phase;
    };
    const bool skipped_phase = uses.wait != 0 && barrier->phase == uses.ended + 1 &&
                               std::ranges::none_of(barrier->uses.all(), passed);
    // The first phase of a load's mbarrier is over, and no wait for the mbarrier has ever ended.
    const bool missed_first_phase =
        barrier->phase == 1 && loaded(*barrier) && barrier->pending != 0 &&
        std::ranges::all_of(barrier->uses.all(), [](const auto& each) { return each.wait == 0; });
    if (skipped_phase || missed_first_phase) {
      const std::string found = fmt::format(
          "{} waits for phase {} of {}, and has not waited for phase {}, which is over: its parity does "
          "not follow the phases",
          thread_name(wait), barrier->phase, name_of(wait, *barrier), barrier->phase - 1);
      return make_evidence(skipped_phase ? Rank::skipped_phase : Rank::first_wait,
                           at_wait(wait, found, "mbarrier.parity"), first, skipped_phase);
    }
    if (barrier->pending == 0) return std::nullopt;
    const std::uint32_t arrivers = barrier->uses.arrivers();
    if (arrivers == 0 && barrier->bytes < 0) {
      const TransactionPart& load = barrier->transactions.current().completed.front();
      const Cause cause{
          .rule = "mbarrier.expected-bytes",
          .cta = load.cta,
          .thread = load.thread,
          .location = load.location,
          .found = fmt::format("{} bytes have come to {}, which expects none, and no thread arrives at it",
                               load.bytes, name_of(wait, *barrier)),
          .expected = "mbarrier.arrive.expect_tx of the load's bytes by the thread that loads, in each phase",
          .remedy = "arrive with the bytes that the loads of the phase bring, before they are issued"};
      return make_evidence(Rank::wrong_count, cause, first, true);
    }
    if (arrivers != 0 && missing_arrivers(wait, *barrier).empty()) {
      const std::string found = fmt::format(
          "{} lacks {} of {} arrivals: {}, and {} arrived in this phase", name_of(wait, *barrier),
          barrier->pending, barrier->expected,
          arrivers == 1 ? "1 thread arrives at it" : fmt::format("{} threads arrive at it", arrivers),
          arrivers == 1 ? "has" : "all have");
      return make_evidence(Rank::few_at_mbarrier, at_wait(wait, found), first, false);
    }
    // In the first round of a ring of stages all stages are free, so the producer must not wait for arrivals.
    if (barrier->phase == 0 && uses.wait == 0 && arrivers == 0 && loads_next(wait)) {
      const auto waits_for_load = [&](const Waiting& other) {
        return other.cta == wait.cta && other.kind() == wait.kind() && other.what() == wait.what() &&
               !loads_next(other);
      };
      if (std::ranges::any_of(waits_, waits_for_load)) {
        const std::string found = fmt::format(
            "{} waits for {}, on which its own load completes, before it loads for the first time",
            thread_name(wait), name_of(wait, *barrier));
        return make_evidence(Rank::first_load, at_wait(wait, found), first, false);
      }
      const std::string found = fmt::format(
          "{} waits for the first phase of {} before it loads the stage for the first time, and no thread "
          "arrives there before that load has come: the first wait for a free stage takes parity 1",
          thread_name(wait), name_of(wait, *barrier));
      return waits_for_each_other(wait)
                 ? std::optional(make_evidence(Rank::first_load, at_wait(wait, found), first, false))
                 : std::nullopt;
    }
    return std::nullopt;
  }

  /// The mistake of a producer that has waited for its own load in place of the readers, so that the readers
  /// have missed a phase.
  std::optional<DeadlockCause> waits_for_own_load() const {
    for (const Waiting& wait : waits_) {
      const Mbarrier* const barrier =
          wait.kind() == Wait::Kind::mbarrier ? wait.cta->mbarrier(wait.what()) : nullptr;
      if (barrier == nullptr || barrier->phase < 2 || !loaded(*barrier)) continue;
      const TransactionPart& load = barrier->transactions.previous().completed.front();
      if (load.cta != wait.cta) continue;
      auto cause = waits_elsewhere(*wait.cta, load.thread, wait.what(), *barrier);
      if (!cause) continue;
      cause->rule = "deadlock";
      return DeadlockCause{*cause, fmt::format("shared address {} for", address_of(wait)), true};
    }
    return std::nullopt;
  }

  /// Whether copies have completed bytes in the previous phase.
  static bool loaded(const Mbarrier& barrier) { return !barrier.transactions.previous().completed.empty(); }

  /// Whether a thread that waits at a barrier may wait for an mbarrier later.
  static bool may_wait(const Waiting& other) {
    const Program& program = other.cta->program;
    for (std::uint32_t pc = other.group->pc; pc < program.code.size(); ++pc) {
      const std::string& text = program.locations[program.location_of[pc]].text;
      if (text.find("_wait.parity") != std::string::npos || branches_back(program, pc)) return true;
    }
    return false;
  }

  /// The mistake of a thread that waits for the wrong mbarrier: a load has completed on another one, for
  /// which no thread waits.
  std::optional<DeadlockCause> unawaited_loads() const {
    for (const Waiting& wait : waits_) {
      if (wait.kind() != Wait::Kind::mbarrier || wait.cta->mbarrier(wait.what()) == nullptr) continue;
      // Threads that wait at a CTA barrier may wait for the load after the barrier.
      const auto waits_at_barrier = [&](const Waiting& other) {
        return other.kind() == Wait::Kind::barrier && other.cta == wait.cta && may_wait(other);
      };
      if (std::ranges::any_of(waits_, waits_at_barrier)) continue;
      std::optional<std::uint32_t> lowest;
      for (const auto& [offset, barrier] : wait.cta->mbarriers()) {
        const auto waits_there = [&, at = offset](const Waiting& other) {
          return other.kind() == Wait::Kind::mbarrier && other.cta == wait.cta && other.what() == at;
        };
        const auto has_waited = [](const auto& each) { return each.wait != 0; };
        if (!loaded(barrier) || std::ranges::any_of(barrier.uses.all(), has_waited)) continue;
        if (std::ranges::any_of(waits_, waits_there) || (lowest && *lowest < offset)) continue;
        lowest = offset;
      }
      if (!lowest) continue;
      const Mbarrier& barrier = *wait.cta->mbarrier(*lowest);
      const TransactionPart& load = barrier.transactions.previous().completed.front();
      return DeadlockCause{
          at_wait(wait, fmt::format("{} waits for {}, and no thread waits for {}, on which the load at PTX "
                                    "line {} has completed",
                                    thread_name(wait), name_of(wait, *wait.cta->mbarrier(wait.what())),
                                    sim::name_of(*wait.cta, *lowest, barrier),
                                    wait.cta->program.locations[load.location].line)),
          fmt::format("shared address {} for", address_of(wait)), false};
    }
    return std::nullopt;
  }

  static std::string thread_name(const Waiting& wait) { return sim::name_of(*wait.cta, wait.thread()); }

  /// Numbers of the threads that have arrived at an mbarrier before, but not in its present phase.
  static std::vector<std::uint32_t> missing_arrivers(const Waiting&, const Mbarrier& barrier) {
    std::vector<std::uint32_t> missing;
    const auto& all = barrier.uses.all();
    for (std::uint32_t number = 0; number < all.size(); ++number) {
      if (all[number].arrival != 0 && all[number].arrived_in != barrier.phase) missing.push_back(number);
    }
    return missing;
  }

  /// Whether the instructions after the wait contain a load or an expect_tx before the next wait.
  static bool loads_next(const Waiting& wait) {
    const auto& all = wait.cta->program.locations;
    for (std::uint32_t at = location_of(wait) + 1; at < all.size(); ++at) {
      const std::string& shown = all[at].text;
      if (shown.find("cp.async.bulk") != std::string::npos || shown.find("expect_tx") != std::string::npos)
        return true;
      if (shown.find("_wait") != std::string::npos || shown.find("bar.sync") != std::string::npos)
        return false;
    }
    return false;
  }

  /// Whether other threads wait for another mbarrier at which no thread has arrived; the blocked load may
  /// complete on it.
  [[nodiscard]] bool waits_for_each_other(const Waiting& wait) const {
    return std::ranges::any_of(waits_, [&](const Waiting& other) {
      if (other.kind() != Wait::Kind::mbarrier || (other.cta == wait.cta && other.what() == wait.what()))
        return false;
      const Mbarrier* const barrier = other.cta->mbarrier(other.what());
      return barrier != nullptr && barrier->pending != 0 && barrier->uses.arrivers() == 0;
    });
  }

  /// A wait that keeps `wait` from ending; null if none is known.
  [[nodiscard]] const Waiting* blocker(const Waiting& wait) const {
    const auto find = [&](const auto& holds) {
      const auto found = std::ranges::find_if(waits_, holds);
      return found == waits_.end() ? nullptr : &*found;
    };
    const auto elsewhere = [&](const Waiting& other) {
      return other.cta == wait.cta && (other.kind() != wait.kind() || other.what() != wait.what());
    };
    switch (wait.kind()) {
      case Wait::Kind::mbarrier: {
        const Mbarrier* const barrier = wait.cta->mbarrier(wait.what());
        if (barrier == nullptr || barrier->pending == 0) return nullptr;
        const auto missing = missing_arrivers(wait, *barrier);
        return find([&](const Waiting& other) {
          return std::ranges::any_of(missing, [&](std::uint32_t number) {
            const std::uint32_t thread = number % other.cta->threads_each();
            return number / other.cta->threads_each() == other.cta->rank &&
                   other.warp->index == thread / lanes && (other.group->mask >> thread % lanes & 1) != 0;
          });
        });
      }
      case Wait::Kind::barrier: {
        if (wait.cta->barriers[wait.what()].expected == 0) return find(elsewhere);
        return find([&](const Waiting& other) {
          return elsewhere(other) && (other.warp->used_barriers >> wait.what() & 1) != 0;
        });
      }
      case Wait::Kind::cluster:
        return find([&](const Waiting& other) { return other.kind() != Wait::Kind::cluster; });
      case Wait::Kind::warp:
        return find([&](const Waiting& other) {
          return other.warp == wait.warp && other.group != wait.group &&
                 (other.group->mask & wait.what()) != 0;
        });
      case Wait::Kind::products:
        return find([&](const Waiting& other) {
          // The warps of one warpgroup have the same index / 4.
          return other.cta == wait.cta && other.warp->index / 4 == wait.warp->index / 4 &&
                 other.kind() != Wait::Kind::products;
        });
      default: return nullptr;
    }
  }

  /// The end of the chain of waits, if it is an mbarrier.
  std::optional<DeadlockCause> end_of_chain() {
    const auto is_mbarrier = [](const Waiting& each) { return each.kind() == Wait::Kind::mbarrier; };
    const auto start = std::ranges::find_if(waits_, is_mbarrier);
    if (start == waits_.end()) return std::nullopt;
    std::set<const Waiting*> seen;
    const Waiting* last = &*start;
    for (const Waiting* each = last; each != nullptr && seen.insert(each).second; each = blocker(*each)) {
      last = each;
    }
    if (last->kind() != Wait::Kind::mbarrier) return std::nullopt;
    const Mbarrier* const barrier = last->cta->mbarrier(last->what());
    if (barrier == nullptr || barrier->pending == 0) return std::nullopt;
    // If no thread has arrived at the mbarrier and all other threads wait at barriers, one of these barriers
    // may lack this thread: then the mbarrier is not the cause.
    const auto waits_here = [&](const Waiting& each) {
      return each.kind() != Wait::Kind::mbarrier || (each.cta == last->cta && each.what() == last->what());
    };
    if (barrier->uses.arrivers() == 0 && std::ranges::all_of(waits_, waits_here)) return std::nullopt;
    const std::string found = fmt::format(
        "{} lacks {} of {} arrivals: {}", name_of(*last, *barrier), barrier->pending, barrier->expected,
        barrier->uses.arrivers() == 0
            ? "no thread has ever arrived at it"
            : fmt::format("{} arrive at it", count_of_threads(barrier->uses.arrivers())));
    return DeadlockCause{at_wait(*last, found), fmt::format("shared address {} for", address_of(*last)),
                         false};
  }

  std::vector<Waiting> waits_;
};

}  // namespace

std::optional<DeadlockCause> why_deadlock(Cluster& cluster) {
  return Search(cluster).run();
}

}  // namespace sim
TMAJIT_END
