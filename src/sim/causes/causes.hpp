#pragma once

/// Finds the mistake behind a report: a wait that ends too early, an mbarrier that counts too few arrivals, a
/// stage (buffer of a pipeline) that is released before it has been read. The report itself is about another
/// instruction.
#include "sim/cta/cta.hpp"

#include <optional>
#include <string>

TMAJIT_BEGIN
namespace sim {

/// A mistake: the rule, the thread and the instruction to report.
struct Cause {
  check::RuleId rule;
  Cta* cta = nullptr;
  std::uint32_t thread = 0;
  std::uint32_t location = 0;  ///< index into Program::locations
  std::string found;
  std::string expected{};
  std::string remedy{};
};

/// A thread that still reads memory which another thread overwrites.
struct Reader {
  Cta* cta = nullptr;
  std::uint32_t thread = 0;
  std::uint32_t location = 0;  ///< index into Program::locations of the read
  bool product = false;        ///< the read is by a wgmma, so the whole warp reads
  /// Offset of the mbarrier of the load that overwrites the stage, in the CTA that loads.
  std::optional<std::uint32_t> full{};
};

/// "the mbarrier at shared address 0x400 (mbarrier.init at PTX line 12 for 2 arrivals)"
[[nodiscard]] std::string name_of(const Cta& cta, std::uint32_t offset, const Mbarrier& barrier);
/// "thread (3, 0, 0)"
[[nodiscard]] std::string name_of(const Cta& cta, std::uint32_t thread);
/// The mistake of a thread that waits for the wrong mbarrier before it loads a stage again: it has waited for
/// the mbarrier at `offset`, and no thread waits for the mbarrier at which the stage's readers arrive. The
/// readers' mbarrier is one that no load uses and at which `reader` arrives. If the thread's own load
/// completes on the mbarrier at `offset`, it may be any mbarrier that no load uses.
[[nodiscard]] std::optional<Cause> waits_elsewhere(Cta& cta, std::uint32_t thread, std::uint32_t offset,
                                                   const Mbarrier& barrier,
                                                   const std::optional<Reader>& reader = {});
/// Whether the micro-operation is a branch to itself or to an earlier micro-operation, so that it ends a
/// loop.
[[nodiscard]] bool branches_back(const Program& program, std::uint32_t pc);
/// Whether `thread`, which has issued a bulk store and not waited for it yet, will wait before its next
/// barrier.
[[nodiscard]] bool is_about_to_wait(const Cta& cta, std::uint32_t thread);
/// Why `thread` of `cta` overwrites a stage in use, or arrives once too often: the mistake in its last wait
/// for an mbarrier. `rule` is the rule of the report to explain. Returns nothing if that wait shows no
/// mistake.
[[nodiscard]] std::optional<Cause> why_too_early(Cta& cta, std::uint32_t thread, check::RuleId rule,
                                                 const std::optional<Reader>& reader = {});
/// Why `thread` of `cta` reads bytes that a load has not delivered. The load completes on the mbarrier at
/// `offset` of `owner`. Returns nothing if the thread's waits show no mistake.
[[nodiscard]] std::optional<Cause> why_read_early(Cta& cta, std::uint32_t thread, Cta& owner,
                                                  std::uint32_t offset);
/// Called when the lane reads bytes of `owner` that `load` has not delivered. If the cause is a wrong wait,
/// reports it and returns true; else returns false.
bool report_read_early(const Warp& warp, std::uint32_t lane, Cta& owner, const Engine::InFlight& load,
                       check::RuleId symptom);
/// The mistake of an mbarrier at which more threads arrive than its count, or one thread twice in a phase.
[[nodiscard]] std::optional<Cause> wrong_count(Cta& owner, std::uint32_t offset, const Mbarrier& barrier);
/// Reports a cause. `symptom` and `line` are the rule and the PTX line of its consequence, which `shows`
/// describes.
void report(const Cause& cause, const std::string& shows, check::RuleId symptom, std::uint32_t line);

/// Why no thread of a cluster can continue.
struct DeadlockCause {
  Cause why;             ///< the rule is `deadlock` if no other rule fits
  std::string first;     ///< a text in the lines of describe_waits() that the report shows first
  bool certain = false;  ///< the cause explains all other findings
};
/// Returns nothing if no cause is found.
[[nodiscard]] std::optional<DeadlockCause> why_deadlock(Cluster& cluster);

}  // namespace sim
TMAJIT_END
