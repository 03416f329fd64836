#include "check/kernel_name.hpp"
#include "launch/parameter.hpp"
#include "ptx/parser.hpp"
#include "report/text.hpp"
#include "spec/refuse.hpp"
#include "spec/suggestion.hpp"

#include <tmajit/launch/kernels.hpp>

#include <algorithm>
#include <functional>
#include <utility>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

using Extent = PtxKernel::Extent;

PtxParameter describe(const ptx::Variable& variable) {
  PtxParameter parameter;
  parameter.bytes = std::uint64_t{std::max(ptx::bits_of(variable.type) / 8, 1U)} * variable.vector_width;
  parameter.declaration = ".param";
  if (variable.alignment) parameter.declaration += fmt::format(" .align {}", *variable.alignment);
  if (variable.vector_width > 1) parameter.declaration += fmt::format(" .v{}", variable.vector_width);
  parameter.declaration += fmt::format(" .{} {}", ptx::name(variable.type), variable.name);
  for (const auto& extent : variable.extents) {
    parameter.bytes *= extent.value_or(0);
    parameter.declaration += extent ? fmt::format("[{}]", *extent) : "[]";
  }
  return parameter;
}

Extent extent_of(const ptx::Tuning& tuning) {
  Extent extent{1, 1, 1};
  std::copy_n(tuning.values.begin(), std::min(tuning.values.size(), extent.size()), extent.begin());
  return extent;
}

PtxKernel kernel_of(const ptx::Function& function) {
  PtxKernel kernel;
  kernel.name = function.name;
  for (const auto& parameter : function.parameters) kernel.parameters.push_back(describe(parameter));
  for (const auto& tuning : function.tuning) {
    if (tuning.name == "reqntid") kernel.block = extent_of(tuning);
    if (tuning.name == "maxntid") kernel.max_block = extent_of(tuning);
    if (tuning.name == "reqnctapercluster") kernel.cluster = extent_of(tuning);
    if (tuning.name == "explicitcluster") kernel.needs_cluster = true;
  }
  if (kernel.cluster) kernel.needs_cluster = false;
  return kernel;
}

/// "scale" of "ns::scale<3, float>(float*)"
std::string_view base_name(std::string_view shown) {
  shown = shown.substr(0, shown.find_first_of("<("));
  const auto scope = shown.rfind(':');
  return scope == std::string_view::npos ? shown : shown.substr(scope + 1);
}

std::uint64_t count_of(const Extent& extent) {
  return extent[0] * extent[1] * extent[2];
}

/// Throws an error that names every extent that the kernel cannot be launched with.
void require_shape(const KernelLaunch& launch, const PtxKernel& kernel) {
  const Extent block{launch.block[0], launch.block[1], launch.block[2]};
  const Extent cluster{launch.cluster[0], launch.cluster[1], launch.cluster[2]};
  const Extent grid{launch.grid[0], launch.grid[1], launch.grid[2]};
  const auto text = [](const Extent& extent) { return fmt::format("[{}]", fmt::join(extent, ", ")); };
  std::vector<std::string> wrong;
  if (kernel.block && *kernel.block != block)
    wrong.push_back(fmt::format("{}.block: {}, but its .reqntid asks for {}", launch.path, text(block),
                                text(*kernel.block)));
  if (kernel.max_block && count_of(*kernel.max_block) < count_of(block)) {
    wrong.push_back(fmt::format("{}.block: {}, in all {}, but its .maxntid allows {}", launch.path,
                                text(block), counted(count_of(block), "thread"),
                                count_of(*kernel.max_block)));
  }
  const bool given = cluster != Extent{1, 1, 1};
  if (kernel.cluster && given && *kernel.cluster != cluster) {
    wrong.push_back(fmt::format("{}.cluster: {}, but its .reqnctapercluster asks for {}", launch.path,
                                text(cluster), text(*kernel.cluster)));
  }
  if (kernel.needs_cluster && !given)
    wrong.push_back(launch.path + ".cluster: its .explicitcluster asks for one");
  const Extent used = kernel.cluster.value_or(cluster);
  for (std::size_t d = 0; d < 3; ++d) {
    if (used.at(d) == 0 || grid.at(d) % used.at(d) == 0) continue;
    wrong.push_back(fmt::format("{}.grid: {} is not a whole number of clusters of {} CTAs", launch.path,
                                text(grid), text(used)));
    break;
  }
  if (!wrong.empty())
    refuse("kernel \"{}\" cannot be launched with these extents: {}", check::full_name(kernel.name),
           fmt::join(wrong, "; "));
}

}  // namespace

std::vector<PtxKernel> kernels_of(std::string_view text, std::string_view file) {
  const auto parsed = ptx::parse(text, file);
  if (!parsed) {
    refuse("{} does not parse as PTX:\n{}", file, parsed.report);
  }
  std::vector<PtxKernel> kernels;
  for (const auto& directive : parsed.module->directives) {
    const auto* const function = std::get_if<ptx::Function>(&directive);
    if (function == nullptr || !function->is_entry || !function->body) continue;
    kernels.push_back(kernel_of(*function));
  }
  return kernels;
}

const PtxKernel& choose_kernel(const std::vector<PtxKernel>& kernels, const std::string& words,
                               const std::string& path) {
  if (kernels.empty()) refuse("the PTX defines no kernel (.entry)");
  std::vector<std::string> shown;
  shown.reserve(kernels.size());
  for (const auto& kernel : kernels) shown.push_back(check::full_name(kernel.name));
  if (words.empty()) {
    if (kernels.size() == 1) return kernels.front();
    refuse("{}: \"entry\" is missing; the PTX has {} kernels: {}", path, kernels.size(),
           fmt::join(shown, ", "));
  }
  // A kernel with exactly this name is preferred to kernels whose names contain it.
  using Test = std::function<bool(std::size_t)>;
  const Test tests[] = {[&](std::size_t i) { return kernels[i].name == words; },
                        [&](std::size_t i) { return shown[i] == words; },
                        [&](std::size_t i) { return base_name(shown[i]) == words; },
                        [&](std::size_t i) { return shown[i].find(words) != std::string::npos; }};
  for (const Test& test : tests) {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      if (test(i)) found.push_back(i);
    }
    if (found.size() == 1) return kernels[found.front()];
    if (found.empty()) continue;
    std::vector<std::string> names;
    names.reserve(found.size());
    for (const std::size_t i : found) names.push_back(shown[i]);
    refuse("{}.entry: \"{}\" is part of the names of {} kernels: {}", path, words, found.size(),
           fmt::join(names, ", "));
  }
  const std::vector<std::string_view> names(shown.begin(), shown.end());
  refuse("{}.entry: \"{}\" is no kernel of the PTX; it has {}{}", path, words, fmt::join(shown, ", "),
         suggestion(words, names));
}

const PtxKernel& match_kernel(const KernelLaunch& launch, const std::vector<PtxKernel>& kernels) {
  const PtxKernel& kernel = choose_kernel(kernels, launch.entry, launch.path);
  const auto& declared = kernel.parameters;
  const auto& given = launch.parameters;
  for (std::size_t i = 0; i < std::min(declared.size(), given.size()); ++i) {
    const auto bytes = bytes_of(given[i]);
    if (bytes == declared[i].bytes) continue;
    refuse("{}.parameters[{}]: {} has {}, but kernel \"{}\" declares \"{}\", {}", launch.path, i,
           describe(given[i]), counted(bytes, "byte"), kernel.name, declared[i].declaration,
           counted(declared[i].bytes, "byte"));
  }
  if (given.size() < declared.size()) {
    refuse("{}.parameters: {}, but kernel \"{}\" takes {}; missing is number {}, \"{}\", {}", launch.path,
           counted(given.size(), "parameter"), kernel.name, declared.size(), given.size(),
           declared[given.size()].declaration, counted(declared[given.size()].bytes, "byte"));
  }
  if (given.size() > declared.size()) {
    refuse("{}.parameters: {}, but kernel \"{}\" takes {}", launch.path, counted(given.size(), "parameter"),
           kernel.name, declared.size());
  }
  require_shape(launch, kernel);
  return kernel;
}

TMAJIT_END
