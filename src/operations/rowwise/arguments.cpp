#include "kernel/row_steps.hpp"
#include "operations/entry.hpp"
#include "operations/shared/result_types.hpp"
#include "operations/shared/shapes.hpp"
#include "spec/views.hpp"

#include <tmajit/tile_options.hpp>

#include <algorithm>
#include <array>

TMAJIT_BEGIN
namespace {

constexpr std::array rowwise_arguments{
    Argument{.name = "steps",
             .option = "--steps",
             .required = true,
             .sentence =
                 "the steps: C assignments that read x (or x0 …), p0 …, earlier steps, i, n and reductions; "
                 "y (or y0 …) is stored",
             .example = "m = max(x); y = x - m"},
    Argument{.name = "axes",
             .option = "--axes",
             .type = ArgumentType::axes,
             .fallback = "the last one",
             .sentence = "the dimensions of a row",
             .example = "1,2"}};

Dims axes_of(const Arguments& given) {
  Dims axes = given.dims("axes");
  return axes.empty() ? Dims{-1} : axes;
}

Rowwise rowwise_of(const Arguments& given) {
  return {.steps = std::string(given.text("steps")), .axes = axes_of(given)};
}

/// The type of each step's value.
std::vector<ElementType> types_of(const std::vector<RowStep>& steps, std::span<const TensorView> sources,
                                  std::span<const TensorView> numbers) {
  std::vector<ElementType> types;
  for (const RowStep& step : steps) {
    std::vector<TensorView> read;
    for (std::uint32_t s = 0; s < sources.size(); ++s) {
      if ((step.sources >> s & 1) != 0) read.push_back(sources[s]);
    }
    for (const std::uint32_t earlier : step.reads) read.push_back(TensorView{.type = types[earlier]});
    for (std::size_t k = 0; k < numbers.size(); ++k) {
      if ((step.numbers >> k & 1) != 0) read.push_back(numbers[k]);
    }
    if (read.empty()) read.push_back(TensorView{.type = ElementType::i32});  // i, n, or numbers alone
    const ElementType value = value_type(step.expression, read);
    types.push_back(step.reduction ? reduced_type(*step.reduction, value) : value);
  }
  return types;
}

std::vector<TensorView> rowwise_destinations(std::span<const TensorView> sources, const Arguments& given) {
  const std::vector<std::uint64_t> whole = common_shape(sources);
  const auto numbers = sources.last(count_numbers(sources));
  const auto tensors = sources.first(sources.size() - numbers.size());
  const std::vector<RowStep> steps =
      parse_row_steps(given.text("steps"), static_cast<std::uint32_t>(tensors.size()),
                      static_cast<std::uint32_t>(numbers.size()));
  const std::vector<ElementType> types = types_of(steps, tensors, numbers);
  const auto axes = resolve_axes(axes_of(given), static_cast<std::uint32_t>(whole.size()), "axes");
  std::vector<std::uint64_t> outer;
  for (std::uint32_t d = 0; d < whole.size(); ++d) {
    if (std::ranges::find(axes, d) == axes.end()) outer.push_back(whole[d]);
  }
  std::vector<TensorView> views;
  for (std::uint32_t k = 0; k < destination_count(steps); ++k) {
    const RowStep& step = step_of_destination(steps, k);
    const auto number = static_cast<std::size_t>(&step - steps.data());
    views.push_back(TensorView::contiguous(types[number], step.by_row() ? outer : whole));
  }
  return views;
}

}  // namespace

const OperationEntry rowwise_entry{
    .info = {.name = "rowwise",
             .summary = "computes reductions and element-wise steps over rows, in one pass",
             .arguments = rowwise_arguments,
             .max_sources = max_inputs,
             .several_destinations = true,
             .takes_numbers = true},
    .destinations = rowwise_destinations,
    .make = [](std::span<const Tensor> to, std::span<const Tensor> from, const Arguments& given) {
      return operation::rowwise(to, rowwise_of(given), from);
    }};

TMAJIT_END
