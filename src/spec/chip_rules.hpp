#pragma once

#include <tmajit/chip.hpp>

TMAJIT_BEGIN

/// Throws Error{invalid_argument} for a chip without SMs: kernels divide their work by the number of SMs.
void check_chip(const Chip& chip);

TMAJIT_END
