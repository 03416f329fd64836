#pragma once

#include <tmajit/names.hpp>
#include <tmajit/version.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

TMAJIT_BEGIN

/// How much a finding matters.
enum class Severity : std::uint8_t {
  advice,    ///< nothing is wrong with the kernel
  omission,  ///< what the PTX ISA asks for and kernels that work leave out
  mistake,   ///< the kernel is wrong
};

/// The severity as it is written: "mistake".
[[nodiscard]] TMAJIT_API std::string_view name(Severity severity) noexcept;
template <>
[[nodiscard]] TMAJIT_API Severity parse<Severity>(std::string_view name);

/// A rule that a kernel can break, as the simulated device (sim.hpp) and lint (lint.hpp) know it.
struct Rule {
  std::string_view id;       ///< stable identifier, "shared.in-flight-read"
  std::string_view meaning;  ///< what a kernel that breaks it does, in one sentence
  std::string_view legal;    ///< what would be legal
  std::string_view remedy;   ///< what usually helps
  std::string_view source;   ///< where the rule is written, "PTX ISA: mbarrier.init"
  Severity severity = Severity::mistake;
};

/// Every rule, sorted by its id.
[[nodiscard]] TMAJIT_API std::span<const Rule> check_rules() noexcept;
/// The rule with that id; null if there is none.
[[nodiscard]] TMAJIT_API const Rule* find_rule(std::string_view id) noexcept;

/// A mistake of a kernel, and where it shows.
struct Finding {
  std::string rule;              ///< id of the rule that is broken
  std::string kernel;            ///< entry or function; empty if it belongs to none
  std::uint32_t ptx_line = 0;    ///< of the kernel's PTX, from 1; 0 if it belongs to no instruction
  std::uint32_t ptx_column = 0;  ///< from 1; 0 if it belongs to no instruction
  std::string instruction;       ///< that line's instruction; empty if it belongs to none
  /// The file of its .loc, without folders; empty if the PTX does not name it. If the instruction was
  /// inlined, the file of the innermost frame in the user's project (LintOptions::project,
  /// SimOptions::project); if there is none, of the outermost frame that is no library's.
  std::string source_file;
  std::string source_path;        ///< the same file from the project's root, or else as .file has it
  std::uint64_t source_line = 0;  ///< there; 0 without line info
  std::string found;              ///< what happened, or what the text says
  std::string expected;           ///< what is legal
  std::string remedy;             ///< what usually helps
  /// PTX lines of further instructions that show the same mistake, in order.
  std::vector<std::uint32_t> also_lines{};
  Severity severity = Severity::mistake;  ///< its rule's
};

TMAJIT_END
