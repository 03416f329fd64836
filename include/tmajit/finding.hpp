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
  omission,  ///< the kernel omits something that the PTX ISA demands and working kernels leave out
  mistake,   ///< the kernel is wrong
};

/// The severity as it is written: "mistake".
[[nodiscard]] TMAJIT_API std::string_view name(Severity severity) noexcept;
template <>
[[nodiscard]] TMAJIT_API Severity parse<Severity>(std::string_view name);

/// A rule that a kernel can break. The simulated device (sim.hpp) and lint (lint.hpp) share the rules. A NUL
/// follows each text, so that its data() is a C string.
struct Rule {
  std::string_view id;       ///< stable identifier, "shared.in-flight-read"
  std::string_view meaning;  ///< behaviour of a kernel that breaks it, in one sentence
  std::string_view legal;    ///< the legal behaviour
  std::string_view remedy;   ///< the usual fix
  std::string_view source;   ///< text that states the rule, "PTX ISA: mbarrier.init"
  Severity severity = Severity::mistake;
};

/// Every rule, sorted by its id.
[[nodiscard]] TMAJIT_API std::span<const Rule> check_rules() noexcept;
/// The rule with that id; null if there is none.
[[nodiscard]] TMAJIT_API const Rule* find_rule(std::string_view id) noexcept;

/// A mistake of a kernel, and its location.
struct Finding {
  std::string rule;              ///< id of the rule that is broken
  std::string kernel;            ///< entry or function; empty if the finding belongs to none
  std::uint32_t ptx_line = 0;    ///< line of the kernel's PTX, from 1; 0 if it belongs to no instruction
  std::uint32_t ptx_column = 0;  ///< column, from 1; 0 if it belongs to no instruction
  std::string instruction;       ///< the instruction of that line; empty if it belongs to none
  /// The file of its .loc, without folders; empty if the PTX does not name it. If the instruction was
  /// inlined, the file of the innermost frame in the user's project (LintOptions::project,
  /// SimOptions::project); if there is none, of the outermost frame outside libraries.
  std::string source_file;
  std::string source_path;        ///< path of that file from the project's root, or else as in .file
  std::uint64_t source_line = 0;  ///< line in that file; 0 without line info
  std::string found;              ///< what the kernel did in the run, or what its PTX says
  std::string expected;           ///< the legal behaviour
  std::string remedy;             ///< the usual fix
  /// PTX lines of further instructions that show the same mistake, in order.
  std::vector<std::uint32_t> also_lines{};
  Severity severity = Severity::mistake;  ///< the rule's severity
};

TMAJIT_END
