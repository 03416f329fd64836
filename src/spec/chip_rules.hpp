#pragma once

#include <tmajit/chip.hpp>

TMAJIT_BEGIN

/// Throws Error{invalid_argument} for a chip without SMs, by which kernels divide their work.
void check_chip(const Chip& chip);

TMAJIT_END
