#include "c/errors.hpp"
#include "c/structs.hpp"

#include <tmajit/logging.hpp>

using namespace tmajit;

static_assert(static_cast<int>(LogLevel::trace) == TMAJIT_LOG_TRACE &&
              static_cast<int>(LogLevel::warn) == TMAJIT_LOG_WARN &&
              static_cast<int>(LogLevel::off) == TMAJIT_LOG_OFF);

tmajit_status tmajit_set_log(void (*callback)(void* context, int32_t level, const char* message,
                                              size_t bytes),
                             void* context, int32_t min_level, tmajit_error** error) {
  return c::guarded(error, [&] {
    if (min_level < TMAJIT_LOG_TRACE || min_level > TMAJIT_LOG_OFF) {
      refuse("min_level is {}; legal are TMAJIT_LOG_TRACE, {}, to TMAJIT_LOG_OFF, {}", min_level,
             static_cast<int>(TMAJIT_LOG_TRACE), static_cast<int>(TMAJIT_LOG_OFF));
    }
    LogCallback logger;
    if (callback != nullptr) {
      logger = [callback, context](LogLevel level, std::string_view message) {
        callback(context, static_cast<int32_t>(level), message.data(), message.size());
      };
    }
    set_logger(std::move(logger), static_cast<LogLevel>(min_level));
  });
}
