#pragma once

#include "launch/files.hpp"

#include <spdlog/fmt/fmt.h>

namespace jitc {

using tmajit::InputFile;
using tmajit::OutputFile;
using tmajit::require_distinct;

/// Writes all of `text` to standard output. Throws Error{io}.
void write_stdout(std::string_view text);
template <class... Values>
void write_stdout(fmt::format_string<Values...> text, Values&&... values) {
  write_stdout(std::string_view(fmt::format(text, std::forward<Values>(values)...)));
}

/// Whether -o is left out or names standard output.
[[nodiscard]] inline bool to_standard_output(std::string_view out) {
  return out.empty() || out == tmajit::standard_stream;
}

/// The file of -o as messages show it.
[[nodiscard]] inline std::string output_name(const std::string& out) {
  return out == tmajit::standard_stream ? "standard output" : out;
}

/// Writes a text to the file `path`, or to standard output if it is empty. Throws Error{io}.
void write_text(const std::string& path, std::string_view text);

/// Gives closed standard streams a descriptor that cannot be read or written. Without it, a file that is
/// opened later would take their number and receive messages.
void hold_standard_streams();

/// A failed write, a closed pipe or a mapped file that shrinks must end in an error message, not in a signal:
/// ignores SIGXFSZ and SIGPIPE, and turns SIGBUS into one line on standard error and exit code 3.
void install_signal_handling();

}  // namespace jitc
