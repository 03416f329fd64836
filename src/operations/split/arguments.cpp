#include "operations/entry.hpp"
#include "operations/shared/make.hpp"
#include "operations/shared/shapes.hpp"
#include "spec/counted.hpp"
#include "spec/views.hpp"

#include <algorithm>
#include <array>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

TMAJIT_BEGIN
namespace {

/// The most destinations without `parts`, so that an extent alone cannot exhaust the memory.
constexpr std::uint64_t max_implied_parts = 65536;

constexpr std::array split_arguments{
    Argument{.name = "axis",
             .option = "--axis",
             .type = ArgumentType::axis,
             .required = true,
             .sentence = "the dimension along which the source is cut",
             .example = "0"},
    Argument{.name = "parts",
             .option = "--parts",
             .type = ArgumentType::parts,
             .fallback = "1 for each index",
             .sentence = "the destinations' extents along that dimension",
             .example = "10,20,30"},
    Argument{.name = "drop_axis",
             .option = "--drop-axis",
             .type = ArgumentType::choice,
             .fallback = "no",
             .sentence = "whether only the source has that dimension: each destination is one index of it",
             .example = "yes",
             .choices = no_or_yes}};

bool drops_axis(const Arguments& given) {
  return given.text("drop_axis") == "yes";
}

std::vector<TensorView> split_destinations(std::span<const TensorView> sources, const Arguments& given) {
  const auto whole = extents(sources.front(), "the source");
  const std::uint32_t axis =
      resolve_axes({given.axis("axis")}, static_cast<std::uint32_t>(whole.size()), "axis").front();
  std::vector<TensorView> views;
  std::uint64_t left = whole[axis];
  bool fits = true;
  std::vector<std::int64_t> parts = given.parts("parts");
  if (parts.empty()) {
    if (whole[axis] > max_implied_parts) {
      refuse("split: dimension {} has {}; legal without parts: at most {}", axis,
             counted(whole[axis], "element"), max_implied_parts);
    }
    parts.assign(whole[axis], 1);
  }
  for (const std::int64_t number : parts) {
    const auto part = static_cast<std::uint64_t>(number);
    if (drops_axis(given) && part != 1)
      refuse("split: parts {} of a dropped axis; legal: 1 for each index, or no parts", text_of(parts));
    std::vector<std::uint64_t> shape(whole.begin(), whole.end());
    shape[axis] = part;
    if (drops_axis(given)) shape.erase(shape.begin() + axis);
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
      return operation::split(to, from.front(), given.axis("axis"), drops_axis(given));
    }};

TMAJIT_END
