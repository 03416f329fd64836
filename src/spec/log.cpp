#include "spec/log.hpp"

#include <tmajit/logging.hpp>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include <spdlog/sinks/stdout_color_sinks.h>

TMAJIT_BEGIN
namespace {

spdlog::level::level_enum level_from_environment() {
  const char* wanted = std::getenv("TMAJIT_LOG");
  if (wanted == nullptr || *wanted == '\0') return spdlog::level::warn;
  const auto level = spdlog::level::from_str(wanted);
  // from_str() answers "off" for names it does not know; a typing mistake must not silence warnings.
  return level == spdlog::level::off && std::string_view(wanted) != "off" ? spdlog::level::warn : level;
}

std::shared_ptr<spdlog::logger> default_logger() {
  // Not registered with spdlog: its registry belongs to the host application.
  auto logger =
      std::make_shared<spdlog::logger>("tmajit", std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
  logger->set_level(level_from_environment());
  return logger;
}

/// Keeps every logger that was ever current, because another thread may hold a reference to a replaced one.
class Loggers {
 public:
  Loggers() { set(default_logger()); }

  void set(std::shared_ptr<spdlog::logger> logger) {
    const std::lock_guard lock(mutex_);
    kept_.push_back(std::move(logger));
    current_.store(kept_.back().get(), std::memory_order_release);
  }

  spdlog::logger& current() const { return *current_.load(std::memory_order_acquire); }

 private:
  std::mutex mutex_;
  std::vector<std::shared_ptr<spdlog::logger>> kept_;
  std::atomic<spdlog::logger*> current_{nullptr};
};

Loggers& loggers() {
  // Never destroyed: destructors of the host's static objects may still log.
  static auto* const instance = new Loggers;
  return *instance;
}

}  // namespace

spdlog::logger& log() {
  return loggers().current();
}

void set_logger(std::shared_ptr<spdlog::logger> logger) {
  loggers().set(logger ? std::move(logger) : default_logger());
}

TMAJIT_END
