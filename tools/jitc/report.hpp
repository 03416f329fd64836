#pragma once

#include "problem.hpp"
#include "text.hpp"

#include <tmajit/error.hpp>
#include <tmajit/finding.hpp>
#include <tmajit/kernel_plan.hpp>
#include <tmajit/move.hpp>
#include <tmajit/report/source_place.hpp>
#include <tmajit/runtime.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace jitc {

using Json = nlohmann::ordered_json;

/// Everything that a plan says of a kernel: family, choice, expected resources, parameters, launch.
[[nodiscard]] Json to_json(const tmajit::KernelPlan& plan);
[[nodiscard]] Json to_json(const tmajit::TensorView& view);
[[nodiscard]] Json to_json(const std::vector<tmajit::Violation>& violations);
[[nodiscard]] Json to_json(const tmajit::CompilerIdentity& compiler);
/// All that lint and the simulator say of a mistake alike, and where its rule is written.
[[nodiscard]] Json to_json(const tmajit::Finding& finding);
/// A list of objects: file, line, text.
[[nodiscard]] Json to_json(const std::vector<tmajit::SourcePlace>& places);
/// A plan and its compiled kernel: key, cache level, milliseconds a stage, resources, sizes.
[[nodiscard]] Json to_json(const tmajit::KernelPlan& plan, const tmajit::Kernel& kernel);
/// A compiled kernel and how it is launched: all of that but the plan.
[[nodiscard]] Json to_json(const tmajit::Kernel& kernel, const tmajit::LaunchShape& launch);
/// Operation, arguments, tensors, notes.
[[nodiscard]] Json to_json(const Problem& problem);

/// Prints one object to standard output.
void print_json(const Json& json);
/// Tells on standard error what went wrong, and adds it to `report` with the rules that are broken.
void report_failure(tmajit::ErrorCode code, const std::string& message, Json& report,
                    const std::vector<tmajit::Violation>& violations = {});

/// "transpose 64x64, 256 threads: 1024 tiles, 1024 CTAs of 256 threads"
[[nodiscard]] std::string describe(const tmajit::KernelPlan& plan);
/// "f32 128x64", with strides where they are not dense.
[[nodiscard]] std::string describe(const tmajit::TensorView& view);
/// "compiled in 41.2 ms", "from disk in 0.1 ms"
[[nodiscard]] std::string describe_origin(const tmajit::Kernel& kernel);
/// "32 registers, no spills, 65.2 KiB shared memory, 1 barrier", with so much dynamic shared memory.
[[nodiscard]] std::string describe_resources(const tmajit::Kernel& kernel, std::uint32_t shared_bytes);

/// The table of broken rules for people.
[[nodiscard]] std::string violation_table(const std::vector<tmajit::Violation>& violations,
                                          std::size_t width);

/// Everything that MoveExplanation says.
[[nodiscard]] Json to_json(const tmajit::MoveExplanation& explanation);

/// A heading on the left and a text on the right of a page.
struct PageRow {
  std::string heading;
  std::string text;
};

/// The same as a page for people, at most `width` columns wide, in colour if `fd` is a terminal. `title` and
/// `first` come before it.
[[nodiscard]] std::string explanation_page(const std::string& title, const std::vector<PageRow>& first,
                                           const tmajit::MoveExplanation& explanation, std::size_t width,
                                           int fd);

}  // namespace jitc
