#include "operations/entry.hpp"
#include "operations/shared/make.hpp"
#include "operations/shared/shapes.hpp"
#include "spec/views.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

TMAJIT_BEGIN
namespace {

constexpr std::array concat_arguments{Argument{.name = "axis",
                                               .option = "--axis",
                                               .type = ArgumentType::axis,
                                               .required = true,
                                               .sentence = "the dimension along which the sources are joined",
                                               .example = "0"}};

std::vector<TensorView> concat_destinations(std::span<const TensorView> sources, const Arguments& given) {
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
      return operation::concat(to.front(), from, given.axis("axis"));
    }};

TMAJIT_END
