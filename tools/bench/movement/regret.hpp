#pragma once

#include "program.hpp"

namespace movement {

/// Judges the predictions and the choices in the results of measure_model(), as text and in the report:
///
/// "quantiles": quantiles of measured time divided by predicted time, for each family.
///
/// "regret": statistics of the chosen candidate's time divided by the best candidate's: the number of
/// "cases", the shares "within_1_percent" and "within_3_percent", "mean" and "worst". The key "model" has
/// those of the planner's choices; "tuned" and "improved" have those of the choices of tune() and improve, if
/// they were measured. "noise" has the same statistics for two measurements of one candidate in the same run,
/// the larger divided by the smaller. Differences below the noise are not significant.
void report_model(bench::Report& report);

}  // namespace movement
