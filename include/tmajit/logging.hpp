#pragma once

#include <tmajit/names.hpp>
#include <tmajit/version.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

TMAJIT_BEGIN

enum class LogLevel : std::uint8_t { trace, debug, info, warn, err, off };

/// A function that takes a message: one line without its end. Its exceptions are dropped.
using LogCallback = std::function<void(LogLevel level, std::string_view message)>;

/// Hands messages of `least` and above to `callback`, from any thread and several at once; a call that has
/// begun may end after set_logger() has returned. Without a callback they go to standard error, as at the
/// start. Without a level it is the one that `$TMAJIT_LOG` names ("trace" … "off") or, without that, `warn`.
TMAJIT_API void set_logger(LogCallback callback, std::optional<LogLevel> least = std::nullopt);

/// "trace", "debug", "info", "warn", "err", "off".
[[nodiscard]] TMAJIT_API std::string_view name(LogLevel level) noexcept;
template <>
[[nodiscard]] TMAJIT_API LogLevel parse<LogLevel>(std::string_view name);

TMAJIT_END
