#include "operations.hpp"

#include "parse.hpp"
#include "spec/suggestion.hpp"
#include "usage.hpp"

#include <algorithm>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

namespace jitc {
namespace {

using tmajit::FamilyInfo;

const tmajit::OperationInfo* operation_called(std::string_view word) {
  const auto all = tmajit::operations();
  const auto found = std::ranges::find(all, word, &tmajit::OperationInfo::name);
  return found == all.end() ? nullptr : &*found;
}

bool is_view_option(std::string_view option) {
  return std::ranges::any_of(tmajit::operations(), [&](const tmajit::OperationInfo& operation) {
    return operation.is_view &&
           std::ranges::any_of(operation.arguments,
                               [&](const tmajit::Argument& argument) { return argument.option == option; });
  });
}

bool is_pad_option(std::string_view option) {
  return option == "--pad" || option == "--pad-value";
}

/// The first given option of tensors that a planner's kernels see otherwise than they are: those with a tile
/// of the caller's choice take --expr and --op alone.
std::string_view planner_option(const ProblemOptions& options) {
  for (const auto& [option, text] : options.arguments) {
    if (!text.empty() && option != "--expr" && option != "--op") return option;
  }
  return {};
}

const FamilyInfo* family_called(std::string_view word) {
  const auto families = tmajit::families();
  const auto found = std::ranges::find(families, word, &FamilyInfo::name);
  return found == families.end() ? nullptr : &*found;
}

std::string tile_words() {
  std::vector<std::string_view> words;
  for (const auto& family : tmajit::families()) {
    if (family.takes_tiles) words.push_back(family.name);
  }
  return fmt::to_string(fmt::join(words, ", "));
}

/// The first option that gives the kernel a tile of the caller's choice: an expression may read that tile,
/// too.
std::string_view tile_option(const ProblemOptions& options) {
  const auto option = options.tile_option();
  if (!option.empty()) return option;
  return reads(options.argument("--expr"), "t") || reads(options.argument("--expr"), "tile_index")
             ? "--expr with t[d] or tile_index"
             : std::string_view();
}

/// A family whose tile the caller chooses.
Request with_tile(const tmajit::OperationInfo* operation, const FamilyInfo& family,
                  const ProblemOptions& options) {
  if (const auto view = planner_option(options); !view.empty()) {
    const auto tile = tile_option(options);
    refuse(
        "{} needs a kernel that the planner chooses, but {} has a tile of your choice, which is for "
        "tensors as they are; leave one of them out",
        view, tile.empty() ? options.word : std::string(tile));
  }
  return {.operation = operation, .family = &family, .has_tile = true};
}

}  // namespace

std::string operation_names() {
  std::vector<std::string_view> words;
  for (const auto& operation : tmajit::operations()) words.push_back(operation.name);
  return fmt::to_string(fmt::join(words, ", "));
}

std::string family_names() {
  std::vector<std::string_view> words;
  for (const auto& family : tmajit::families()) {
    if (operation_called(family.name) == nullptr) words.push_back(family.name);
  }
  return fmt::to_string(fmt::join(words, ", "));
}

std::vector<std::string_view> operation_words() {
  std::vector<std::string_view> words;
  for (const auto& operation : tmajit::operations()) words.push_back(operation.name);
  for (const auto& family : tmajit::families()) words.push_back(family.name);
  return words;
}

Request read_request(const ProblemOptions& options) {
  const auto tile = tile_option(options);
  if (const auto* const operation = operation_called(options.word)) {
    if (tile.empty()) return {.operation = operation};
    const auto* const family = family_called(options.word);
    if (family == nullptr || !family->takes_tiles) {
      refuse("{} chooses a tile, but for {} the planner does; tiles of your choice are for {}", tile,
             options.word, tile_words());
    }
    return with_tile(operation, *family, options);
  }
  const auto* const family = family_called(options.word);
  if (family == nullptr) {
    refuse("there is no operation or family \"{}\"; operations are {}; families are {}{}", options.word,
           operation_names(), family_names(), tmajit::suggestion(options.word, operation_words()));
  }
  if (family->takes_tiles)
    return with_tile(operation_called(family->computes ? "map" : "copy"), *family, options);
  if (!tile.empty()) {
    refuse("{} chooses a tile, but for family {} the planner does; tiles of your choice are for {}", tile,
           family->name, tile_words());
  }
  return {.operation = operation_called(options.argument("--expr").empty() ? "copy" : "map"),
          .family = family};
}

namespace {

/// "reduce and reduce_into do": the operations that take an option.
std::string takers(std::string_view option) {
  std::vector<std::string_view> names;
  for (const auto& operation : tmajit::operations()) {
    for (const auto& argument : operation.arguments) {
      if (argument.option == option) names.push_back(operation.name);
    }
  }
  if (option == "--expr") names.emplace_back("bulk");
  const auto last = names.back();
  names.pop_back();
  return names.empty() ? fmt::format("{} does", last)
                       : fmt::format("{} and {} do", fmt::join(names, ", "), last);
}

/// Whether the operation, or the family with a tile of the caller's choice, takes an option.
bool takes(const Request& request, std::string_view option) {
  if (request.argument(option) != nullptr || request.asks_for_view(option)) return true;
  // Inputs without files are made of parts.
  const bool makes_parts = request.operation->name == "concat" || request.operation->is_batch;
  return makes_parts && (option == "--axis" || option == "--parts");
}

}  // namespace

void check_arguments(const Request& request, const ProblemOptions& options) {
  for (const auto& [option, text] : options.arguments) {
    if (text.empty() || takes(request, option)) continue;
    refuse("{} takes no {}; {}", options.word, option,
           option == "--pad" ? "only bits of one input can be padded: pad first" : takers(option));
  }
  const auto require = [&](const tmajit::Argument& argument) {
    if (!argument.required || !options.argument(argument.option).empty()) return;
    const bool quoted = argument.type == tmajit::ArgumentType::text;
    refuse("{0} needs {1}, {2}: {1} {3}{4}{3}", options.word, argument.option, argument.sentence,
           quoted ? "'" : "", argument.example);
  };
  for (const auto& argument : request.operation->arguments) require(argument);
  if (!options.argument("--pad-value").empty() && options.argument("--pad").empty())
    refuse("{} takes no --pad-value without --pad; nothing is filled", options.word);
  if (!options.argument("--boundary-value").empty() && options.argument("--boundary") != "constant")
    refuse("{} takes no --boundary-value without --boundary constant; no element has it", options.word);
}

const tmajit::Argument* Request::argument(std::string_view option) const {
  if (moves_views() && !is_pad_option(option)) return nullptr;
  const auto* const from = moves_views() ? operation_called("pad") : operation;
  for (const auto& one : from->arguments) {
    if (one.option == option) return &one;
  }
  return nullptr;
}

bool Request::asks_for_view(std::string_view option) const {
  return is_view_option(option) && argument(option) == nullptr;
}

}  // namespace jitc
