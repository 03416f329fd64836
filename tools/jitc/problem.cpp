#include "problem.hpp"

#include "report.hpp"
#include "usage.hpp"

#include <array>
#include <span>

#include <spdlog/fmt/fmt.h>

namespace jitc {
namespace {

using tmajit::Tensor;

std::vector<Tensor> placed(std::span<const Array> arrays, std::span<const std::uint64_t> at) {
  std::vector<Tensor> tensors;
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    tensors.emplace_back(arrays[i].view, at[i] + arrays[i].memory.first);
  }
  return tensors;
}

/// Makes a dense tensor one long row.
void flatten(Tensor& tensor) {
  if (tensor.view.rank != 1) tensor = tmajit::reshaped(tensor, {tensor.view.elements()});
}

}  // namespace

Tensor InputViews::of(Tensor tensor) const {
  if (!slices.empty()) tensor = tmajit::sliced(tensor, slices);
  for (const auto axis : flips) tensor = tmajit::flipped(tensor, axis);
  if (!axes.empty()) tensor = tmajit::permuted(tensor, axes);
  if (shape) tensor = tmajit::broadcast(tensor, *shape);
  return tensor;
}

tmajit::Operation Problem::operation(const Addresses& at) const {
  auto sources = placed(inputs, at.inputs);
  for (auto& source : sources) source = views.of(source);
  return tmajit::make_operation(operation_name, placed(outputs, at.outputs), sources, given);
}

tmajit::RaggedPlan Problem::batch(const Addresses& at, const tmajit::Chip& chip) const {
  auto sources = placed(inputs, at.inputs);
  for (auto& source : sources) source = views.of(source);
  return tmajit::plan_ragged(placed(outputs, at.outputs), sources, at.table, chip);
}

tmajit::TileRequest Problem::tile_request(const Addresses& at, const tmajit::Chip& chip) const {
  tmajit::TileRequest result{.family = request.family->name,
                             .sources = placed(inputs, at.inputs),
                             .expression = given.text("expression"),
                             .tiles = tile.options,
                             .chip = chip};
  if (combines()) result.combine = tmajit::parse<tmajit::CombineOp>(given.text("op"));
  if (!outputs.empty()) result.destination = placed(outputs, at.outputs).front();
  result.tiles.box = tile.box;
  result.tiles.element_strides = tile.element_strides;
  if (request.family->flat) {
    for (auto& source : result.sources) flatten(source);
    flatten(result.destination);
  }
  return result;
}

std::vector<tmajit::Move> Problem::moves(const Addresses& at) const {
  if (!request.has_tile) return operation(at).moves;
  if (request.family->writes_images) {
    refuse("--check: {} writes tiles as they lie in shared memory, which no walk over elements gives", word);
  }
  tmajit::Move move{.destination = placed(outputs, at.outputs).front(), .sources = placed(inputs, at.inputs)};
  std::vector<tmajit::Slice> slices;
  for (const auto stride : tile.element_strides) slices.push_back({.step = stride});
  for (auto& source : move.sources) source = tmajit::sliced(source, slices);
  // The copy engine rounds tf32, which a conversion does, too.
  const auto type = move.destination.view.type;
  const bool rounds = type == tmajit::ElementType::tf32 || type == tmajit::ElementType::tf32_ftz;
  if (combines()) {
    move.body = tmajit::ReduceInto{tmajit::parse<tmajit::CombineOp>(given.text("op"))};
  } else if (rounds || given.has("expression")) {
    move.body = tmajit::Map{std::string(given.text("expression", "x"))};
  }
  return {move};
}

std::string_view Problem::descr(const Array& output) const {
  return outputs_are_booleans ? std::string_view("|b1") : npy_descr(output.view.type);
}

Addresses Problem::unplaced() const {
  constexpr std::uint64_t apart = std::uint64_t{1} << 49U;  // MemorySpan::of() takes half of that
  Addresses at;
  std::uint64_t next = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) at.inputs.push_back(next += apart);
  for (std::size_t i = 0; i < outputs.size(); ++i) at.outputs.push_back(next += apart);
  at.table = next + apart;
  return at;
}

std::string describe(const Problem& problem) {
  const auto list = [](std::span<const Array> arrays) {
    std::vector<std::string> texts;
    for (const auto& array : arrays) texts.push_back(describe(array.view));
    return fmt::to_string(fmt::join(texts, " and "));
  };
  return fmt::format("{}{}{}: {}{}-> {}", problem.word, problem.arguments.empty() ? "" : " ",
                     problem.arguments, list(problem.inputs), problem.inputs.empty() ? "" : " ",
                     list(problem.outputs));
}

}  // namespace jitc
