#pragma once

#include <spdlog/spdlog.h>

#include <tmajit/version.hpp>

TMAJIT_BEGIN

/// The logger that every room writes to; set_logger() replaces it.
[[nodiscard]] spdlog::logger& log();

TMAJIT_END
