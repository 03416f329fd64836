#include "move_options.hpp"

#include "array_file.hpp"
#include "parse.hpp"

#include <tmajit/error.hpp>

#include <algorithm>
#include <array>
#include <string_view>

#include <CLI/CLI.hpp>
#include <spdlog/fmt/fmt.h>

namespace jitc {
namespace {

constexpr std::array families{"copy", "map", "bulk", "snapshot"};
/// Those that are no family.
constexpr std::array only_moves{"permute", "slice", "flip", "broadcast", "pad", "cast", "concat", "split"};

template <class Names>
bool contains(const Names& names, std::string_view word) {
  return std::find(names.begin(), names.end(), word) != names.end();
}

/// The first given option of one of these groups, or null.
const CLI::Option* given(const CLI::App& command, std::initializer_list<std::string_view> groups) {
  for (const auto* option : command.get_options()) {
    if (option->count() > 0 && contains(groups, option->get_group())) return option;
  }
  return nullptr;
}

bool exceeds_families(const KernelOptions& tensors) {
  if (!tensors.shape.empty() && parse_extents(tensors.shape, "--shape").size() > tmajit::max_map_rank)
    return true;
  return std::any_of(tensors.in.begin(), tensors.in.end(), [](const auto& path) {
    // A pipe can be read only once.
    return std::filesystem::is_regular_file(path) &&
           InputArray(path).header().shape.size() > tmajit::max_map_rank;
  });
}

}  // namespace

std::string move_names() {
  return fmt::format("copy, map, {}", fmt::join(only_moves, ", "));
}

void require_move_name(std::string_view word) {
  if (word == "copy" || word == "map" || contains(only_moves, word)) return;
  throw tmajit::Error(tmajit::ErrorCode::invalid_argument,
                      fmt::format("there is no move \"{}\"; moves are {}", word, move_names()));
}

void add_move_options(CLI::App& command, MoveOptions& values) {
  const auto add = [&](const char* name, std::string& value, const char* description, const char* type) {
    command.add_option(name, value, description)->type_name(type)->group(moves_group);
  };
  add("--slice", values.slice,
      "Part of every input, Python's start:stop:step for each dimension: 100:200,:,::-1", "SLICES");
  add("--flip", values.flip, "Then dimensions that are walked backwards", "0,2");
  add("--axes", values.axes, "Then the order of the dimensions: the result's dimension d is this one",
      "0,2,1,3");
  add("--broadcast", values.broadcast, "Then the shape to which inputs are repeated by NumPy's rules",
      "8x64x64");
  add("--pad", values.pad,
      "Then how many elements are added before each dimension, and after a colon behind each: 1,1:2,2. "
      "Without "
      "a colon the same at both ends; negative numbers crop",
      "WIDTHS");
  command
      .add_option("--pad-value", values.pad_value, "What it is filled with, converted to the element type")
      ->type_name("NUMBER")
      ->group(moves_group)
      ->capture_default_str();
  add("--axis", values.axis, "The dimension along which concat joins and split cuts", "N");
  add("--parts", values.parts, "Extents along --axis: of split's outputs, of concat's inputs without files",
      "10,20,30");
  command
      .add_option("--offset", values.offset,
                  "Elements by which the inputs start off a 256-byte boundary of device memory")
      ->type_name("N")
      ->group(moves_group);
  command.add_option("--out-offset", values.out_offset, "The same of the outputs")
      ->type_name("N")
      ->group(moves_group);
  command
      .add_flag("--plan", values.plan,
                "copy and map are moves, whose kernel a planner chooses, even if nothing else says so")
      ->group(moves_group);
}

void add_move_command_options(CLI::App& command, KernelOptions& tensors, MoveOptions& values) {
  command.add_option("MOVE", tensors.family, move_names())->required()->type_name("");
  add_tensor_options(command, tensors);
  add_move_options(command, values);
}

void add_operation_options(CLI::App& command, KernelOptions& kernel, MoveOptions& values) {
  add_kernel_options(command, kernel);
  auto* const family = command.get_option("FAMILY");
  family->description(fmt::format("{}. Or a move of any views: {}", family->get_description(), move_names()));
  add_move_options(command, values);
}

bool is_move(const CLI::App& command, const KernelOptions& tensors) {
  const std::string_view word = tensors.family;
  const auto* const move_option = given(command, {moves_group});
  const bool both = word == "copy" || word == "map";
  if (!contains(only_moves, word) && !contains(families, word)) {
    throw tmajit::Error(tmajit::ErrorCode::invalid_argument,
                        fmt::format("there is no kernel family or move \"{}\"; families are {}; moves are {}",
                                    word, fmt::join(families, ", "), move_names()));
  }
  if (!contains(only_moves, word) && !(both && (move_option != nullptr || exceeds_families(tensors)))) {
    if (move_option == nullptr) return false;
    throw tmajit::Error(tmajit::ErrorCode::invalid_argument,
                        fmt::format("{} is an option of moves, and {} is none; moves are {}",
                                    move_option->get_name(), word, move_names()));
  }
  if (const auto* const tile = given(command, {tiles_group, pipeline_group})) {
    throw tmajit::Error(
        tmajit::ErrorCode::invalid_argument,
        fmt::format("{} is an option of kernel families; of a move{} the planner chooses the kernel",
                    tile->get_name(),
                    both && move_option != nullptr
                        ? fmt::format(", which {} makes of {},", move_option->get_name(), word)
                        : ""));
  }
  return true;
}

}  // namespace jitc
