#include "operations/entry.hpp"
#include "operations/shared/make.hpp"
#include "operations/shared/shapes.hpp"
#include "spec/counted.hpp"

#include <array>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

TMAJIT_BEGIN
namespace {

constexpr std::int64_t max_width = std::int64_t{1} << 48U;

constexpr std::array pad_arguments{
    Argument{.name = "widths",
             .option = "--pad",
             .type = ArgumentType::widths,
             .required = true,
             .sentence = "elements added before each dimension, a colon, and those added after each; "
                         "negative numbers crop",
             .example = "1,1:2,2"},
    Argument{.name = "value",
             .option = "--pad-value",
             .type = ArgumentType::number,
             .fallback = "0",
             .sentence = "the value around the source, converted to the element type",
             .example = "0.5"}};

std::vector<TensorView> pad_destinations(std::span<const TensorView> sources, const Arguments& given) {
  const TensorView& view = sources.front();
  const PadWidths widths = given.widths("widths");
  if (widths.before.size() != view.rank) {
    refuse("pad: widths {}: {} before and {} after; both need one for each of {}", text_of(widths),
           counted(widths.before.size(), "number"), widths.after.size(), counted(view.rank, "dimension"));
  }
  std::vector<std::uint64_t> shape = common_shape(sources);
  for (std::uint32_t d = 0; d < view.rank; ++d) {
    for (const std::int64_t width : {widths.before[d], widths.after[d]}) {
      if (width < -max_width || width > max_width)
        refuse("pad: widths {}: the number {} is past 2^48 elements", text_of(widths), width);
    }
    const std::int64_t added = widths.before[d] + widths.after[d];
    if (static_cast<std::int64_t>(shape[d]) + added < 0) {
      refuse("pad: widths {} crop {} of dimension {}, which has {}", text_of(widths),
             counted(static_cast<std::uint64_t>(-added), "element"), d, shape[d]);
    }
    shape[d] += static_cast<std::uint64_t>(added);
  }
  return dense(sources, shape);
}

}  // namespace

const OperationEntry pad_entry{
    .info = {.name = "pad",
             .summary = "copies elements and surrounds them with a value",
             .arguments = pad_arguments,
             .moves_bits = true},
    .destinations = pad_destinations,
    .make = [](std::span<const Tensor> to, std::span<const Tensor> from, const Arguments& given) {
      return operation::pad(to.front(), from.front(),
                            {.before = given.widths("widths").before, .value = given.number("value")});
    }};

TMAJIT_END
