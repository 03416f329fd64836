#include "problem.hpp"

#include "report.hpp"
#include "usage.hpp"

#include <array>
#include <span>

#include <spdlog/fmt/fmt.h>

namespace jitc {
namespace {

using tmajit::Tensor;

/// Tensors of arrays whose memory begins at `addresses`.
std::vector<Tensor> tensors_of(std::span<const Array> arrays, std::span<const std::uint64_t> addresses) {
  std::vector<Tensor> tensors;
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    tensors.emplace_back(arrays[i].view, addresses[i] + arrays[i].memory.first);
  }
  return tensors;
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
  auto sources = tensors_of(inputs, at.inputs);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    // Index tensors and weights are used as they are.
    if (i == 0 || !request.operation->has_indices) sources[i] = views.of(sources[i]);
  }
  sources.insert(sources.end(), numbers.begin(), numbers.end());
  return tmajit::make_operation(operation_name, tensors_of(outputs, at.outputs), sources, given);
}

std::string_view Problem::descr(const Array& output) const {
  return outputs_are_booleans ? std::string_view("|b1") : npy_descr(output.view.type);
}

Addresses Problem::planning_addresses(std::size_t other_arrays) const {
  // MemorySpan::of() limits a tensor to half this distance on either side of its first element.
  constexpr std::uint64_t distance = std::uint64_t{1} << 49U;
  Addresses at;
  std::uint64_t next = other_arrays * distance;
  for (std::size_t i = 0; i < inputs.size(); ++i) at.inputs.push_back(next += distance);
  for (std::size_t i = 0; i < outputs.size(); ++i) at.outputs.push_back(next += distance);
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
