#include "operations/entry.hpp"
#include "operations/shared/make.hpp"
#include "operations/shared/shapes.hpp"
#include "spec/views.hpp"

#include <algorithm>
#include <array>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

TMAJIT_BEGIN
namespace {

constexpr std::array split_arguments{Argument{.name = "axis",
                                              .option = "--axis",
                                              .type = ArgumentType::axis,
                                              .required = true,
                                              .sentence = "the dimension along which the source is cut",
                                              .example = "0"},
                                     Argument{.name = "parts",
                                              .option = "--parts",
                                              .type = ArgumentType::parts,
                                              .required = true,
                                              .sentence = "the destinations' extents along that dimension",
                                              .example = "10,20,30"}};

std::vector<TensorView> split_destinations(std::span<const TensorView> sources, const Arguments& given) {
  const auto whole = extents(sources.front(), "the source");
  const std::uint32_t axis =
      resolve_axes({given.axis("axis")}, static_cast<std::uint32_t>(whole.size()), "axis").front();
  std::vector<TensorView> views;
  std::uint64_t left = whole[axis];
  bool fits = true;
  const std::vector<std::int64_t> parts = given.parts("parts");
  for (const std::int64_t number : parts) {
    const auto part = static_cast<std::uint64_t>(number);
    std::vector<std::uint64_t> shape(whole.begin(), whole.end());
    shape[axis] = part;
    views.push_back(dense(sources, shape).front());
    fits = fits && part <= left;
    left -= std::min(part, left);
  }
  if (!fits || left != 0) {
    refuse("split: parts {} must add up to {}, the extent of dimension {}", text_of(parts), whole[axis],
           axis);
  }
  return views;
}

}  // namespace

const OperationEntry split_entry{
    .info = {.name = "split",
             .summary = "cuts the source along a dimension",
             .arguments = split_arguments,
             .moves_bits = true},
    .destinations = split_destinations,
    .make = [](std::span<const Tensor> to, std::span<const Tensor> from, const Arguments& given) {
      return operation::split(to, from.front(), given.axis("axis"));
    }};

TMAJIT_END
