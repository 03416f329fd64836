#pragma once

#include <tmajit/logging.hpp>

#include <string_view>
#include <utility>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN

/// Whether messages of this level go anywhere.
[[nodiscard]] bool logs(LogLevel level) noexcept;
/// Sends a message to where set_logger() says.
void log_message(LogLevel level, std::string_view message) noexcept;

/// What every room logs by: formats only what goes somewhere.
template <class... Arguments>
void log(LogLevel level, fmt::format_string<Arguments...> text, Arguments&&... arguments) {
  if (logs(level)) log_message(level, fmt::format(text, std::forward<Arguments>(arguments)...));
}

TMAJIT_END
