#pragma once

#include <tmajit/names.hpp>
#include <tmajit/version.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

TMAJIT_BEGIN

enum class LogLevel : std::uint8_t { trace, debug, info, warn, err, off };

/// A function that receives a message: one line, without a newline. Its exceptions are dropped.
using LogCallback = std::function<void(LogLevel level, std::string_view message)>;

/// Passes messages of level `least` and above to `callback`, from any thread and from several at once. A call
/// to an earlier callback may still run when set_logger() returns. Without a callback messages go to standard
/// error, the default. Without `least` the level is that of `$TMAJIT_LOG` ("trace" … "off"), or else `warn`.
TMAJIT_API void set_logger(LogCallback callback, std::optional<LogLevel> least = std::nullopt);

/// "trace", "debug", "info", "warn", "err", "off".
[[nodiscard]] TMAJIT_API std::string_view name(LogLevel level) noexcept;
template <>
[[nodiscard]] TMAJIT_API LogLevel parse<LogLevel>(std::string_view name);

TMAJIT_END
