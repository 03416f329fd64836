#pragma once

#include "plan/move_problem.hpp"

TMAJIT_BEGIN

/// The same move in wider elements, if that makes a transpose: a last dimension of 2, 4, 8 or 16 bytes that
/// lies in one piece in both views is then one element. All else stays as it is.
[[nodiscard]] MoveProblem widened(MoveProblem problem);

TMAJIT_END
