#pragma once

#include "ptx/ast.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

TMAJIT_BEGIN
namespace ptx {

/// An error or warning in a text, with its location.
struct Diagnostic {
  Location location;
  std::string message;
  bool is_warning = false;
};

/// A module, or the errors that prevent one.
struct ParseResult {
  std::optional<Module> module;         ///< empty if there was any error
  std::vector<Diagnostic> diagnostics;  ///< errors in the order of the text
  std::string report;  ///< the errors ready to print: "name:3:7: error: …", the line, a caret
  explicit operator bool() const noexcept { return module.has_value(); }
};

/// Parses one PTX module (PTX ISA 8.0 to 9.x, as NVRTC writes it). An instruction without a form (see
/// forms.hpp), or whose operands cannot be read, stays in the module as an unknown one: an error for callers
/// that need to know what it does. After any other error the parser continues with the next statement, up to
/// 20 errors. The content of the text never makes it throw; a text of more than 1 GiB is an error. `name`
/// stands for the file name in the report.
[[nodiscard]] ParseResult parse(std::string_view text, std::string_view name = "ptx");

}  // namespace ptx
TMAJIT_END
