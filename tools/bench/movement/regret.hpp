#pragma once

#include "program.hpp"

namespace movement {

/// How good the predictions and the choices of measure_model()'s results are, as text and in the report:
///
/// "quantiles": of measured over predicted time, for each family.
///
/// "regret": of the time of what was chosen over that of the best candidate how many "cases" there are, the
/// shares "within_1_percent" and "within_3_percent", "mean" and "worst". By "model" of what the planner chose
/// and, where it was measured, by "tuned" and "improved" of what those end with. "noise" is of a candidate's
/// time over its own, measured once more in the same run, the larger over the smaller: closer than that no
/// choice can be seen to come.
void tell_model(bench::Report& report);

}  // namespace movement
