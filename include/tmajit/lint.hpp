#pragma once

#include <tmajit/finding.hpp>
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
  std::uint64_t offset = 0;           ///< bytes from the parameter's beginning: of a map in a struct
};

/// The facts of a map that is encoded from `spec`.
[[nodiscard]] TMAJIT_API MapFacts map_facts(std::string_view parameter, const TensorMapSpec& spec);

/// Findings of a rule that are no findings.
struct AllowedRule {
  std::string rule;          ///< id of the rule
  std::string kernel = "*";  ///< kernels whose names match: * is any text, ? any character
};

/// The rules that a file allows, one a line: "rule", or "rule kernel"; what follows # is a remark. `name`
/// stands before what is wrong with it.
[[nodiscard]] TMAJIT_API std::vector<AllowedRule> parse_allowed_rules(std::string_view text,
                                                                      std::string_view name);

struct LintOptions {
  std::string name = "ptx";  ///< stands before the lines of LintResult::report
  std::string entry = {};    ///< the only kernel that is looked at, by its symbol; empty: all of them
  std::vector<MapFacts> maps = {};
  std::vector<AllowedRule> allowed = {};
  /// Root folder of the user's project: a finding in an inlined function stands at the innermost frame whose
  /// file lies below it and is no library's. Empty: unknown.
  std::string project = {};
  /// Reads the source that a .file of the PTX names, if it can be read: for comments there that allow rules.
  std::function<std::optional<std::string>(const std::string& path)> read_source = {};
};

struct LintResult {
  std::vector<Finding> findings;     ///< in the order of the text
  std::vector<Finding> allowed;      ///< findings of allowed rules; not in `report`
  std::vector<std::string> kernels;  ///< kernels that were checked
  /// Up to 20 instructions that tmajit does not know. They are no mistakes. Functions that contain them get
  /// no other findings.
  std::vector<Finding> notes;
  /// Indices of LintOptions::maps that no kernel takes as a tensor map. Empty where that is not certain: maps
  /// that a called function, or a copy through an address from elsewhere, may use.
  std::vector<std::size_t> unused_maps;
  /// Checks that looked at as many paths as they may, and said nothing: "kernel: rule".
  std::vector<std::string> unfinished;
  /// The findings ready to print, "name:3:7: error: …", the line, a caret; then the notes.
  std::string report;
};

/// Checks a PTX module without running it. Where the simulator reports the same mistake, the rule is the
/// same. Text that is no PTX is a finding like others, of rule "syntax" or "name". Thread-safe; never throws
/// for what the text holds; Error with invalid_argument for an unknown rule in `allowed`.
///
/// A comment "// tmajit-allow: rule, rule" allows these rules of the instruction on its line or the next, in
/// the PTX and in the source that its .loc names.
[[nodiscard]] TMAJIT_API LintResult lint_ptx(std::string_view text, const LintOptions& options = {});

TMAJIT_END
