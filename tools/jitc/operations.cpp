#include "operations.hpp"

#include "memory_image.hpp"
#include "parse.hpp"
#include "spec/suggestion.hpp"
#include "usage.hpp"

#include <tmajit/tile_options.hpp>

#include <algorithm>
#include <array>
#include <limits>

#include <spdlog/fmt/fmt.h>

namespace jitc {
namespace {

using tmajit::FamilyInfo;
using tmajit::Operation;
using tmajit::Tensor;

using Tensors = std::span<const Tensor>;

/// The shape to which the inputs repeat together by NumPy's rules. Extents that disagree are found when they
/// are repeated.
std::vector<Shape> common_shape(Tensors inputs, const Arguments& arguments) {
  std::uint32_t rank = 0;
  for (const auto& input : inputs) rank = std::max(rank, input.view.rank);
  Shape shape(rank, 1);
  for (const auto& [view, address] : inputs) {
    for (std::uint32_t d = 0; d < view.rank; ++d) {
      auto& extent = shape[rank - view.rank + d];
      if (extent == 1) extent = view.shape[d];
    }
  }
  if (!arguments.padding) return {shape};
  for (std::uint32_t d = 0; d < rank; ++d) {
    shape[d] += static_cast<std::uint64_t>(arguments.padding->before[d] + arguments.pad_after[d]);
  }
  return {shape};
}

std::vector<Shape> kept_shape(Tensors inputs, const Arguments& arguments) {
  const Shape whole = common_shape(inputs, arguments).front();
  const auto& axes = arguments.reduction->axes;
  Shape kept;
  for (std::size_t d = 0; d < whole.size(); ++d) {
    if (std::ranges::find(axes, static_cast<std::int64_t>(d)) == axes.end()) kept.push_back(whole[d]);
  }
  return {kept};
}

std::vector<Shape> own_shapes(Tensors inputs, const Arguments& /*arguments*/) {
  std::vector<Shape> shapes;
  for (const auto& input : inputs)
    shapes.emplace_back(extents(input.view).begin(), extents(input.view).end());
  return shapes;
}

std::vector<Shape> windows_shape(Tensors inputs, const Arguments& arguments) {
  const auto images = extents(inputs.front().view);
  if (images.size() < 3) {
    refuse(
        "the images have shape {}; legal are images, one to three dimensions of an image, and channels: "
        "8x64x64x16",
        fmt::join(images, "x"));
  }
  const auto pixels = images.subspan(1, images.size() - 2);
  Shape shape{images.front(), images.back()};
  for (const auto count : tmajit::window_counts(arguments.windows, pixels)) shape.front() *= count;
  if (inputs.size() > 1) {
    shape.back() = inputs[1].view.shape[0];
    return {shape};
  }
  for (const auto taps : arguments.windows.filter) shape.back() *= static_cast<std::uint64_t>(taps);
  return {shape};
}

std::vector<Shape> joined_shape(Tensors inputs, const Arguments& arguments) {
  const auto first = extents(inputs.front().view);
  Shape shape(first.begin(), first.end());
  shape[arguments.axis] = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto found = extents(inputs[i].view);
    Shape expected(first.begin(), first.end());
    if (found.size() == expected.size()) expected[arguments.axis] = found[arguments.axis];
    if (!std::ranges::equal(found, expected)) {
      refuse(
          "concat --axis {}: input {} has shape {}, but input 0 has {}; they may differ in that "
          "dimension only",
          arguments.axis, i, fmt::join(found, "x"), fmt::join(first, "x"));
    }
    shape[arguments.axis] += found[arguments.axis];
  }
  return {shape};
}

std::vector<Shape> cut_shapes(Tensors inputs, const Arguments& arguments) {
  const auto whole = extents(inputs.front().view);
  std::vector<Shape> shapes(arguments.parts.size(), Shape(whole.begin(), whole.end()));
  std::uint64_t left = whole[arguments.axis];
  bool fits = true;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    shapes[i][arguments.axis] = arguments.parts[i];
    fits = fits && arguments.parts[i] <= left;
    left -= std::min(arguments.parts[i], left);
  }
  if (!fits || left != 0) {
    refuse("--parts {} must add up to {}, the extent of dimension {}", fmt::join(arguments.parts, ","),
           whole[arguments.axis], arguments.axis);
  }
  return shapes;
}

Operation copy(Tensors outputs, Tensors inputs, const Arguments& arguments) {
  return arguments.padding ? tmajit::operation::pad(outputs.front(), inputs.front(), *arguments.padding)
                           : tmajit::operation::copy(outputs.front(), inputs.front());
}
Operation cast(Tensors outputs, Tensors inputs, const Arguments& /*arguments*/) {
  return tmajit::operation::cast(outputs.front(), inputs.front());
}
Operation map(Tensors outputs, Tensors inputs, const Arguments& arguments) {
  return tmajit::operation::map(outputs.front(), arguments.expression, inputs);
}
Operation stencil(Tensors outputs, Tensors inputs, const Arguments& arguments) {
  return tmajit::operation::stencil(outputs.front(), arguments.expression, inputs, arguments.stencil);
}
Operation reduce(Tensors outputs, Tensors inputs, const Arguments& arguments) {
  return tmajit::operation::reduce(outputs.front(), *arguments.reduction, inputs);
}
Operation copy_ragged(Tensors outputs, Tensors inputs, const Arguments& /*arguments*/) {
  std::vector<tmajit::Move> moves;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    moves.push_back({.destination = outputs[i], .sources = {inputs[i]}});
  return Operation::of(std::move(moves));
}
Operation reduce_into(Tensors outputs, Tensors inputs, const Arguments& arguments) {
  return tmajit::operation::reduce_into(outputs.front(), *arguments.combine, inputs.front());
}
Operation im2col(Tensors outputs, Tensors inputs, const Arguments& arguments) {
  return tmajit::operation::im2col(outputs.front(), inputs.front(), arguments.windows);
}
Operation convolution(Tensors outputs, Tensors inputs, const Arguments& arguments) {
  return tmajit::operation::convolution(outputs.front(), inputs[0], inputs[1], arguments.windows);
}
Operation concat(Tensors outputs, Tensors inputs, const Arguments& arguments) {
  return tmajit::operation::concat(outputs.front(), inputs, arguments.axis);
}
Operation split(Tensors outputs, Tensors inputs, const Arguments& arguments) {
  return tmajit::operation::split(outputs, inputs.front(), arguments.axis);
}

constexpr std::uint32_t any_number = std::numeric_limits<std::uint32_t>::max();
using Options = ProblemOptions;

/// An operation on one input that moves bits and goes by the options of views alone.
constexpr OperationWord view_operation(std::string_view word, Need need = {}) {
  return {.word = word, .needs = {need}, .pads = true, .shapes = common_shape, .make = copy};
}

constexpr std::array table{
    view_operation("copy"),
    view_operation("permute", {&Options::axes, "--axes, the new order of the dimensions: --axes 0,2,1,3"}),
    view_operation("slice", {&Options::slice, "--slice, the part that is taken: --slice 100:200,::2"}),
    view_operation("flip", {&Options::flip, "--flip, the dimensions that are walked backwards: --flip 0,2"}),
    view_operation(
        "broadcast",
        {&Options::broadcast, "--broadcast, the shape to which the input is repeated: --broadcast 8x64x64"}),
    view_operation("pad",
                   {&Options::pad, "--pad, what is added before and after each dimension: --pad 1,1:2,2"}),
    OperationWord{.word = "cast",
                  .needs = {{{&Options::out_dtype,
                              "--out-dtype, the type to which elements are converted: --out-dtype bf16"}}},
                  .shapes = common_shape,
                  .make = cast},
    OperationWord{
        .word = "concat",
        .needs = {{{&Options::axis, "--axis, the dimension along which the inputs are joined: --axis 0"}}},
        .most_inputs = any_number,
        .has_axis = true,
        .shapes = joined_shape,
        .make = concat},
    OperationWord{
        .word = "split",
        .needs = {{{&Options::axis, "--axis, the dimension along which the input is cut: --axis 0"},
                   {&Options::parts, "--parts, the outputs' extents along --axis: --parts 10,20,30"}}},
        .has_axis = true,
        .shapes = cut_shapes,
        .make = split},
    OperationWord{.word = "map",  // what it needs, --expr, everything does that computes
                  .most_inputs = tmajit::max_inputs,
                  .computes = true,
                  .shapes = common_shape,
                  .make = map},
    OperationWord{.word = "stencil",
                  .most_inputs = tmajit::max_inputs,
                  .computes = true,
                  .neighbours = true,
                  .shapes = common_shape,
                  .make = stencil},
    OperationWord{.word = "reduce",
                  .needs = {{{&Options::op, "--op, what becomes of the elements: --op sum"}}},
                  .most_inputs = tmajit::max_inputs,
                  .computes = true,
                  .reduces = true,
                  .shapes = kept_shape,
                  .make = reduce},
    OperationWord{.word = "copy_ragged",
                  .most_inputs = any_number,
                  .batches = true,
                  .shapes = own_shapes,
                  .make = copy_ragged},
    OperationWord{.word = "reduce_into",  // what it needs, --op, tiles of one's own do, too
                  .combines = true,
                  .shapes = common_shape,
                  .make = reduce_into},
    OperationWord{.word = "im2col",
                  .needs = {{{&Options::filter, "--filter, the taps of a window: --filter 3x3"}}},
                  .windows = true,
                  .shapes = windows_shape,
                  .make = im2col},
    OperationWord{.word = "convolution",
                  .most_inputs = 2,
                  .windows = true,
                  .convolves = true,
                  .shapes = windows_shape,
                  .make = convolution},
};

/// The family whose kernels do `word` with a tile of the caller's choice, or null.
const FamilyInfo* tile_family(std::string_view word) {
  const auto families = tmajit::families();
  const auto found = std::ranges::find(families, word, &FamilyInfo::operation);
  return word.empty() || found == families.end() ? nullptr : &*found;
}

const FamilyInfo* family_called(std::string_view word) {
  const auto families = tmajit::families();
  const auto found = std::ranges::find(families, word, &FamilyInfo::name);
  return found == families.end() ? tile_family(word) : &*found;
}

std::string tile_words() {
  std::vector<std::string_view> words;
  for (const auto& family : tmajit::families()) {
    if (!family.operation.empty()) words.push_back(family.operation);
  }
  return fmt::to_string(fmt::join(words, ", "));
}

/// The first option that gives the kernel a tile of the caller's choice: an expression may read that tile,
/// too.
std::string_view tile_option(const ProblemOptions& options) {
  const auto option = options.tile_option();
  if (!option.empty()) return option;
  return reads(options.expression, "t") || reads(options.expression, "tile_index")
             ? "--expr with t[d] or tile_index"
             : std::string_view();
}

/// A family whose tile the caller chooses.
Request with_tile(const OperationWord* operation, const FamilyInfo& family, const ProblemOptions& options) {
  if (const auto view = options.view_option(); !view.empty()) {
    const auto tile = tile_option(options);
    refuse(
        "{} needs a kernel that the planner chooses, but {} has a tile of your choice, which is for "
        "tensors as they are; leave one of them out",
        view, tile.empty() ? options.word : std::string(tile));
  }
  return {.operation = operation, .family = &family, .has_tile = true};
}

}  // namespace

std::span<const OperationWord> operations() {
  return table;
}

const OperationWord* find_operation(std::string_view word) {
  const auto* const found = std::ranges::find(table, word, &OperationWord::word);
  return found == table.end() ? nullptr : &*found;
}

std::string operation_names() {
  std::vector<std::string_view> words;
  for (const auto& operation : table) words.push_back(operation.word);
  return fmt::to_string(fmt::join(words, ", "));
}

std::string family_names() {
  std::vector<std::string_view> words;
  for (const auto& family : tmajit::families()) {
    if (find_operation(family.name) == nullptr) words.push_back(family.name);
  }
  return fmt::to_string(fmt::join(words, ", "));
}

std::vector<std::string_view> operation_words() {
  std::vector<std::string_view> words;
  for (const auto& operation : table) words.push_back(operation.word);
  for (const auto& family : tmajit::families()) {
    words.push_back(family.name);
    if (!family.operation.empty()) words.push_back(family.operation);
  }
  return words;
}

Request read_request(const ProblemOptions& options) {
  const auto tile = tile_option(options);
  if (const auto* const operation = find_operation(options.word)) {
    if (tile.empty()) return {.operation = operation};
    const auto* const family = tile_family(options.word);
    if (family == nullptr) {
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
  const auto* const operation = find_operation(family->operation);
  if (!family->operation.empty() && (operation == nullptr || !tile.empty()))
    return with_tile(operation, *family, options);
  if (!tile.empty()) {
    refuse("{} chooses a tile, but for family {} the planner does; tiles of your choice are for {}", tile,
           family->name, tile_words());
  }
  return {.operation = find_operation(options.expression.empty() ? "copy" : "map"), .family = family};
}

}  // namespace jitc
