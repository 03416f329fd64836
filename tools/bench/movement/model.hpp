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

/// Kernels that could do a case, with what the cost model says of each: JSON with "label", "type", "shape",
/// "axes", "bytes" (read and written) and, of each candidate, the planner's choice first, "choice", "family",
/// "common", "usual", "prediction" and "us", null until it is measured. Null for cases that take
/// several kernels, and for those that the only `family` asked for cannot do.
nlohmann::ordered_json predict_case(const bench::Case& c, const tmajit::Chip& chip, std::string_view family);

/// How long each of them is predicted to take on a chip, JSON: a list of "choice", "family", "usual",
/// "allowed" (a planner takes it without a measurement) and "us".
nlohmann::ordered_json predicted_times(const bench::Case& c, const tmajit::Chip& chip);
/// The chip that a report tells of, with "costs" by the names that tmajit::Costs has; others are an H200's.
/// Throws Error{invalid_argument} if it names another.
tmajit::Chip chip_of(const nlohmann::ordered_json& json);

struct ModelOptions {
  unsigned rounds = 5;
  std::uint64_t seed = 1;
  double limit_s = 0;  ///< no case is begun after that long; 0: no limit
  double most_predicted =
      0;  ///< candidates beyond that many times the least prediction are left out; 0: none
  std::string_view family = {};  ///< measure only candidates of this family; empty: all
  bool tuned = false;            ///< also the choice by measuring: "settled"
  tmajit::Improve improve = {};  ///< options for that
};

/// Measures all of them, each checked first, in the report's "results" as above with "driver_us" beside.
/// `machine` null: predicts alone.
///
/// With `tuned` each result has "settled": by "model", "tuned" and "improved" the "choice" that the planner,
/// tune() and RuntimeOptions::improve end with, which of the "candidates" that is, and the "us" that it takes
/// as a contestant of its own, beside the candidates; "why_not" instead where there is none, and the "calls"
/// until it was made.
void measure_model(bench::Machine* machine, const std::vector<bench::Case>& cases,
                   const ModelOptions& options, bench::Report& report, const std::function<void()>& save);

}  // namespace movement
