#pragma once

/// Finds the mistake behind a report: a wait that ends too early, an mbarrier that counts too few arrivals, a
/// stage that is handed back before it has been read. Such a mistake shows at another instruction.
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

/// A thread that still reads memory which another thread goes on to overwrite.
struct Reader {
  Cta* cta = nullptr;
  std::uint32_t thread = 0;
  std::uint32_t place = 0;  ///< index into Program::place of the read
  bool product = false;     ///< the read is a wgmma's, so the whole warp reads
  /// Offset of the mbarrier of the load that overwrites the stage, in the CTA that loads.
  std::optional<std::uint32_t> full{};
};

/// "the mbarrier at shared address 0x400 (mbarrier.init at PTX line 12 for 2 arrivals)"
[[nodiscard]] std::string name_of(const Cta& cta, std::uint32_t offset, const Mbarrier& barrier);
/// "thread (3, 0, 0)"
[[nodiscard]] std::string name_of(const Cta& cta, std::uint32_t thread);
/// `thread` has waited for the mbarrier at `offset`, and no thread waits for the mbarrier by which the stage
/// is released. That is one at which the reader arrives, or, if the thread's own load completes on the
/// mbarrier at `offset`, any.
[[nodiscard]] std::optional<Cause> waits_elsewhere(Cta& cta, std::uint32_t thread, std::uint32_t offset,
                                                   const Mbarrier& barrier,
                                                   const std::optional<Reader>& reader = {});
/// Whether the micro-operation ends a loop: a branch to itself or to an earlier micro-operation.
[[nodiscard]] bool branches_back(const Program& program, std::uint32_t pc);
/// Whether `thread`, which has issued a store and not waited for it yet, waits before its next barrier.
[[nodiscard]] bool is_about_to_wait(const Cta& cta, std::uint32_t thread);
/// Why `thread` of `cta` goes on although a stage is in use: the mistake in its last wait for an mbarrier.
/// `rule` is the rule of the report to explain. Nothing if that wait shows no mistake.
[[nodiscard]] std::optional<Cause> why_too_early(Cta& cta, std::uint32_t thread, check::RuleId rule,
                                                 const std::optional<Reader>& reader = {});
/// Why `thread` of `cta` uses bytes that a load has not delivered; the load completes on the mbarrier at
/// `offset` of `owner`. Nothing if the thread has waited for no phase of that mbarrier, or if its last wait
/// shows no mistake.
[[nodiscard]] std::optional<Cause> why_read_early(Cta& cta, std::uint32_t thread, Cta& owner,
                                                  std::uint32_t offset);
/// Reports that the lane reads bytes which `load` has not delivered, if the mistake is in its last wait for
/// the load's mbarrier; else returns false. `owner` is the CTA whose memory the lane reads.
bool report_read_early(const Warp& warp, std::uint32_t lane, Cta& owner, const Engine::InFlight& load,
                       check::RuleId symptom);
/// The mistake of an mbarrier at which more threads arrive than it counts, or one thread twice in a phase.
[[nodiscard]] std::optional<Cause> wrong_count(Cta& owner, std::uint32_t offset, const Mbarrier& barrier);
/// Reports a cause. `symptom` and `line` are the rule and the PTX line of the access that shows the mistake;
/// `shows` describes that access.
void report(const Cause& cause, const std::string& shows, check::RuleId symptom, std::uint32_t line);

/// Why no thread of a cluster can go on.
struct DeadlockCause {
  Cause why;             ///< its rule is `deadlock` if no other rule fits
  std::string first;     ///< part of the line of describe_waits() that shows it
  bool certain = false;  ///< a count is wrong, and explains all other findings
};
[[nodiscard]] std::optional<DeadlockCause> why_deadlock(Cluster& cluster);

}  // namespace sim
TMAJIT_END
