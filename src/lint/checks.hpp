#pragma once

/// The checks, one function each. They report only certain mistakes: where a value or a path of the kernel is
/// unknown, they report nothing.
#include "check/own_files.hpp"
#include "check/rules.hpp"
#include "lint/kernel.hpp"

#include <map>
#include <optional>
#include <set>

TMAJIT_BEGIN
namespace lint {

/// Merges findings that have the same cause or the same source statement, after allowed findings are removed.
class Groups {
 public:
  /// Stores the source statement and the cause of a finding; 0 stands for an unknown one.
  void note(const Finding& finding, std::uint64_t statement, std::uint64_t cause) {
    keys_.try_emplace(key_of(finding), Key{statement, cause});
  }
  /// Merges `findings`, which are sorted by line.
  void apply(std::vector<Finding>& findings) const;

 private:
  struct Key {
    std::uint64_t statement = 0;
    std::uint64_t cause = 0;
  };
  using LocationKey = std::tuple<std::uint32_t, std::uint32_t, std::string>;
  static LocationKey key_of(const Finding& finding) {
    return {finding.ptx_line, finding.ptx_column, finding.rule};
  }
  std::map<LocationKey, Key> keys_;
};

/// The cause by which findings of one rule are merged: the segment between waits and barriers that holds
/// `instruction`, or a number that the check defines.
struct FindingCause {
  std::optional<std::uint32_t> instruction{};
  std::optional<std::uint64_t> number{};
  std::string_view remedy{};  ///< replaces the rule's remedy
};

/// Collects what the checks find in a kernel: at most one finding for each rule and instruction.
class Findings {
 public:
  Findings(const Kernel& kernel, const check::OwnFiles& own, Groups& groups, LintResult& result);

  /// If `expected` is empty, the rule's text is used.
  void add(std::uint32_t instruction, check::RuleId rule, std::string found, std::string expected = {},
           const FindingCause& cause = {});
  /// Records that the check for `rule` gave up.
  void unfinished(check::RuleId rule);

 private:
  void count_segments();

  const Kernel& kernel_;
  const check::OwnFiles& own_;
  Groups& groups_;
  LintResult& result_;
  /// Number of waits and barriers before each instruction; empty before the first finding.
  std::vector<std::uint32_t> segments_;
  /// Instruction and rule of each finding.
  std::set<std::tuple<const ptx::Instruction*, std::string_view>> added_;
};

/// The memory of a check along a path, and the facts that the path has learned.
struct PathState {
  std::uint64_t memory = 0;  ///< what the check follows on this path, in the check's own code; 0: nothing
  std::uint32_t origin = 0;  ///< an event that led to this memory
  bool has_other_origins = false;  ///< whether other events led to this memory, too
  Facts facts;
  friend bool operator==(const PathState&, const PathState&) = default;
};

/// A check of paths: an automaton over events. A finding must be certain from one path alone: if there are
/// too many paths, some are not followed.
class PathCheck {
 public:
  PathCheck(const Kernel& kernel, Findings& findings) : kernel_(kernel), findings_(findings) {}
  virtual ~PathCheck() = default;
  /// Whether step() may change a state or report a finding at the event. `remembers`: in states whose memory
  /// is not 0; if false, in states whose memory is 0.
  [[nodiscard]] virtual bool concerns(std::uint32_t event, bool remembers) const = 0;
  /// Processes `event` in `state`: appends every state in which the path may continue to `next`. If it
  /// appends none, the path ends.
  virtual void step(std::uint32_t event, const PathState& state, std::vector<PathState>& next) = 0;
  /// The thread ends at `instruction`, which is one past the last at the end of the function.
  virtual void end(std::uint32_t /*instruction*/, const PathState& /*state*/) {}
  /// Whether end() may report a finding in a state whose memory is not 0.
  [[nodiscard]] virtual bool ends_matter() const { return false; }
  /// The path, whose memory is not 0, takes a back edge to the block of `rank`. Returns false to end the
  /// path.
  virtual bool retreat(PathState& /*state*/, std::int32_t /*rank*/) { return true; }
  /// Whether step() asks which threads follow the path. Facts about threads are then recorded to the path's
  /// end.
  [[nodiscard]] virtual bool asks_threads() const { return false; }

  [[nodiscard]] const Kernel& kernel() const noexcept { return kernel_; }
  [[nodiscard]] Findings& findings() const noexcept { return findings_; }

 protected:
  const Kernel& kernel_;
  Findings& findings_;
};

/// Follows all paths of a thread that the kernel's branches allow, as far as their conditions are understood.
/// A path remembers the conditions that it has passed, and never contradicts them. Returns false if there are
/// too many paths, and records `rule` as unfinished.
bool explore(PathCheck& check, check::RuleId rule);

/// Checks the alignment of addresses of ld, st, copies and mbarriers, and sizes, ranks and coordinates of
/// copies.
void check_accesses(const Kernel& kernel, Findings& findings);
/// Checks the range of arrival counts and expected bytes. Reports mbarriers that are never initialised or
/// never waited for.
void check_mbarriers(const Kernel& kernel, Findings& findings);
/// Compares the bytes that an mbarrier expects with the bytes of the loads that follow.
void check_expected_bytes(const Kernel& kernel, Findings& findings);
/// Reports a missing fence.proxy.async before a bulk store, and a missing fence after mbarrier.init.
void check_fences(const Kernel& kernel, Findings& findings);
/// Reports a thread that uses an mbarrier which it has not initialised, before a barrier with the thread that
/// initialises it.
void check_init_order(const Kernel& kernel, Findings& findings);
/// Reports bulk stores that are not committed, or not waited for before the thread ends.
void check_groups(const Kernel& kernel, Findings& findings);
/// Reports mbarrier.init and bulk copies that several lanes of a warp execute in place of one thread.
void check_repeats(const Kernel& kernel, Findings& findings);
/// Reports waits for an mbarrier whose result the kernel ignores.
void check_waits(const Kernel& kernel, Findings& findings);
/// Reports a copy through a tensor map that its thread has changed, without the acquire fence.
void check_map_changes(const Kernel& kernel, Findings& findings);
/// Checks the registers of wgmma, setmaxnreg and tensormap.replace, block by block in the order of the PTX
/// text.
void check_warpgroup(const Kernel& kernel, Findings& findings);
/// Reports registers that are read before any instruction has written them, if their value has an effect.
void check_unwritten(const Kernel& kernel, Findings& findings);
/// Checks that the module's PTX version and target have every instruction, also in functions that are no
/// kernels.
void check_target(const Kernel& kernel, Findings& findings);

}  // namespace lint
TMAJIT_END
