#pragma once

#include "chain.hpp"
#include "problem.hpp"
#include "report/json.hpp"

#include <tmajit/error.hpp>
#include <tmajit/kernel_plan.hpp>
#include <tmajit/report/plan.hpp>
#include <tmajit/runtime.hpp>

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace jitc {

using tmajit::describe;
using tmajit::Json;

// These parse the JSON text that the library writes.
[[nodiscard]] Json to_json(const tmajit::KernelPlan& plan);
[[nodiscard]] Json to_json(const std::vector<tmajit::Violation>& violations);
[[nodiscard]] Json to_json(const tmajit::Kernel& kernel, const tmajit::LaunchShape& launch);
/// A plan and its compiled kernel.
[[nodiscard]] Json to_json(const tmajit::KernelPlan& plan, const tmajit::Kernel& kernel);
[[nodiscard]] Json to_json(const tmajit::CompilerIdentity& compiler);
/// Operation, arguments, tensors, notes.
[[nodiscard]] Json to_json(const Problem& problem);
/// The same of the first operation, and in "then" of all others.
[[nodiscard]] Json to_json(const Chain& chain);

/// Prints one object to standard output.
void print_json(const Json& json);
/// Prints the failure to standard error, and adds it to `report` together with the broken rules.
void report_failure(tmajit::ErrorCode code, const std::string& message, Json& report,
                    const std::vector<tmajit::Violation>& violations = {});

}  // namespace jitc
