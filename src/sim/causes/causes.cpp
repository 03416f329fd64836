#include "sim/causes/causes.hpp"

#include <algorithm>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace sim {
namespace {

std::uint32_t line_of(const Cta& cta, std::uint32_t location) {
  return cta.program.locations[location].line;
}

/// Whether a thread of the CTA waits for the mbarrier, or has waited for it.
bool has_waits(const Cta& cta, std::uint32_t offset, const Mbarrier& barrier) {
  const auto waits = [&](const Group& group) {
    return group.wait.kind == Wait::Kind::mbarrier && group.wait.what == offset;
  };
  return std::ranges::any_of(barrier.uses.all(), [](const auto& each) { return each.wait != 0; }) ||
         std::ranges::any_of(cta.warps,
                             [&](const auto& warp) { return std::ranges::any_of(warp->groups, waits); });
}

/// The first mbarrier that no load uses and for which holds(offset, mbarrier) is true; null if there is none.
/// The order is by address, but mbarriers at which threads arrive come first.
template <typename Holds>
const std::pair<const std::uint32_t, Mbarrier>* first_without_loads(const Cta& cta, const Holds& holds) {
  const std::pair<const std::uint32_t, Mbarrier>* first = nullptr;
  const auto order = [](const auto& each) { return std::pair(each.second.uses.arrivers() == 0, each.first); };
  for (const auto& each : cta.mbarriers()) {
    if (each.second.transactions.any() || !holds(each.first, each.second)) continue;
    if (first == nullptr || order(each) < order(*first)) first = &each;
  }
  return first;
}

/// The mistake of a consumer that arrives at the wrong mbarrier: it waits for a load's mbarrier and arrives
/// there, and no thread arrives at another mbarrier for which threads wait.
std::optional<Cause> wrong_barrier(Cta& owner, std::uint32_t offset, const Mbarrier& barrier) {
  if (!barrier.transactions.any()) return std::nullopt;
  const auto* const lacking = first_without_loads(owner, [&](std::uint32_t at, const Mbarrier& each) {
    return each.uses.arrivers() == 0 && has_waits(owner, at, each);
  });
  if (lacking == nullptr) return std::nullopt;
  const auto& all = barrier.uses.all();
  for (std::uint32_t number = 0; number < all.size(); ++number) {
    if (all[number].arrival == 0 || all[number].wait == 0) continue;
    Cta& cta = owner.cluster.cta(number / owner.threads_each());
    const std::uint32_t thread = number % owner.threads_each();
    return Cause{
        .rule = "mbarrier.arrivals",
        .cta = &cta,
        .thread = thread,
        .location = all[number].arrival - 1,
        .found = fmt::format("{} arrives at {}, on which loads complete, and no thread arrives at {}",
                             name_of(cta, thread), name_of(owner, offset, barrier),
                             name_of(owner, lacking->first, lacking->second)),
        .expected = "an arrival at the mbarrier for which the thread that loads waits",
        .remedy = "arrive at the empty barrier of the stage in place of the full one"};
  }
  return std::nullopt;
}

Cause at_init(Cta& cta, const Mbarrier& barrier, std::string found) {
  return {.rule = "mbarrier.arrivals",
          .cta = &cta,
          .thread = Cta::thread_of_tag(barrier.writer),
          .location = barrier.location,
          .found = std::move(found),
          .expected =
              "a count in mbarrier.init of all arrivals of a phase, so that it ends when the last thread has "
              "arrived",
          .remedy = "count in mbarrier.init every arrival that releases the stage"};
}

/// The mistake of a thread that did not flip its parity: the same phase ended its last two waits. With
/// `before_any_phase`, also the mistake of a wait that ended before any phase was over. With `any_wait`,
/// earlier pairs of waits count, too.
std::optional<Cause> wrong_parity(Cta& cta, std::uint32_t thread, Cta& owner, std::uint32_t offset,
                                  const Mbarrier& barrier, bool before_any_phase, bool any_wait = false) {
  MbarrierUses::Thread uses = barrier.uses.of(cta.number_of(thread));
  if (uses.wait == 0) return std::nullopt;
  if (any_wait && uses.ever_repeated) {
    uses.repeated = true;
    uses.ended = uses.repeated_ended;
  }
  std::string why;
  if (uses.repeated) {
    why = uses.ended == 0 ? "no phase of the mbarrier was over, as at the thread's previous wait"
                          : fmt::format("phase {} was over already, and had ended the thread's previous wait",
                                        uses.ended - 1);
  } else if (before_any_phase && uses.ended == 0) {
    why = "no phase of the mbarrier was over, and the parity is not that of the first phase";
  } else {
    return std::nullopt;
  }
  return Cause{.rule = "mbarrier.parity",
               .cta = &cta,
               .thread = thread,
               .location = uses.wait - 1,
               .found = fmt::format("the wait of {} for {} ends at once: {}", name_of(cta, thread),
                                    name_of(owner, offset, barrier), why)};
}

/// The last arrival by the reader, or by another lane of its warp, in phase `from` or later: 1 + its location
/// (0: none), and the thread.
std::pair<std::uint32_t, std::uint32_t> arrival_of(const Reader& reader, const Mbarrier& barrier,
                                                   std::uint64_t from = 0) {
  const auto arrived = [&](std::uint32_t thread) {
    const MbarrierUses::Thread uses = barrier.uses.of(reader.cta->number_of(thread));
    return uses.arrival != 0 && uses.arrived_in >= from ? uses.arrival : 0;
  };
  std::uint32_t arriver = reader.thread;
  std::uint32_t arrival = arrived(arriver);
  const std::uint32_t first = reader.thread / lanes * lanes;
  for (std::uint32_t thread = first; arrival == 0 && thread < first + lanes; ++thread) {
    arrival = arrived(thread);
    arriver = thread;
  }
  return {arrival, arriver};
}

/// The mistake of an arrival that completed a phase too early: the phase ended the wait of the thread of
/// `uses` before the reader's last read was done.
std::optional<Cause> released_early(Cta& owner, std::uint32_t offset, const Mbarrier& barrier,
                                    const MbarrierUses::Thread& uses, check::RuleId rule,
                                    const Reader& reader) {
  if (uses.ended == 0 || barrier.transactions.any()) return std::nullopt;
  const std::uint64_t phase = uses.ended - 1;
  const auto [arrival, arriver] = arrival_of(reader, barrier, phase);
  const std::string what = fmt::format("the read at PTX line {}", line_of(*reader.cta, reader.location));
  if (arrival == 0) {
    const auto& all = barrier.uses.all();
    const auto sole = std::ranges::find_if(all, [](const auto& each) { return each.arrival != 0; });
    if (sole == all.end()) return std::nullopt;
    if (barrier.uses.arrivers() == 1) {
      // One thread arrives for all readers, so it must synchronise with them first.
      const auto number = static_cast<std::uint32_t>(sole - all.begin());
      Cta& releaser = owner.cluster.cta(number / owner.threads_each());
      const std::uint32_t sole_thread = number % owner.threads_each();
      return Cause{
          .rule = rule,
          .cta = &releaser,
          .thread = sole_thread,
          .location = sole->arrival - 1,
          .found = fmt::format("the arrival of {} at {} hands the stage back, and nothing orders it after {} "
                               "by {}",
                               name_of(releaser, sole_thread), name_of(owner, offset, barrier), what,
                               name_of(*reader.cta, reader.thread)),
          .expected = "a barrier of all threads that read the stage before one of them arrives for all",
          .remedy = "synchronise the readers before the arrival, or let each arrive and count them all"};
    }
    return at_init(
        owner, barrier,
        fmt::format("phase {} of {} is over without an arrival of {} or its warp, which has not finished "
                    "{}",
                    phase, name_of(owner, offset, barrier), name_of(*reader.cta, reader.thread), what));
  }
  // The caller reports the missing wait for the product before the arrival.
  if (reader.product) return std::nullopt;
  const bool by_reader = arriver == reader.thread;
  return Cause{.rule = rule,
               .cta = reader.cta,
               .thread = arriver,
               .location = arrival - 1,
               .found = fmt::format("the arrival of {} at {} hands the stage back before {}{}",
                                    name_of(*reader.cta, arriver), name_of(owner, offset, barrier), what,
                                    by_reader ? "" : " by " + name_of(*reader.cta, reader.thread)),
               .expected = by_reader ? "the arrival after the last read of the stage"
                                     : "the arrival after all lanes have read the stage",
               .remedy = by_reader ? "arrive after the last use of the stage"
                                   : "call __syncwarp() between the reads and the arrival of one lane"};
}

}  // namespace

std::string name_of(const Cta& cta, std::uint32_t offset, const Mbarrier& barrier) {
  const std::string owner = cta.cluster.size() == 1 ? "" : fmt::format(" of the CTA with rank {}", cta.rank);
  return fmt::format("the mbarrier at shared address {:#x}{} (mbarrier.init at PTX line {} for {} arrival{})",
                     offset + shared_base, owner, line_of(cta, barrier.location), barrier.expected,
                     barrier.expected == 1 ? "" : "s");
}

std::string name_of(const Cta& cta, std::uint32_t thread) {
  return "thread " + text_of(cta.thread_index(thread));
}

std::optional<Cause> waits_elsewhere(Cta& cta, std::uint32_t thread, std::uint32_t offset,
                                     const Mbarrier& barrier, const std::optional<Reader>& reader) {
  const MbarrierUses::Thread uses = barrier.uses.of(cta.number_of(thread));
  if (uses.wait == 0) return std::nullopt;
  const auto loads = [&](const TransactionPart& load) { return load.cta == &cta && load.thread == thread; };
  const bool own = std::ranges::any_of(barrier.transactions.previous().completed, loads);
  const auto* const released = first_without_loads(cta, [&](std::uint32_t at, const Mbarrier& each) {
    return !has_waits(cta, at, each) && (own || (reader && arrival_of(*reader, each).first != 0));
  });
  if (released == nullptr) return std::nullopt;
  return Cause{.rule = "race.shared-read-write",
               .cta = &cta,
               .thread = thread,
               .location = uses.wait - 1,
               .found = fmt::format("{} waits for {}{} before it loads again; no thread waits for {}",
                                    name_of(cta, thread), name_of(cta, offset, barrier),
                                    own ? ", on which its own load completes," : "",
                                    name_of(cta, released->first, released->second)),
               .expected =
                   "a wait for the mbarrier at which the readers of a stage arrive, before it is "
                   "loaded again",
               .remedy = "wait for the empty barrier of the stage before the load"};
}

bool branches_back(const Program& program, std::uint32_t pc) {
  return program.locations[program.location_of[pc]].text.find("bra") != std::string::npos &&
         program.code[pc].aux <= pc;
}

bool is_about_to_wait(const Cta& cta, std::uint32_t thread) {
  const Warp& warp = *cta.warps[thread / lanes];
  const Mask lane = 1U << thread % lanes;
  const auto has_lane = [&](const Group& group) { return (group.mask & lane) != 0; };
  const auto group = std::ranges::find_if(warp.groups, has_lane);
  if (group == warp.groups.end() && (!warp.running || (warp.active & lane) == 0)) return false;
  const Program& program = cta.program;
  for (std::uint32_t pc = group != warp.groups.end() ? group->pc : warp.pc; pc < program.code.size(); ++pc) {
    const std::string& text = program.locations[program.location_of[pc]].text;
    const auto has = [&](std::string_view what) { return text.find(what) != std::string::npos; };
    if (has("cp.async.bulk.wait_group")) return true;
    // If the thread waits at a CTA barrier, its pc is past that barrier already.
    if (branches_back(program, pc) || has("bar.sync") || has("barrier.") || has("cp.async.bulk.commit_group"))
      return false;
  }
  return false;
}

std::optional<Cause> wrong_count(Cta& owner, std::uint32_t offset, const Mbarrier& barrier) {
  const std::uint32_t arrivers = barrier.uses.arrivers();
  if (arrivers > barrier.expected) {
    if (auto cause = wrong_barrier(owner, offset, barrier)) return cause;
    return at_init(owner, barrier,
                   fmt::format("{} threads arrive at {}, so that a phase is over before all have arrived",
                               arrivers, name_of(owner, offset, barrier)));
  }
  const auto& all = barrier.uses.all();
  const auto twice = std::ranges::find(all, true, &MbarrierUses::Thread::arrived_twice);
  if (twice == all.end() || arrivers < barrier.expected) return std::nullopt;
  const auto number = static_cast<std::uint32_t>(twice - all.begin());
  Cta& cta = owner.cluster.cta(number / owner.threads_each());
  const std::uint32_t thread = number % owner.threads_each();
  // The thread may arrive again because a wait for another mbarrier ended too early.
  const auto last = cta.last_wait(thread);
  const Mbarrier* const before = last ? cta.mbarrier(*last) : nullptr;
  if (before != nullptr) {
    if (auto cause = wrong_parity(cta, thread, cta, *last, *before, false, true)) {
      cause->found += fmt::format("; so it arrives twice in a phase at {}", name_of(owner, offset, barrier));
      return cause;
    }
  }
  return Cause{.rule = "mbarrier.arrivals",
               .cta = &cta,
               .thread = thread,
               .location = twice->arrival - 1,
               .found = fmt::format(
                   "{} arrives twice in a phase at {}, at which {} thread{} arrive{}: the phase is "
                   "over before all have arrived{}",
                   name_of(cta, thread), name_of(owner, offset, barrier), arrivers, arrivers == 1 ? "" : "s",
                   arrivers == 1 ? "s" : "", last ? "" : "; it has not waited for any mbarrier"),
               .expected = last ? "one arrival of each thread in a phase, or a count of all arrivals"
                                : "a wait for the load of the stage before the stage is used and released",
               .remedy = last ? "release a stage once in each turn of the ring"
                              : "wait for the mbarrier on which the stage's load completes"};
}

/// The mistake of an arrival without expect_tx: the phase that ended the thread's wait expected no bytes.
static std::optional<Cause> expects_nothing(Cta& cta, std::uint32_t thread, Cta& owner, std::uint32_t offset,
                                            const Mbarrier& barrier) {
  const MbarrierUses::Thread uses = barrier.uses.of(cta.number_of(thread));
  if (uses.wait == 0 || uses.ended != barrier.phase || barrier.phase == 0) return std::nullopt;
  if (!barrier.transactions.previous().expected.empty()) return std::nullopt;
  const auto& all = barrier.uses.all();
  const auto arrival = std::ranges::find_if(all, [](const auto& each) { return each.arrival != 0; });
  if (arrival == all.end()) return std::nullopt;
  const auto number = static_cast<std::uint32_t>(arrival - all.begin());
  Cta& arriver = owner.cluster.cta(number / owner.threads_each());
  return Cause{.rule = "mbarrier.expected-bytes",
               .cta = &arriver,
               .thread = number % owner.threads_each(),
               .location = arrival->arrival - 1,
               .found = fmt::format("phase {} of {} is over, and has expected no bytes", barrier.phase - 1,
                                    name_of(owner, offset, barrier)),
               .expected = "mbarrier.arrive.expect_tx of the load's bytes, so that the phase ends with them",
               .remedy = "arrive with the bytes that the loads of the phase bring, before they are issued"};
}

std::optional<Cause> why_too_early(Cta& cta, std::uint32_t thread, check::RuleId rule,
                                   const std::optional<Reader>& reader) {
  const auto offset = cta.last_wait(thread);
  Mbarrier* const barrier = offset ? cta.mbarrier(*offset) : nullptr;
  if (barrier == nullptr) return std::nullopt;
  if (auto elsewhere = waits_elsewhere(cta, thread, *offset, *barrier, reader)) return elsewhere;
  std::optional<Cause> cause = wrong_parity(cta, thread, cta, *offset, *barrier, false);
  if (!cause) cause = wrong_count(cta, *offset, *barrier);
  const MbarrierUses::Thread uses = barrier->uses.of(cta.number_of(thread));
  // The mistake may also be in the reader's own wait for the load.
  const Mbarrier* const full = reader && reader->full ? cta.mbarrier(*reader->full) : nullptr;
  if (!cause && full != nullptr && reader->cta == &cta) {
    cause = wrong_parity(cta, reader->thread, cta, *reader->full, *full, false);
    if (cause) return cause;
  }
  if (!cause && reader) cause = released_early(cta, *offset, *barrier, uses, rule, *reader);
  if (cause && cause->rule->id != "mbarrier.parity" && uses.wait != 0) {
    cause->found += fmt::format("; the wait at PTX line {} lets {} go on", line_of(cta, uses.wait - 1),
                                name_of(cta, thread));
  }
  return cause;
}

std::optional<Cause> why_read_early(Cta& cta, std::uint32_t thread, Cta& owner, std::uint32_t offset) {
  Mbarrier* const barrier = owner.mbarrier(offset);
  if (barrier == nullptr) return std::nullopt;
  if (auto cause = wrong_parity(cta, thread, owner, offset, *barrier, true)) return cause;
  const auto last = cta.last_wait(thread);
  const Mbarrier* const other = last && &owner == &cta && *last != offset ? cta.mbarrier(*last) : nullptr;
  if (other != nullptr && other->transactions.any() && !has_waits(owner, offset, *barrier)) {
    return Cause{.rule = "race.shared-write-read",
                 .cta = &cta,
                 .thread = thread,
                 .location = other->uses.of(cta.number_of(thread)).wait - 1,
                 .found = fmt::format("{} waits for {}, and has not waited for {}, on which the load of the "
                                      "bytes that it reads completes",
                                      name_of(cta, thread), name_of(cta, *last, *other),
                                      name_of(owner, offset, *barrier)),
                 .expected = "a wait for the mbarrier on which the load completes, before the read",
                 .remedy = "wait for the full barrier of the stage that is read"};
  }
  return expects_nothing(cta, thread, owner, offset, *barrier);
}

/// The mistake of a load that is issued before the lane has released the stage, although the lane's own wait
/// is right.
static std::optional<Cause> why_overtaken(const Warp& warp, std::uint32_t lane, Cta& owner, const Copy& load,
                                          check::RuleId symptom) {
  Cta& cta = *warp.cta;
  const std::uint32_t thread = warp.thread(lane);
  const Mbarrier* const full = owner.mbarrier(load.barrier);
  const MbarrierUses::Thread uses =
      full == nullptr ? MbarrierUses::Thread() : full->uses.of(cta.number_of(thread));
  if (uses.wait == 0 || uses.ended != full->phase) return std::nullopt;
  auto cause = why_too_early(*load.issuer, load.thread, symptom, Reader{&cta, thread, warp.location()});
  return cause && cause->rule->id != symptom->id ? cause : std::nullopt;
}

bool report_read_early(const Warp& warp, std::uint32_t lane, Cta& owner, const Engine::InFlight& load,
                       check::RuleId symptom) {
  if (!load.barrier) return false;
  auto cause = why_read_early(*warp.cta, warp.thread(lane), owner, *load.barrier);
  if (!cause && load.load != nullptr) cause = why_overtaken(warp, lane, owner, *load.load, symptom);
  if (!cause) return false;
  const std::uint32_t line = line_of(*warp.cta, warp.location());
  report(*cause,
         fmt::format("PTX line {} reads what the load at PTX line {} has not delivered yet", line,
                     line_of(owner, *load.location)),
         symptom, line);
  return true;
}

void report(const Cause& cause, const std::string& shows, check::RuleId symptom, std::uint32_t line) {
  About about({}, fmt::format("mbarrier, location {}", cause.location));
  about.symptom = symptom->id;
  about.symptom_line = line;
  about.leads = cause.rule->id != symptom->id || cause.rule->id == "mbarrier.arrivals";
  cause.cta->report(cause.thread, cause.location, cause.rule, cause.found + "; so " + shows, cause.expected,
                    cause.remedy, std::move(about));
}

}  // namespace sim
TMAJIT_END
