#pragma once

#include "ops/move_plan.hpp"

#include <string>
#include <vector>

TMAJIT_BEGIN

/// What led from the views of a move to the loop nest of its kernel, a sentence each.
[[nodiscard]] std::vector<std::string> rewrites(const Move& move, const PlannedMove& planned);

TMAJIT_END
