#pragma once

#include <tmajit/compile.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

TMAJIT_BEGIN

/// One error of NVRTC's log.
struct Diagnostic {
  /// The tool that found it: the C++ front end, or ptxas in the PTX compiled from the source.
  enum class Stage { front_end, assembler } stage = Stage::front_end;
  std::string file;  ///< as in `#line`; "ptx" for an error of ptxas; empty if the error has no position
  std::uint32_t line = 0;
  std::string message;
  std::optional<std::string> excerpt;  ///< the source line, as NVRTC prints it
  std::size_t offset = 0;              ///< byte of the excerpt that the caret points to

  friend bool operator==(const Diagnostic&, const Diagnostic&) = default;
};

/// The errors in `log`, in order, each once. Accepts any text. `ptx` is the input of ptxas, or empty if the
/// front end failed: its `.loc` lines give the source line of an error in inline PTX.
[[nodiscard]] std::vector<Diagnostic> parse_log(std::string_view log, std::string_view ptx);

/// The message of a CompileError: the first three errors, shown in the user's own text. `expression` is the
/// user's expression, or empty. A front-end error after the expression is shown at the expression's end,
/// because the expression is then incomplete: the generated text that follows cannot continue it.
[[nodiscard]] std::string explain(std::string_view log, std::string_view ptx, std::string_view entry,
                                  std::string_view expression);

/// `line` with a caret under byte `offset`, or under its end if `offset` is beyond. Both are indented by two
/// spaces; a long line is cut to a window around the caret. Two lines, the second without a newline.
[[nodiscard]] std::string excerpt(std::string_view line, std::size_t offset);

/// The resources that ptxas reports (-Xptxas=-v) in `log` for the kernel `entry`; nullopt without a report.
[[nodiscard]] std::optional<Resources> parse_resources(std::string_view log, std::string_view entry);

TMAJIT_END
