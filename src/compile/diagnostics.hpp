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
  std::string file;  ///< as in `#line`; "ptx" for an error of ptxas, empty for one without a place
  std::uint32_t line = 0;
  std::string message;
  std::optional<std::string> excerpt;  ///< the source line, as NVRTC prints it
  std::size_t offset = 0;              ///< byte of the excerpt that the caret points to

  friend bool operator==(const Diagnostic&, const Diagnostic&) = default;
};

/// The errors in `log`, in order, each once. Takes any text. `ptx` is what ptxas was given, if it got that
/// far: its `.loc` lines lead an error in inline PTX back to the line of the source.
[[nodiscard]] std::vector<Diagnostic> parse_log(std::string_view log, std::string_view ptx);

/// The message of a CompileError: the first three errors, in the user's own text. `expression` is empty if
/// the source holds none; otherwise errors of the front end elsewhere are shown at its end, for that is where
/// the generated text begins that no longer fits it.
[[nodiscard]] std::string explain(std::string_view log, std::string_view ptx, std::string_view entry,
                                  std::string_view expression);

/// `line` with a caret under byte `offset` (its end if beyond), both indented by two spaces and cut to a
/// window around the caret if the line is long. Two lines, the second without a newline.
[[nodiscard]] std::string excerpt(std::string_view line, std::size_t offset);

/// Returns what ptxas reports (-Xptxas=-v) in `log` about the kernel `entry`; nullopt if it is not mentioned.
[[nodiscard]] std::optional<Resources> parse_resources(std::string_view log, std::string_view entry);

TMAJIT_END
