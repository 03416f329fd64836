#pragma once

#include <tmajit/logging.hpp>

#include <string_view>
#include <utility>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN

/// Whether a logger takes messages of this level.
[[nodiscard]] bool logs(LogLevel level) noexcept;
/// Sends a message to the logger that set_logger() has set.
void log_message(LogLevel level, std::string_view message) noexcept;

/// Logs a message. Formats it only if a logger takes messages of `level`.
template <class... Arguments>
void log(LogLevel level, fmt::format_string<Arguments...> text, Arguments&&... arguments) {
  if (logs(level)) log_message(level, fmt::format(text, std::forward<Arguments>(arguments)...));
}

TMAJIT_END
