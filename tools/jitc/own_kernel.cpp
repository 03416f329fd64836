#include "own_kernel.hpp"

#include "option_group.hpp"
#include "options.hpp"
#include "usage.hpp"

#include <algorithm>
#include <array>

#include <CLI/CLI.hpp>

namespace jitc {
namespace {

/// Parses "NAME=VALUE".
tmajit::KernelConstant parse_constant(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) refuse("-D {}: a name and its value are needed: stages=4", text);
  return tmajit::KernelConstant::parse(text.substr(0, equals), text.substr(equals + 1));
}

}  // namespace

void add_own_options(CLI::App& command, OwnOptions& values) {
  OptionGroup group(command, own_group);
  group.add_list("-I,--include", values.include, "FOLDER",
                 "Folder of the headers that kernel.cu includes; its own folder is searched first");
  group.add_list("-D,--define", values.constants, "NAME=VALUE",
                 "A constant for kernel.cu: stages=4, on=true, factor=0.5f");
  group.add(
      "--entry", values.entry, "NAME",
      "Which kernel: scale, or 'scale<3, float>'; in PTX, any part of its name. Needed if there are several");
}

void add_launch_option(CLI::App& command, OwnOptions& values) {
  OptionGroup(command, own_group)
      .add("--launch", values.launch, "FILE",
           "JSON file that describes its launch: grid, block, parameters; docs/run.md");
}

bool is_own_kernel(std::string_view word) {
  return word.ends_with(".cu");
}

void check_own_usage(const CLI::App& command, std::string_view word, bool may_be_ptx) {
  constexpr std::array operation_groups{tensors_group, views_group, arguments_group, chain_group,
                                        tiles_group};
  constexpr std::array operation_options{"--step", "--check", "--seed"};
  const bool own = is_own_kernel(word);
  for (const auto* option : command.get_options()) {
    if (option->count() == 0) continue;
    const auto is_in = [&](const auto& names, const std::string& name) {
      return std::find(names.begin(), names.end(), name) != names.end();
    };
    const bool is_for_operations =
        is_in(operation_groups, option->get_group()) || is_in(operation_options, option->get_name());
    if (own && is_for_operations)
      refuse("{} is an option of operations; {} is a file", option->get_name(), word);
    if (may_be_ptx && option->get_name() == "--entry") continue;
    if (!own && option->get_group() == own_group)
      refuse("{} is an option of a file such as kernel.cu; {} is no such file", option->get_name(), word);
  }
}

tmajit::KernelFile read_own_kernel(const std::string& path, const OwnOptions& options) {
  std::vector<tmajit::KernelConstant> constants;
  for (const std::string& text : options.constants) constants.push_back(parse_constant(text));
  return tmajit::read_kernel_file(path, options.launch, options.entry, std::move(constants), options.include);
}

}  // namespace jitc
