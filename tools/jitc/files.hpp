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

/// Standard streams that were closed get a descriptor that cannot be read or written, so that no file that is
/// opened later takes their number, and what is meant for people or a pipe does not land in it.
void hold_standard_streams();

/// A failed write, a closed pipe or a mapped file that shrinks must end in an error message, not in a signal:
/// ignores SIGXFSZ and SIGPIPE, and turns SIGBUS into one line on standard error and exit code 1.
void install_signal_handling();

}  // namespace jitc
