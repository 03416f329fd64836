#pragma once

#include "program.hpp"

namespace movement {

/// Judges the predictions and the choices in the results of measure_model(), as text and in the report:
///
/// "quantiles": quantiles of measured time divided by predicted time, for each family.
///
/// "regret": the time of the chosen candidate divided by that of the best candidate: the number of "cases",
/// the shares "within_1_percent" and "within_3_percent", "mean" and "worst". "model" is for the planner's
/// choices, and, if they were measured, "tuned" and "improved" for the choices of tune() and improve. "noise"
/// has the same numbers for two measurements of one candidate in the same run, the larger divided by the
/// smaller. Differences below the noise are not significant.
void report_model(bench::Report& report);

}  // namespace movement
