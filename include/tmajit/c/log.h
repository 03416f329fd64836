#ifndef TMAJIT_C_LOG_H
#define TMAJIT_C_LOG_H

/// Messages of the library.
#include <tmajit/c/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/// How much a message matters.
enum {
  TMAJIT_LOG_TRACE = 0,
  TMAJIT_LOG_DEBUG = 1,
  TMAJIT_LOG_INFO = 2,
  TMAJIT_LOG_WARN = 3,
  TMAJIT_LOG_ERROR = 4,
  TMAJIT_LOG_OFF = 5
};

/// Passes messages of level `min_level` and above to `callback`. Several threads may call it at once. A
/// message is one line of `bytes` bytes, without a newline and without a NUL. When the function returns,
/// other threads may still be running the previous callback. With a null callback, the default, messages go
/// to standard error.
TMAJIT_C_API tmajit_status tmajit_set_log(void (*callback)(void* context, int32_t level, const char* message,
                                                           size_t bytes),
                                          void* context, int32_t min_level, tmajit_error** error);

#ifdef __cplusplus
}
#endif
#endif
