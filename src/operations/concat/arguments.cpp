#include "operations/entry.hpp"
#include "operations/shared/make.hpp"
#include "operations/shared/shapes.hpp"
#include "spec/counted.hpp"
#include "spec/memory_rules.hpp"
#include "spec/views.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

TMAJIT_BEGIN
namespace {

constexpr std::array concat_arguments{
    Argument{.name = "axis",
             .option = "--axis",
             .type = ArgumentType::axis,
             .required = true,
             .sentence = "the dimension along which the sources are joined",
             .example = "0"},
    Argument{.name = "new_axis",
             .option = "--new-axis",
             .type = ArgumentType::choice,
             .fallback = "no",
             .sentence = "whether only the destination has that dimension, so that the sources are stacked",
             .example = "yes",
             .choices = no_or_yes}};

bool makes_axis(const Arguments& given) {
  return given.text("new_axis") == "yes";
}

/// The destination of sources that become the elements of a new dimension.
std::vector<TensorView> stacked(std::span<const TensorView> sources, const Arguments& given) {
  const auto first = extents(sources.front(), "source 0");
  if (first.size() == max_view_rank) {
    refuse("concat with a new axis: source 0 has {}; legal: at most {}, as a tensor has at most {}",
           counted(first.size(), "dimension"), max_view_rank - 1, max_view_rank);
  }
  const std::uint32_t axis =
      resolve_axes({given.axis("axis")}, static_cast<std::uint32_t>(first.size() + 1), "axis").front();
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const auto found = extents(sources[i], fmt::format("source {}", i));
    if (!std::ranges::equal(found, first)) {
      refuse("concat with a new axis: source {} of {}, source 0 of {}; all must have one shape", i,
             shape_text(found), shape_text(first));
    }
  }
  std::vector<std::uint64_t> shape(first.begin(), first.end());
  shape.insert(shape.begin() + axis, sources.size());
  return dense(sources, shape);
}

std::vector<TensorView> concat_destinations(std::span<const TensorView> sources, const Arguments& given) {
  if (makes_axis(given)) return stacked(sources, given);
  const auto first = extents(sources.front(), "source 0");
  const std::uint32_t axis =
      resolve_axes({given.axis("axis")}, static_cast<std::uint32_t>(first.size()), "axis").front();
  std::vector<std::uint64_t> shape(first.begin(), first.end());
  shape[axis] = 0;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const auto found = extents(sources[i], fmt::format("source {}", i));
    std::vector<std::uint64_t> expected(first.begin(), first.end());
    if (found.size() == expected.size()) expected[axis] = found[axis];
    if (!std::ranges::equal(found, expected)) {
      refuse(
          "concat along axis {}: source {} has shape {}, but source 0 has {}; they may differ in that "
          "dimension only",
          axis, i, fmt::join(found, "x"), fmt::join(first, "x"));
    }
    shape[axis] += found[axis];
  }
  return dense(sources, shape);
}

}  // namespace

const OperationEntry concat_entry{
    .info = {.name = "concat",
             .summary = "joins sources one after the other along a dimension",
             .arguments = concat_arguments,
             .max_sources = std::numeric_limits<std::uint32_t>::max(),
             .moves_bits = true},
    .destinations = concat_destinations,
    .make = [](std::span<const Tensor> to, std::span<const Tensor> from, const Arguments& given) {
      return operation::concat(to.front(), from, given.axis("axis"), makes_axis(given));
    }};

TMAJIT_END
