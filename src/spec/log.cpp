#include "spec/log.hpp"

#include "spec/enum_names.hpp"
#include "spec/fork_guard.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <spdlog/details/console_globals.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_color_sinks.h>

TMAJIT_BEGIN
namespace {

constexpr EnumNames<LogLevel, 6> level_names{"log level", {"trace", "debug", "info", "warn", "err", "off"}};

LogLevel level_from_environment() {
  const char* wanted = std::getenv("TMAJIT_LOG");
  const auto& names = level_names.names;
  const auto* const at = std::ranges::find(names, std::string_view(wanted == nullptr ? "" : wanted));
  return at == names.end() ? LogLevel::warn : static_cast<LogLevel>(at - names.begin());
}

/// A logger that writes to standard error, with colours and times.
LogCallback standard_error() {
  // Not registered with spdlog: its registry belongs to the host application.
  auto logger =
      std::make_shared<spdlog::logger>("tmajit", std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
  logger->set_level(spdlog::level::trace);
  return [logger = std::move(logger)](LogLevel level, std::string_view message) {
    logger->log(static_cast<spdlog::level::level_enum>(level),
                spdlog::string_view_t(message.data(), message.size()));
  };
}

struct Logger {
  LogCallback callback;
  LogLevel least_level;
};

/// The mutex that spdlog holds while it writes to standard error.
std::mutex& console_mutex() {
  return spdlog::details::console_mutex::mutex();
}

/// The current logger, which is read without a lock. Replaced loggers are never destroyed, because another
/// thread may still be inside one.
class Loggers {
 public:
  // NOLINTNEXTLINE(clang-analyzer-cplusplus.NewDeleteLeaks): set() keeps the logger in loggers_
  Loggers() { set({standard_error(), level_from_environment()}); }

  void set(Logger logger) {
    const std::lock_guard lock(mutex_);
    loggers_.push_back(std::make_unique<const Logger>(std::move(logger)));
    current_.store(loggers_.back().get(), std::memory_order_release);
  }

  [[nodiscard]] const Logger& current() const noexcept { return *current_.load(std::memory_order_acquire); }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<const Logger>> loggers_;
  std::atomic<const Logger*> current_{nullptr};
  ForkGuard fork_guard_{[this] { std::lock(mutex_, console_mutex()); },
                        [this](ForkSide) {
                          mutex_.unlock();
                          console_mutex().unlock();
                        }};
};

Loggers& loggers() {
  // Never destroyed: destructors of the host's static objects may still log.
  static auto* const instance = new Loggers;
  return *instance;
}

// Constructed when the library is loaded: a fork during a lazy construction would leave it half-made in the
// child.
[[maybe_unused]] const Loggers& loggers_at_load = loggers();

}  // namespace

bool logs(LogLevel level) noexcept {
  return level >= loggers().current().least_level;
}

void log_message(LogLevel level, std::string_view message) noexcept try {
  loggers().current().callback(level, message);
} catch (...) {  // A message that cannot be shown is no reason to fail.
}

void set_logger(LogCallback callback, std::optional<LogLevel> least) {
  loggers().set(
      {callback ? std::move(callback) : standard_error(), least.value_or(level_from_environment())});
}  // NOLINT(clang-analyzer-cplusplus.NewDeleteLeaks): loggers are never destroyed

std::string_view name(LogLevel level) noexcept {
  return level_names.of(level);
}
template <>
LogLevel parse<LogLevel>(std::string_view text) {
  return level_names.parse(text);
}

TMAJIT_END
