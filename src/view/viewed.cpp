#include "launch/files.hpp"
#include "spec/refuse.hpp"

#include <tmajit/launch/buffers.hpp>
#include <tmajit/launch/kernels.hpp>
#include <tmajit/view/page.hpp>

#include <algorithm>
#include <utility>
#include <variant>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

void add_map(std::vector<ViewedTile>& tiles, const LaunchDescription& launch, std::string name,
             const TensorMapParameter& map) {
  std::optional<ElementType> type = map.type;
  const auto buffer = std::ranges::find(launch.buffers, map.at.buffer, &BufferDescription::name);
  if (!type && buffer != launch.buffers.end()) type = buffer->type;
  if (!type || map.box.empty()) return;
  tiles.push_back({std::move(name), BoxLayout(*type, map.box, map.swizzle, map.interleave)});
}

std::vector<ViewedTile> tiles_of(const KernelPlan& plan) {
  std::vector<ViewedTile> tiles;
  for (const Parameter& parameter : plan.parameters()) {
    if (parameter.map) tiles.push_back({parameter.name, BoxLayout(*parameter.map)});
  }
  return tiles;
}

std::vector<ViewedTile> tiles_of(const LaunchDescription& launch) {
  std::vector<ViewedTile> tiles;
  for (std::size_t i = 0; i < launch.parameters.size(); ++i) {
    const std::string name = fmt::format("parameter {}", i);
    if (const auto* const map = std::get_if<TensorMapParameter>(&launch.parameters[i]))
      add_map(tiles, launch, name, *map);
    const auto* const members = std::get_if<StructParameter>(&launch.parameters[i]);
    if (members == nullptr) continue;
    for (std::size_t field = 0; field < members->fields.size(); ++field) {
      if (const auto* const map = std::get_if<TensorMapParameter>(&members->fields[field].value))
        add_map(tiles, launch, fmt::format("{}, field {}", name, field), *map);
    }
  }
  return tiles;
}

std::optional<std::string> read_text(const std::string& path) {
  try {
    return std::string(InputFile(path).text());
  } catch (const Error&) {
    return std::nullopt;  // the source may be on another machine
  }
}

/// The time that `jitc tune` measured for a step's choice; nothing if it is another choice or none.
std::optional<double> measured_time(const Runtime& runtime, const std::string& shape_class,
                                    const MoveStep& step) {
  for (const TunedChoice& tuned : tuning(runtime).all()) {
    if (tuned.chip == runtime.chip().name && tuned.shape_class.text() == shape_class &&
        tuned.choice.text() == step.choice)
      return tuned.microseconds;
  }
  return std::nullopt;
}

ViewedKernel compiled(const Kernel& kernel, std::uint32_t shared_bytes, std::string title) {
  ViewedKernel viewed{.title = std::move(title), .artifact = kernel.artifact()};
  viewed.rows.push_back({"kernel", kernel.entry()});
  viewed.rows.push_back({"resources", describe_resources(kernel, shared_bytes)});
  return viewed;
}

}  // namespace

ViewedKernel viewed_kernel(const Runtime& runtime, const Plan& plan, std::size_t step) {
  if (step >= plan.plans().size()) refuse("step {}: the plan has {}", step, plan.plans().size());
  const KernelPlan& chosen = plan.plans()[step];
  ViewedKernel viewed = compiled(plan.kernels()[step], chosen.launch_shape().shared_bytes, describe(plan));
  viewed.rows.push_back({"plan", describe(chosen)});
  viewed.lint = lint_ptx(viewed.artifact.ptx,
                         {.name = plan.kernels()[step].entry() + ".ptx", .maps = map_facts(chosen)});
  viewed.tiles = tiles_of(chosen);
  MoveExplanation explanation = plan.explain();
  explanation.steps = {explanation.steps.at(step)};
  viewed.measured_us = measured_time(runtime, explanation.shape_class, explanation.steps.front());
  viewed.explanation = std::move(explanation);
  return viewed;
}

ViewedKernel viewed_kernel(const Runtime& runtime, const KernelFile& file) {
  const std::uint32_t shared_bytes = file.launch ? file.launch->shared_bytes : 0;
  ViewedKernel viewed = compiled(compile_kernel_file(runtime, file), shared_bytes, file.kernel.file);
  if (const auto headers = source(file.kernel).headers) viewed.headers = *headers;
  LintOptions options{.name = file.kernel.file + ".ptx", .read_source = read_text};
  if (file.launch) {
    options.maps = LaunchBuffers(*file.launch, file.launch_folder).map_facts(*file.launch);
    viewed.tiles = tiles_of(*file.launch);
  }
  viewed.lint = lint_ptx(viewed.artifact.ptx, options);
  return viewed;
}

ViewedKernel viewed_ptx(std::string ptx, std::string_view name) {
  ViewedKernel viewed{.title = std::string(name), .read_source = read_text};
  viewed.lint = lint_ptx(ptx, {.name = viewed.title, .read_source = read_text});
  viewed.artifact.ptx = std::move(ptx);
  return viewed;
}

TMAJIT_END
