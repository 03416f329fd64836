#pragma once

/// The checks, one function each. What they report is certain as far as the kernel's values and paths are
/// understood; what is unknown is not reported.
#include "lint/kernel.hpp"

#include <set>

TMAJIT_BEGIN
namespace lint {

/// Collects what the checks find, one finding of each rule and instruction.
class Findings {
 public:
  explicit Findings(LintResult& result) : result_(result) {}

  void add(const Kernel& kernel, std::uint32_t instruction, std::string_view rule, std::string found,
           std::string expected, std::string remedy);
  /// A check gave up on `kernel`.
  void unfinished(const Kernel& kernel, std::string_view rule);

 private:
  LintResult& result_;
  std::set<std::tuple<const ptx::Instruction*, std::string>> known_;
};

/// "line 12", for texts.
[[nodiscard]] std::string line_of(const Kernel& kernel, std::uint32_t instruction);

/// Alignment of what ld, st, copies and mbarriers address.
void check_addresses(const Kernel& kernel, Findings& findings);
/// Sizes, ranks, coordinates of copies.
void check_copies(const Kernel& kernel, Findings& findings);
/// Arrival counts, expected bytes' range, mbarriers never initialised or never waited on.
void check_mbarriers(const Kernel& kernel, Findings& findings);
/// Bytes that an mbarrier expects against those of the loads that follow.
void check_expected_bytes(const Kernel& kernel, Findings& findings);
/// fence.proxy.async before bulk stores, fences after mbarrier.init.
void check_fences(const Kernel& kernel, Findings& findings);
/// Nobody uses an mbarrier before it has initialised it or met who did.
void check_init_order(const Kernel& kernel, Findings& findings);
/// Bulk stores are committed, and waited for before the thread ends.
void check_groups(const Kernel& kernel, Findings& findings);
/// PTX version and target of every instruction; also of functions that are no kernels.
void check_target(const Kernel& kernel, Findings& findings);

}  // namespace lint
TMAJIT_END
