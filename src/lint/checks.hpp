#pragma once

/// The checks, one function each. They report only what is certain, as far as the kernel's values and paths
/// are understood. They report nothing about the unknown.
#include "check/own_files.hpp"
#include "check/rules.hpp"
#include "lint/kernel.hpp"

#include <map>
#include <optional>
#include <set>

TMAJIT_BEGIN
namespace lint {

/// Findings that have one cause are one, once those that are allowed are taken out.
class Groups {
 public:
  /// `statement` of the source, and `cause`; 0 where they are unknown.
  void note(const Finding& finding, std::uint64_t statement, std::uint64_t cause) {
    keys_.try_emplace(place_of(finding), Key{statement, cause});
  }
  /// Findings that are sorted by their lines.
  void apply(std::vector<Finding>& findings) const;

 private:
  struct Key {
    std::uint64_t statement = 0;
    std::uint64_t cause = 0;
  };
  using Place = std::tuple<std::uint32_t, std::uint32_t, std::string>;
  static Place place_of(const Finding& finding) {
    return {finding.ptx_line, finding.ptx_column, finding.rule};
  }
  std::map<Place, Key> keys_;
};

/// The cause that makes findings of one rule one: the waits and barriers around `instruction`, or a number
/// of the check's own.
struct FindingCause {
  std::optional<std::uint32_t> instruction{};
  std::optional<std::uint64_t> number{};
  std::string_view remedy{};  ///< remedy, in place of the rule's own
};

/// Collects what the checks find in a kernel, one finding of each rule and instruction.
class Findings {
 public:
  Findings(const Kernel& kernel, const check::OwnFiles& own, Groups& groups, LintResult& result);

  /// Where `expected` is empty, the rule's own words stand for it.
  void add(std::uint32_t instruction, check::RuleId rule, std::string found, std::string expected = {},
           const FindingCause& cause = {});
  /// A check gave up.
  void unfinished(check::RuleId rule);

 private:
  const Kernel& kernel_;
  const check::OwnFiles& own_;
  Groups& groups_;
  LintResult& result_;
  std::vector<std::uint32_t> segments_;  ///< waits before each instruction
  std::set<std::tuple<const ptx::Instruction*, std::string_view>> known_;
};

/// The memory of a check along a path, and the facts that the path has learned.
struct PathState {
  std::uint64_t memory = 0;
  std::uint32_t origin = 0;  ///< an event that the memory came of
  bool several = false;      ///< whether it also came of other events, which the check treats alike
  Facts facts;
  friend bool operator==(const PathState&, const PathState&) = default;
};

/// A check of paths: an automaton over events. A finding must be certain from one path alone: where there are
/// too many paths, not all are followed.
class PathCheck {
 public:
  PathCheck(const Kernel& kernel, Findings& findings) : kernel_(kernel), findings_(findings) {}
  virtual ~PathCheck() = default;
  /// Whether step() does anything but go on as before: in some state that remembers something, or in one of
  /// memory 0.
  [[nodiscard]] virtual bool concerns(std::uint32_t event, bool remembers) const = 0;
  /// The event happens in `state`: appends every state that the path may go on with; none ends it.
  virtual void step(std::uint32_t event, const PathState& state, std::vector<PathState>& next) = 0;
  /// The thread ends at `instruction`, or one past the last.
  virtual void end(std::uint32_t /*instruction*/, const PathState& /*state*/) {}
  /// Whether end() does something in a state that remembers something.
  [[nodiscard]] virtual bool ends_matter() const { return false; }
  /// The path, which remembers something, goes back to a block of that rank; false ends it.
  virtual bool retreat(PathState& /*state*/, std::int32_t /*rank*/) { return true; }
  /// Whether step() asks which threads there are: facts of them are then kept to the end.
  [[nodiscard]] virtual bool asks_threads() const { return false; }

  [[nodiscard]] const Kernel& kernel() const noexcept { return kernel_; }
  [[nodiscard]] Findings& findings() const noexcept { return findings_; }

 protected:
  const Kernel& kernel_;
  Findings& findings_;
};

/// Follows all ways of a thread through the kernel that its branches allow as far as they are understood: a
/// way knows what it has been told of conditions that are asked more than once, and does not contradict
/// itself. False if there were too many to follow them all, which counts as `rule` unfinished.
bool explore(PathCheck& check, check::RuleId rule);

/// Alignment of what ld, st, copies and mbarriers address; sizes, ranks, coordinates of copies.
void check_accesses(const Kernel& kernel, Findings& findings);
/// Arrival counts, expected bytes' range, mbarriers never initialised or never waited on.
void check_mbarriers(const Kernel& kernel, Findings& findings);
/// Bytes that an mbarrier expects against those of the loads that follow.
void check_expected_bytes(const Kernel& kernel, Findings& findings);
/// fence.proxy.async before bulk stores, fences after mbarrier.init.
void check_fences(const Kernel& kernel, Findings& findings);
/// A thread uses an mbarrier only after it has initialised it or met the thread that did.
void check_init_order(const Kernel& kernel, Findings& findings);
/// Bulk stores are committed, and waited for before the thread ends.
void check_groups(const Kernel& kernel, Findings& findings);
/// Several lanes of a warp execute an instruction that one thread is to execute: mbarrier.init, bulk copies.
void check_repeats(const Kernel& kernel, Findings& findings);
/// A copy uses a tensor map that its thread has changed, without the acquire fence.
void check_map_changes(const Kernel& kernel, Findings& findings);
/// Rules of wgmma's registers, of setmaxnreg and of tensormap.replace, as the text shows them, block by
/// block.
void check_warpgroup(const Kernel& kernel, Findings& findings);
/// Registers that are read where no instruction has written them, and that matter there.
void check_unwritten(const Kernel& kernel, Findings& findings);
/// PTX version and target of every instruction; also of functions that are no kernels.
void check_target(const Kernel& kernel, Findings& findings);

}  // namespace lint
TMAJIT_END
