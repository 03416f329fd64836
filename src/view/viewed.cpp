#include "check/kernel_name.hpp"
#include "launch/files.hpp"
#include "spec/refuse.hpp"

#include <tmajit/launch/buffers.hpp>
#include <tmajit/launch/kernels.hpp>
#include <tmajit/validate.hpp>
#include <tmajit/view/page.hpp>

#include <algorithm>
#include <array>
#include <utility>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

std::vector<ViewedTile> tiles_of(const KernelPlan& plan) {
  std::vector<ViewedTile> tiles;
  for (const Parameter& parameter : plan.parameters()) {
    if (parameter.map) tiles.push_back({parameter.name, BoxLayout(*parameter.map)});
  }
  return tiles;
}

std::vector<ViewedTile> tiles_of(const std::vector<LaunchMap>& maps) {
  std::vector<ViewedTile> tiles;
  for (const LaunchMap& map : maps) {
    if (!validate(map.spec).empty()) continue;
    const std::string offset = map.offset == 0 ? "" : fmt::format(", byte {}", map.offset);
    tiles.push_back({fmt::format("parameter {}{}", map.parameter, offset), BoxLayout(map.spec)});
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

/// Whether a path has the suffix of a source file. PTX may name any file of this machine. Other files must
/// not get into the page, since users send pages to others.
bool is_source(std::string_view path) {
  constexpr std::array suffixes{".cu",  ".cuh", ".c",   ".cc",  ".cpp", ".cxx", ".h",  ".hh",  ".hpp",
                                ".hxx", ".inl", ".ipp", ".inc", ".py",  ".jl",  ".rs", ".mojo"};
  return std::ranges::any_of(suffixes, [&](std::string_view suffix) { return path.ends_with(suffix); });
}

std::optional<std::string> read_source(const std::string& path) {
  return is_source(path) ? read_text(path) : std::nullopt;
}

/// The time that `jitc tune` measured for a step's choice; nullopt if it stored another choice or none.
std::optional<double> measured_time(const Runtime& runtime, const std::string& shape_class,
                                    const MoveStep& step) {
  for (const TunedChoice& tuned : tuning(runtime).all()) {
    if (tuned.chip == runtime.chip().name && tuned.shape_class.text() == shape_class &&
        tuned.choice.text() == step.choice)
      return tuned.microseconds;
  }
  return std::nullopt;
}

std::string describe_constants(const std::vector<KernelConstant>& constants) {
  std::string text;
  for (const KernelConstant& constant : constants)
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", constant.name, constant.literal());
  return text;
}

ViewedKernel compiled(const Kernel& kernel, std::uint32_t shared_bytes, std::string title) {
  ViewedKernel viewed{.title = std::move(title), .artifact = kernel.artifact()};
  viewed.rows.push_back({"kernel", check::shown_name(kernel.entry())});
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
  if (!file.kernel.constants.empty())
    viewed.rows.push_back({"constants", describe_constants(file.kernel.constants)});
  LintOptions options{.name = file.kernel.file + ".ptx", .read_source = read_text};
  if (file.launch) {
    const LaunchBuffers buffers(*file.launch, file.launch_folder);
    options.maps = buffers.map_facts(*file.launch);
    viewed.tiles = tiles_of(buffers.tensor_maps(*file.launch));
  }
  viewed.lint = lint_ptx(viewed.artifact.ptx, options);
  return viewed;
}

ViewedKernel viewed_ptx(std::string ptx, std::string_view name) {
  ViewedKernel viewed{.title = std::string(name), .read_source = read_source};
  viewed.lint = lint_ptx(ptx, {.name = viewed.title, .read_source = read_text});
  viewed.artifact.ptx = std::move(ptx);
  return viewed;
}

TMAJIT_END
