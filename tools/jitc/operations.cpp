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

constexpr std::string_view tiles = tmajit::Tiles::operation;

const tmajit::OperationInfo* operation_called(std::string_view word) {
  const auto all = tmajit::operations();
  const auto found = std::ranges::find(all, word, &tmajit::OperationInfo::name);
  return found == all.end() ? nullptr : &*found;
}

bool is_argument(const tmajit::OperationInfo& operation, std::string_view option) {
  return std::ranges::find(operation.arguments, option, &tmajit::Argument::option) !=
         operation.arguments.end();
}

bool is_view_option(std::string_view option) {
  return std::ranges::any_of(tmajit::operations(), [&](const tmajit::OperationInfo& operation) {
    return operation.is_view && is_argument(operation, option);
  });
}

bool is_pad_option(std::string_view option) {
  return option == "--pad" || option == "--pad-value";
}

const FamilyInfo* family_called(std::string_view word) {
  const auto families = tmajit::families();
  const auto found = std::ranges::find(families, word, &FamilyInfo::name);
  return found == families.end() ? nullptr : &*found;
}

std::string tile_families() {
  std::vector<std::string_view> words;
  for (const auto& family : tmajit::families()) {
    if (family.does(tiles)) words.push_back(family.name);
  }
  return fmt::to_string(fmt::join(words, ", "));
}

/// The first given option that chooses the kernel's tile. An expression with tile coordinates is such an
/// option.
std::string_view tile_option(const ProblemOptions& options) {
  for (const auto& argument : tmajit::find_operation(tiles).arguments) {
    const bool chooses = argument.option != "--expr" && argument.option != "--op" &&
                         argument.option != "--family" && argument.option != "--l2";
    if (chooses && !options.argument(argument.option).empty()) return argument.option;
  }
  return reads(options.argument("--expr"), "t") || reads(options.argument("--expr"), "tile_index")
             ? "--expr with t[d] or tile_index"
             : std::string_view();
}

/// The first given option that a kernel whose tile the user chose does not take.
std::string_view planner_option(const ProblemOptions& options, const FamilyInfo& family) {
  for (const auto& [option, text] : options.arguments) {
    const bool is_taken = option == "--expr" ? family.computes
                          : option == "--op" ? family.does("reduce_into")
                                             : is_argument(tmajit::find_operation(tiles), option);
    if (!text.empty() && !is_taken) return option;
  }
  return {};
}

/// The operations that take an option, as text: "reduce and reduce_into do".
std::string takers(std::string_view option) {
  std::vector<std::string_view> names;
  for (const auto& operation : tmajit::operations()) {
    for (const auto& argument : operation.arguments) {
      if (argument.option == option) names.push_back(operation.name);
    }
  }
  const auto last = names.back();
  names.pop_back();
  return names.empty() ? fmt::format("{} does", last)
                       : fmt::format("{} and {} do", fmt::join(names, ", "), last);
}

/// The request for a kernel of `family` whose tile the user chose.
Request with_tile(const FamilyInfo& family, const ProblemOptions& options) {
  if (const auto other = planner_option(options, family); !other.empty()) {
    if (other == "--expr" || other == "--op") refuse("{} takes no {}; {}", family.name, other, takers(other));
    const auto tile = tile_option(options);
    refuse(
        "{} needs a kernel that the planner chooses, but {} takes a tile of your choice; leave one of them "
        "out",
        other, tile.empty() ? options.word : std::string(tile));
  }
  return {.operation = operation_called(tiles), .family = &family};
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
  const auto* const operation = operation_called(options.word);
  if (options.word == tiles) {
    const auto& family = options.argument("--family");
    const auto* const found = family_called(family.empty() ? "copy" : family);
    if (found == nullptr || !found->does(tiles))
      refuse("--family {}: tiles of your choice are for {}", family, tile_families());
    return with_tile(*found, options);
  }
  if (!options.argument("--family").empty()) refuse("{} takes no --family; tiles does", options.word);
  if (operation != nullptr && tile.empty()) return {.operation = operation};
  const auto* const family = family_called(options.word);
  if (operation == nullptr && family == nullptr) {
    refuse("there is no operation or family \"{}\"; operations are {}; families are {}{}", options.word,
           operation_names(), family_names(), tmajit::suggestion(options.word, operation_words()));
  }
  if (family != nullptr && family->does(tiles)) return with_tile(*family, options);
  if (!tile.empty()) {
    refuse("{} chooses a tile, but for {}{} the planner does; tiles of your choice are for {}", tile,
           operation == nullptr ? "family " : "", options.word, tile_families());
  }
  return {.operation = operation_called(options.argument("--expr").empty() ? "copy" : "map"),
          .family = family};
}

namespace {

/// Whether the operation, or the family with a tile of the caller's choice, takes an option.
bool takes(const Request& request, std::string_view option) {
  if (request.argument(option) != nullptr || request.asks_for_view(option)) return true;
  // Inputs without files are parts along --axis, whose extents are in --parts.
  const bool makes_parts = request.operation->name == "concat" || request.operation->is_batch;
  return makes_parts && (option == "--axis" || option == "--parts");
}

}  // namespace

void check_arguments(const Request& request, const ProblemOptions& options) {
  for (const auto& [option, text] : options.arguments) {
    if (text.empty() || takes(request, option)) continue;
    if (option == "--l2")
      refuse("--l2 is for loads of tiles of your choice: give the tile, too, as in --box 32x64");
    refuse("{} takes no {}; {}", options.word, option,
           option == "--pad" ? "only bits of one input can be padded: pad first" : takers(option));
  }
  const auto require = [&](const tmajit::Argument& argument) {
    if (!argument.required || !options.argument(argument.option).empty()) return;
    const bool quoted = argument.type == tmajit::ArgumentType::text;
    refuse("{0} needs {1}, {2}: {1} {3}{4}{3}", options.word, argument.option, argument.sentence,
           quoted ? "'" : "", argument.example);
  };
  const auto* const named = operation_called(options.word);
  for (const auto& argument : (named != nullptr ? named : request.operation)->arguments) require(argument);
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
