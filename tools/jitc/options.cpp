#include "options.hpp"

#include "operations.hpp"
#include "option_group.hpp"

#include <tmajit/cache.hpp>

#include <algorithm>
#include <utility>

#include <CLI/CLI.hpp>
#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

namespace jitc {
namespace {

/// The values of `option` that any operation lists; several operations may share an option.
std::vector<std::string_view> choices_of(std::string_view option) {
  std::vector<std::string_view> words;
  for (const auto& operation : tmajit::operations()) {
    for (const auto& argument : operation.arguments) {
      for (const auto word : argument.choices) {
        if (argument.option == option && std::ranges::find(words, word) == words.end()) words.push_back(word);
      }
    }
  }
  return words;
}

void add_tensor_options(CLI::App& command, ProblemOptions& values) {
  OptionGroup group(command, tensors_group);
  group.add_list("--in", values.in, "FILE", "An input as .npy; repeat the option for x0, x1 …");
  group
      .add_list("--dtype,--type", values.dtypes, "TYPE[,TYPE…]",
                "Element types: one for all, one per input, or the output's and then one per input. Files "
                "hold types that NumPy lacks as bit patterns: bf16 as u2, e4m3 and e5m2 as u1, f32_ftz, "
                "tf32 and tf32_ftz as f4. Default: the "
                "files', else f32")
      ->check(offers(element_types()));
  group
      .add("--out-dtype,--out-type", values.out_dtype, "TYPE",
           "Element type of the output; default: it follows from the inputs' types")
      ->check(offers(element_types()));
  group.add("--shape", values.shape, "128x64",
            "Shape of the inputs, row-major. Default: the files'; in commands that run nothing, the box's, "
            "else 4096x4096");
  group.add_list("--strides", values.strides, "4096,1",
                 "Strides of the inputs on the device, in elements: once for all, or once for each input");
  group.add("--out-strides", values.out_strides, "4096,1",
            "Strides of the output on the device, in elements");
  group.add("--offset", values.offset, "N",
            "Offset of the inputs from a 256-byte boundary of device memory, in elements");
  group.add("--out-offset", values.out_offset, "N", "The same for the outputs");
  group.add("--inputs", values.inputs, "N",
            "Number of inputs without files; default: as many as --expr reads, 2 for concat, else the least");
  group.add_list(
      "--number", values.numbers, "VALUE",
      "A number that expressions read: 2 or 0.5; repeat the option for p0, p1 …. All values share a "
      "kernel");
  group.add("--into", values.into, "FILE",
            "Initial content of the output of reduce_into, scatter or scatter_add, as .npy; default: made-up "
            "elements");
  group.add(
      "--index-shape", values.index_shape, "1000",
      "Shape of the index tensors of gather, scatter, scatter_add and gather_sum, and of moe_permute's "
      "experts, if no "
      "files give them. Default: the extent of the indexed dimension of --shape; with --along yes, --shape");
  group.add("--outputs", values.outputs, "N",
            "Number of outputs of a convolution's filter, if no file gives the filter");
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

/// How help texts show a value: its example, or a word if the example has colons, which CLI11 interprets.
std::string type_text(const tmajit::Argument& argument) {
  if (argument.type == tmajit::ArgumentType::slices) return "SLICES";
  if (argument.type == tmajit::ArgumentType::widths) return "WIDTHS";
  return std::string(argument.example);
}

/// Adds each option once, also if arguments of several operations use it: the operation is not known yet.
void add_argument_options(CLI::App& command, ProblemOptions& values) {
  OptionGroup views(command, views_group);
  OptionGroup arguments(command, arguments_group);
  OptionGroup tiles(command, tiles_group);
  for (const auto& operation : tmajit::operations()) {
    for (const auto& argument : operation.arguments) {
      const std::string option(argument.option);
      if (!values.arguments.try_emplace(option).second) continue;
      auto help = help_of(option);
      if (operation.is_view) help += ". Other operations take it as well, and read this view of each input";
      if (option == "--parts")
        help += ". concat, copy_ragged: the inputs' extents along --axis, where no files are given";
      auto& group = operation.is_view ? views : operation.needs_mapped_rows ? tiles : arguments;
      group.add(option.c_str(), values.arguments[option], type_text(argument).c_str(), help)
          ->check(offers(choices_of(option)));
    }
  }
}

}  // namespace

std::vector<std::string_view> element_types() {
  std::vector<std::string_view> names;
  names.reserve(tmajit::all_element_types.size());
  for (const auto type : tmajit::all_element_types) names.push_back(name(type));
  return names;
}

const std::string& ProblemOptions::argument(std::string_view option) const {
  static const std::string none;
  const auto found = arguments.find(option);
  return found == arguments.end() ? none : found->second;
}

void add_problem_options(CLI::App& command, ProblemOptions& values) {
  command
      .add_option("OPERATION", values.word,
                  fmt::format("{}. Or a family of kernels, to use one of them: {}", operation_names(),
                              family_names()))
      ->required()
      ->type_name("")
      ->check(offers(operation_words()));
  add_tensor_options(command, values);
  add_argument_options(command, values);
}

void add_compiler_options(CLI::App& command, CompilerOptions& values) {
  OptionGroup group(command, "Compiler and cache");
  group.add("--arch", values.arch, "ARCH", "Architecture; only sm_90a has what the kernels use")
      ->check(one_of({"sm_90a"}));
  group.add_flag("--line-info,!--no-line-info", values.line_info,
                 "With or without line numbers for profilers; default: with");
  auto* const directory =
      group.add("--cache-dir", values.cache_directory, "FOLDER",
                "Folder of compiled kernels; default: $TMAJIT_CACHE_DIR, else ~/.cache/tmajit");
  group.add_flag("--no-cache", values.no_cache, "Compile anew and store nothing")->excludes(directory);
}

std::filesystem::path cache_folder(const std::string& directory) {
  return directory.empty() ? tmajit::DiskCache::default_directory() : std::filesystem::path(directory);
}

tmajit::RuntimeOptions runtime_options(const CompilerOptions& options) {
  tmajit::RuntimeOptions result{.cache_directory = std::nullopt};
  if (options.no_cache) {
    result.fleet = {};
  } else {
    result.cache_directory = cache_folder(options.cache_directory);
  }
  result.compile.arch = options.arch;
  result.compile.line_info = options.line_info;
  return result;
}

}  // namespace jitc
