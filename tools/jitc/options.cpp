#include "options.hpp"

#include "operations.hpp"
#include "option_group.hpp"

#include <tmajit/cache.hpp>

#include <algorithm>
#include <initializer_list>
#include <utility>

#include <CLI/CLI.hpp>
#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

namespace jitc {
namespace {

/// The name of the first option that was given.
std::string_view first_of(std::initializer_list<std::pair<bool, std::string_view>> given) {
  for (const auto& [is_given, name] : given) {
    if (is_given) return name;
  }
  return {};
}

void add_tensor_options(CLI::App& command, ProblemOptions& values) {
  OptionGroup group(command, tensors_group);
  group.add_list("--in", values.in, "FILE", "An input as .npy; repeat it for x0, x1 …");
  group.add_list(
      "--dtype,--type", values.dtypes, "TYPE[,TYPE…]",
      "Element types: one for all, the inputs', or the output's and then the inputs'. Types that NumPy lacks "
      "travel as "
      "bit patterns: bf16 as u2, e4m3 and e5m2 as u1, f32_ftz, tf32 and tf32_ftz as f4. Default: the "
      "files', else f32");
  group.add("--out-dtype,--out-type", values.out_dtype, "TYPE",
            "Element type of the output; default: the first input's");
  group.add(
      "--shape", values.shape, "128x64",
      "Shape of the inputs, row-major. Default: the files'. Where nothing runs: the box's, else 4096x4096");
  group.add_list("--strides", values.strides, "4096,1",
                 "Strides of the inputs on the device, in elements; repeat it for each input");
  group.add("--out-strides", values.out_strides, "4096,1",
            "Strides of the output on the device, in elements");
  group.add("--offset", values.offset, "N",
            "Elements by which the inputs start off a 256-byte boundary of device memory");
  group.add("--out-offset", values.out_offset, "N", "The same of the outputs");
  group.add("--inputs", values.inputs, "N",
            "Inputs of map or concat without files; default: as many as --expr reads, or 2");
  group.add("--into", values.into, "FILE",
            "What the output of reduce_into holds before, as .npy; default: made-up elements");
  group.add("--outputs", values.outputs, "N",
            "Outputs of a convolution's filter, where no file is the filter");
}

/// An option's help: the sentence of each operation that takes it.
std::string help_of(std::string_view option) {
  std::vector<std::pair<std::string, std::vector<std::string_view>>> sentences;
  for (const auto& operation : tmajit::operations()) {
    for (const auto& argument : operation.arguments) {
      if (argument.option != option) continue;
      auto sentence = std::string(argument.sentence);
      if (!argument.choices.empty()) sentence += fmt::format(": {}", fmt::join(argument.choices, ", "));
      if (!argument.fallback.empty()) sentence += fmt::format("; default: {}", argument.fallback);
      const auto same = std::ranges::find(sentences, sentence, [](const auto& one) { return one.first; });
      auto& names = same == sentences.end()
                        ? sentences.emplace_back(sentence, std::vector<std::string_view>()).second
                        : same->second;
      names.push_back(operation.name);
    }
  }
  std::string help;
  for (const auto& [sentence, names] : sentences)
    help += fmt::format("{}{}: {}", help.empty() ? "" : ". ", fmt::join(names, ", "), sentence);
  return help;
}

/// How help texts show a value. Those with colons have a name, for CLI11 gives colons a meaning.
std::string type_text(const tmajit::Argument& argument) {
  if (argument.type == tmajit::ArgumentType::slices) return "SLICES";
  if (argument.type == tmajit::ArgumentType::widths) return "WIDTHS";
  return std::string(argument.example);
}

/// One option for all arguments of that option: operations are read later.
void add_argument_options(CLI::App& command, ProblemOptions& values) {
  OptionGroup views(command, views_group);
  OptionGroup group(command, "Arguments of operations");
  for (const auto& operation : tmajit::operations()) {
    for (const auto& argument : operation.arguments) {
      const std::string option(argument.option);
      if (!values.arguments.try_emplace(option).second) continue;
      auto help = help_of(option);
      if (operation.is_view) help += ". Other operations, too, see such a view of each input";
      if (option == "--expr")
        help +=
            ". With a tile of your choice also t[d], the coordinates in its tile, and tile_index, the tile's "
            "number";
      if (option == "--parts")
        help += ". concat, copy_ragged: the inputs' extents along --axis, where no files are given";
      (operation.is_view ? views : group)
          .add(option.c_str(), values.arguments[option], type_text(argument).c_str(), help);
    }
  }
}

void add_tile_options(CLI::App& command, ProblemOptions& values) {
  OptionGroup tiles(command, "Tiles");
  tiles.add(
      "--box", values.box, "32x64",
      "Tile of the first input, in elements, row-major; for bulk one number. This and what follows, but for "
      "--l2, makes the tile your choice, and not the planner's");
  tiles.add("--element-strides", values.element_strides, "1x2",
            "Take every n-th element of a dimension, 1 to 8");
  tiles.add("--swizzle", values.swizzle, "MODE", "none, 32B, 64B or 128B");
  tiles.add("--interleave", values.interleave, "MODE", "none, 16B or 32B, which no family takes");
  tiles.add("--oob", values.oob, "FILL", "What elements outside the tensor read as: zero or nan");
  tiles.add("--l2", values.l2, "SIZE", "L2 promotion: none, 64B, 128B or 256B; default: 256B");
  OptionGroup pipeline(command, "Pipeline");
  pipeline.add("--stages", values.stages, "N", "Input tiles in flight");
  pipeline.add("--output-stages", values.output_stages, "N", "Output tiles in flight");
  pipeline.add("--warps", values.warps, "N", "Warps that compute");
  pipeline.add("--ctas-per-sm", values.ctas_per_sm, "N", "CTAs that share an SM");
  pipeline.add("--tiles-per-cta", values.tiles_per_cta, "N",
               "Tiles that a CTA does before the next one takes its place; 0: a persistent grid");
}

}  // namespace

std::string_view ProblemOptions::tile_option() const {
  return first_of({{!box.empty(), "--box"},
                   {!element_strides.empty(), "--element-strides"},
                   {!swizzle.empty(), "--swizzle"},
                   {!interleave.empty(), "--interleave"},
                   {!oob.empty(), "--oob"},
                   {stages.has_value(), "--stages"},
                   {output_stages.has_value(), "--output-stages"},
                   {warps.has_value(), "--warps"},
                   {ctas_per_sm.has_value(), "--ctas-per-sm"},
                   {tiles_per_cta.has_value(), "--tiles-per-cta"}});
}

const std::string& ProblemOptions::argument(std::string_view option) const {
  static const std::string none;
  const auto found = arguments.find(option);
  return found == arguments.end() ? none : found->second;
}

void add_problem_options(CLI::App& command, ProblemOptions& values) {
  command
      .add_option("OPERATION", values.word,
                  fmt::format("{}. Or a family of kernels, of which one is then taken: {}", operation_names(),
                              family_names()))
      ->required()
      ->type_name("");
  add_tensor_options(command, values);
  add_argument_options(command, values);
  add_tile_options(command, values);
}

void add_compiler_options(CLI::App& command, CompilerOptions& values) {
  OptionGroup group(command, "Compiler and cache");
  group.add("--arch", values.arch, "ARCH", "Architecture; only sm_90a has what the kernels use")
      ->check(one_of({"sm_90a"}));
  group.add_flag("--line-info,!--no-line-info", values.line_info,
                 "Line numbers for profilers, or none; default: with");
  auto* const directory =
      group.add("--cache-dir", values.cache_directory, "FOLDER",
                "Folder of compiled kernels; default: $TMAJIT_CACHE_DIR, else ~/.cache/tmajit");
  group.add_flag("--no-cache", values.no_cache, "Compile anew and keep nothing")->excludes(directory);
}

std::filesystem::path cache_folder(const std::string& directory) {
  return directory.empty() ? tmajit::DiskCache::default_directory() : std::filesystem::path(directory);
}

tmajit::RuntimeOptions runtime_options(const CompilerOptions& options) {
  tmajit::RuntimeOptions result{.cache_directory = std::nullopt};
  if (!options.no_cache) result.cache_directory = cache_folder(options.cache_directory);
  result.compile.arch = options.arch;
  result.compile.line_info = options.line_info;
  return result;
}

}  // namespace jitc
