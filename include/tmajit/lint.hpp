#pragma once

#include <tmajit/finding.hpp>
#include <tmajit/kernel_plan.hpp>
#include <tmajit/tensor_map_spec.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

TMAJIT_BEGIN

/// The properties that a kernel may assume of a tensor map that it takes as a parameter.
struct MapFacts {
  std::string parameter;              ///< name in the PTX, or number of the parameter, from 0
  std::uint64_t box_bytes = 0;        ///< bytes that a load adds to its mbarrier; 0 if not known
  std::uint32_t rank = 0;             ///< 0 if not known
  std::uint32_t element_bytes = 0;    ///< 0 if not known, or if it does not matter (interleaved maps)
  std::uint32_t alignment = 128;      ///< bytes, of the tile in shared memory: 128, or the swizzle's period
  std::optional<MapMode> mode{};      ///< nothing if not known
  std::optional<ElementType> type{};  ///< element type of reductions; nothing if not known
  std::uint64_t offset = 0;           ///< bytes from the parameter's beginning to a map in a struct
};

/// The facts of a map that is encoded from `spec`.
[[nodiscard]] TMAJIT_API MapFacts map_facts(std::string_view parameter, const TensorMapSpec& spec);

/// The facts of every map that a plan's kernel takes.
[[nodiscard]] TMAJIT_API std::vector<MapFacts> map_facts(const KernelPlan& plan);

/// A rule whose findings are suppressed.
struct AllowedRule {
  std::string rule;          ///< id of the rule
  std::string kernel = "*";  ///< kernels whose names match: * is any text, ? any character
};

/// The rules that a file allows, one on each line: "rule", or "rule kernel"; text after # is a remark. Error
/// messages begin with `name`.
[[nodiscard]] TMAJIT_API std::vector<AllowedRule> parse_allowed_rules(std::string_view text,
                                                                      std::string_view name);

/// The text of a file, as LintOptions::read_source returns it; nothing if the file cannot be read.
[[nodiscard]] TMAJIT_API std::optional<std::string> read_source_file(const std::string& path);

struct LintOptions {
  std::string name = "ptx";  ///< name of the PTX, with which the lines of LintResult::report begin
  std::string entry = {};    ///< symbol of the only kernel to check; empty: all kernels
  std::vector<MapFacts> maps = {};
  std::vector<AllowedRule> allowed = {};
  /// Root folder of the user's project. A finding in an inlined function is reported at the innermost frame
  /// whose file is below this folder and belongs to no library. Empty: unknown.
  std::string project = {};
  /// Reads a source file that a .file of the PTX names, to find comments that allow rules; nothing if it
  /// cannot be read.
  std::function<std::optional<std::string>(const std::string& path)> read_source = {};
};

struct LintResult {
  std::vector<Finding> findings;     ///< in the order of the text
  std::vector<Finding> allowed;      ///< findings of allowed rules; not in `report`
  std::vector<std::string> kernels;  ///< kernels that were checked
  /// Up to 20 instructions that tmajit does not know. They are no mistakes. Functions that contain them get
  /// no other findings.
  std::vector<Finding> notes;
  /// Indices of LintOptions::maps that no kernel uses as a tensor map. Empty if lint cannot tell: a called
  /// function, or a copy through an address from elsewhere, may use them.
  std::vector<std::size_t> unused_maps;
  /// Checks that stopped at their limit of paths without a finding: "kernel: rule".
  std::vector<std::string> unfinished;
  /// The findings ready to print, "name:3:7: error: …", the line, a caret; then the notes.
  std::string report;
};

/// Checks a PTX module without running it. Where the simulator reports the same mistake, the rule is the
/// same. Text that is no PTX is a finding of rule "syntax" or "name", never an exception. Thread-safe. Throws
/// Error{invalid_argument} for an unknown rule in `allowed`.
///
/// A comment "// tmajit-allow: rule, rule" allows these rules of the instruction on its line or the next, in
/// the PTX and in the source that its .loc names.
[[nodiscard]] TMAJIT_API LintResult lint_ptx(std::string_view text, const LintOptions& options = {});

TMAJIT_END
