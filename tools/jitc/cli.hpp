#pragma once

#include <exception>

namespace jitc {

/// Parses and runs. 0: done, 1: failure, 2: wrong usage or an illegal spec.
[[nodiscard]] int run(int argc, const char* const* argv);

/// Reports `error` as one message on standard error (and as JSON on standard output) and returns the exit
/// code.
[[nodiscard]] int report_error(const std::exception& error, bool json);

}  // namespace jitc
