#pragma once

#include <tmajit/version.hpp>

#include <spdlog/spdlog.h>

TMAJIT_BEGIN

/// The logger that every room writes to; set_logger() replaces it.
[[nodiscard]] spdlog::logger& log();

TMAJIT_END
