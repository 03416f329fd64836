#include "kernel/problem.hpp"
#include "operations/entry.hpp"
#include "operations/shared/result_types.hpp"
#include "operations/shared/shapes.hpp"
#include "spec/views.hpp"

#include <tmajit/tile_options.hpp>

#include <algorithm>
#include <array>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

constexpr std::array<std::string_view, 8> reduce_ops{"sum", "mean", "min",     "max",
                                                     "any", "all",  "arg_min", "arg_max"};

constexpr std::array reduce_arguments{
    Argument{.name = "op",
             .option = "--op",
             .type = ArgumentType::choice,
             .required = true,
             .sentence = "how the elements are combined",
             .example = "sum",
             .choices = reduce_ops},
    Argument{.name = "axes",
             .option = "--axes",
             .type = ArgumentType::axes,
             .fallback = "all",
             .sentence = "the dimensions that are reduced",
             .example = "0,2"},
    Argument{.name = "expression",
             .option = "--expr",
             .fallback = "the source's elements",
             .sentence = "the C expression of x (or x0 … x7) and p0 … that is reduced",
             .example = "x*x"},
    Argument{.name = "epilogue",
             .option = "--epilogue",
             .fallback = "the result",
             .sentence = "the epilogue of each result: a C expression of x, the result, n, the number of its "
                         "elements, and p0 …",
             .example = "sqrt(x/n)"},
    Argument{.name = "keep_dims",
             .option = "--keep-dims",
             .type = ArgumentType::choice,
             .fallback = "no",
             .sentence = "whether the destination keeps the reduced dimensions, with an extent of 1",
             .example = "yes",
             .choices = no_or_yes}};

Reduction reduction_of(const Arguments& given, std::uint32_t rank) {
  Dims axes = given.dims("axes");
  if (axes.empty()) {
    std::vector<std::uint32_t> all(rank);
    for (std::uint32_t d = 0; d < rank; ++d) all[d] = d;
    axes = all;
  }
  return {.op = parse<ReductionOp>(given.text("op")),
          .axes = resolve_axes(axes, rank, "axes"),
          .expression = std::string(given.text("expression")),
          .epilogue = std::string(given.text("epilogue")),
          .keep_dims = given.text("keep_dims") == "yes"};
}

/// The type of an expression of tensors, and of those of the numbers that it reads.
ElementType type_of(std::string_view expression, std::vector<TensorView> tensors,
                    std::span<const TensorView> numbers) {
  for (std::size_t k = 0; k < numbers.size(); ++k)
    if (reads(expression, fmt::format("p{}", k))) tensors.push_back(numbers[k]);
  return value_type(expression, tensors);
}

std::vector<TensorView> reduce_destinations(std::span<const TensorView> sources, const Arguments& given) {
  const std::vector<std::uint64_t> whole = common_shape(sources);
  const Reduction what = reduction_of(given, static_cast<std::uint32_t>(whole.size()));
  std::vector<std::uint64_t> shape;
  for (std::size_t d = 0; d < whole.size(); ++d) {
    const bool reduced = std::ranges::find(what.axes, static_cast<std::int64_t>(d)) != what.axes.end();
    if (!reduced) shape.push_back(whole[d]);
    if (reduced && what.keep_dims) shape.push_back(1);
  }
  const auto numbers = sources.last(count_numbers(sources));
  const auto tensors = sources.first(sources.size() - numbers.size());
  const TensorView reduced = TensorView::contiguous(
      reduced_type(what.op, type_of(what.expression, {tensors.begin(), tensors.end()}, numbers)), shape);
  return {TensorView::contiguous(type_of(what.epilogue, {reduced}, numbers), shape)};
}

Operation make(std::span<const Tensor> to, std::span<const Tensor> from, const Arguments& given) {
  std::vector<TensorView> views;
  for (const Tensor& source : from) views.push_back(source.view);
  return operation::reduce(to.front(),
                           reduction_of(given, static_cast<std::uint32_t>(common_shape(views).size())), from);
}

}  // namespace

const OperationEntry reduce_entry{.info = {.name = "reduce",
                                           .summary = "reduces dimensions of the sources",
                                           .arguments = reduce_arguments,
                                           .max_sources = max_inputs,
                                           .takes_numbers = true},
                                  .destinations = reduce_destinations,
                                  .make = make};

TMAJIT_END
