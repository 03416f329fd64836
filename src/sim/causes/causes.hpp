#pragma once

/// The mistake behind a report: a wait that ends too early, an mbarrier that counts too few arrivals, a stage
/// that is handed back before it has been read. The threads meet it elsewhere.
#include "sim/cta/cta.hpp"

#include <optional>
#include <string>

TMAJIT_BEGIN
namespace sim {

struct Cause {
  check::RuleId rule;
  Cta* cta = nullptr;
  std::uint32_t thread = 0;
  std::uint32_t place = 0;
  std::string found;
  std::string expected{};
  std::string remedy{};
};

/// A thread that has not finished with what another goes on to overwrite.
struct Reader {
  Cta* cta = nullptr;
  std::uint32_t thread = 0;
  std::uint32_t place = 0;  ///< of its read
  bool product = false;     ///< the read is a wgmma's, so its warp is meant
  /// Offset of the mbarrier of the load that overwrites the stage, in the CTA that loads.
  std::optional<std::uint32_t> full{};
};

/// "the mbarrier at shared address 0x400 (mbarrier.init at PTX line 12 for 2 arrivals)"
[[nodiscard]] std::string name_of(const Cta& cta, std::uint32_t offset, const Mbarrier& barrier);
/// "thread (3, 0, 0)"
[[nodiscard]] std::string name_of(const Cta& cta, std::uint32_t thread);
/// `thread` has waited for the mbarrier at `offset`, and no thread waits for the one by which the stage is
/// released: one at which the reader arrives, or any where the thread's own load completes on the first.
[[nodiscard]] std::optional<Cause> waits_elsewhere(Cta& cta, std::uint32_t thread, std::uint32_t offset,
                                                   const Mbarrier& barrier,
                                                   const std::optional<Reader>& reader = {});
/// Whether the micro-operation ends a loop, by a branch to itself or what stands before it.
[[nodiscard]] bool branches_back(const Program& program, std::uint32_t pc);
/// Whether the thread that issued a store waits for it before its next barrier, though it has not yet.
[[nodiscard]] bool is_about_to_wait(const Cta& cta, std::uint32_t thread);
/// Why `thread` of `cta` goes on although a stage is in use: what is wrong with the mbarrier that it last
/// waited for, and let it go on. `rule`: of the report that this is about. Nothing if that wait shows no
/// mistake.
[[nodiscard]] std::optional<Cause> why_went_on(Cta& cta, std::uint32_t thread, check::RuleId rule,
                                               const std::optional<Reader>& reader = {});
/// Why `thread` of `cta` uses what a load has not delivered that completes on the mbarrier at `offset` of
/// `owner`. Nothing if it has waited for no phase of it, or if its last wait shows no mistake.
[[nodiscard]] std::optional<Cause> why_read_early(Cta& cta, std::uint32_t thread, Cta& owner,
                                                  std::uint32_t offset);
/// Reports that the lane reads early what `load` has not delivered, if its last wait for the load's mbarrier
/// is why. `owner`: of the memory. False if it is not.
bool report_read_early(const Warp& warp, std::uint32_t lane, Cta& owner, const Engine::InFlight& load,
                       check::RuleId symptom);
/// More threads arrive at the mbarrier at `offset` than it counts, or one arrives twice in a phase.
[[nodiscard]] std::optional<Cause> wrong_count(Cta& owner, std::uint32_t offset, const Mbarrier& barrier);
/// Reports a cause. `symptom` and `line` are the rule and the PTX line of what shows it, `shows` says what
/// that is.
void report(const Cause& cause, const std::string& shows, check::RuleId symptom, std::uint32_t line);

/// Why no thread of a cluster can go on.
struct DeadlockCause {
  Cause why;             ///< of rule deadlock, if no other rule names it
  std::string first;     ///< part of the line of describe_waits() that is about it
  bool certain = false;  ///< a count is wrong: whatever else was found comes of it
};
[[nodiscard]] std::optional<DeadlockCause> why_deadlock(Cluster& cluster);

}  // namespace sim
TMAJIT_END
