#pragma once

#include <tmajit/version.hpp>

#include <memory>

#include <spdlog/logger.h>

TMAJIT_BEGIN

/// Replaces the logger that tmajit writes to; null restores the default: warnings to stderr, or the level
/// that `$TMAJIT_LOG` names (trace, debug, info, warn, err, off). The only header that needs spdlog.
TMAJIT_API void set_logger(std::shared_ptr<spdlog::logger> logger);

TMAJIT_END
