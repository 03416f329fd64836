#pragma once

#include "case.hpp"
#include "machine.hpp"

#include <tmajit/chip.hpp>
#include <tmajit/runtime.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include <nlohmann/json.hpp>

namespace movement {

/// The kernels that could do a case, with the cost model's predictions, as JSON: "label", "type", "shape",
/// "axes", "bytes" (read and written), and for each candidate, the planner's choice first, "choice",
/// "family", "common", "default", "prediction" and "us" (null until it is measured). Null for cases that need
/// several kernels, and for cases that `family` cannot do, if it is given.
nlohmann::ordered_json predict_case(const bench::Case& bench_case, const tmajit::Chip& chip,
                                    std::string_view family);

/// The predicted time on a chip of every kernel that could do a case, as JSON: a list of "choice", "family",
/// "default", "allowed" (whether a planner may choose the kernel without a measurement) and "us".
nlohmann::ordered_json predicted_times(const bench::Case& bench_case, const tmajit::Chip& chip);
/// The chip of a report. Its "costs" have the names of tmajit::Costs; missing costs are those of an H200.
/// Throws Error{invalid_argument} for an unknown cost.
tmajit::Chip chip_of(const nlohmann::ordered_json& json);

struct ModelOptions {
  unsigned rounds = 5;
  std::uint64_t seed = 1;
  double limit_s = 0;  ///< no case begins after this time; 0: no limit
  /// Candidates whose predicted time is more than this many times the least are left out; 0: none is left
  /// out.
  double max_predicted = 0;
  std::string_view family = {};  ///< measure only candidates of this family; empty: all
  bool tuned = false;            ///< also measures the choices of tune() and improve: "settled"
  tmajit::Improve improve = {};  ///< options of RuntimeOptions::improve
};

/// Checks and measures all candidates of all cases. The report's "results" have the format of predict_case(),
/// with "driver_us". If `machine` is null, it only predicts.
///
/// With `tuned` each result has "settled", with the keys "model", "tuned" and "improved" for the planner,
/// tune() and RuntimeOptions::improve. Each has the final "choice", its number among the "candidates", its
/// time "us" when measured once more together with the candidates, and the "calls" until it was made. Without
/// a choice it has "why_not".
void measure_model(bench::Machine* machine, const std::vector<bench::Case>& cases,
                   const ModelOptions& options, bench::Report& report, const std::function<void()>& save);

}  // namespace movement
