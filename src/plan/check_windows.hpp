#pragma once

#include "spec/windows.hpp"

#include <tmajit/operation.hpp>

TMAJIT_BEGIN

/// The first rule of windows that a move breaks, whose views are within the limits of views.
[[nodiscard]] WindowMistake mistake_of_windows(const Move& move);

TMAJIT_END
