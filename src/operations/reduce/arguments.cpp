#include "operations/entry.hpp"
#include "operations/shared/shapes.hpp"

#include <tmajit/tile_options.hpp>

#include <algorithm>
#include <array>

TMAJIT_BEGIN
namespace {

constexpr std::array<std::string_view, 8> ops{"sum", "mean", "min",     "max",
                                              "any", "all",  "arg_min", "arg_max"};

constexpr std::array arguments{
    Argument{.name = "op",
             .option = "--op",
             .type = ArgumentType::choice,
             .required = true,
             .sentence = "what becomes of the elements",
             .example = "sum",
             .choices = ops},
    Argument{.name = "axes",
             .option = "--axes",
             .type = ArgumentType::axes,
             .fallback = "all",
             .sentence = "the dimensions that are reduced",
             .example = "0,2"},
    Argument{.name = "expression",
             .option = "--expr",
             .fallback = "the source's elements",
             .sentence = "what is reduced: C over x, or x0 … x7",
             .example = "x*x"},
    Argument{
        .name = "then",
        .option = "--then",
        .fallback = "the result",
        .sentence = "what becomes of each result: C over x, the result, and n, the number of its elements",
        .example = "sqrt(x/n)"}};

Reduction reduction_of(const Arguments& given, std::uint32_t rank) {
  Dims axes = given.dims("axes");
  if (!given.has("axes")) {
    std::vector<std::uint32_t> all(rank);
    for (std::uint32_t d = 0; d < rank; ++d) all[d] = d;
    axes = all;
  }
  return {.op = parse_reduction(given.text("op")),
          .axes = resolve_axes(axes, rank, "axes"),
          .expression = std::string(given.text("expression")),
          .then = std::string(given.text("then"))};
}

ElementType result_type(ReductionOp op, ElementType type) {
  using enum ReductionOp;
  if (op == arg_min || op == arg_max) return ElementType::i64;
  return op == any || op == all ? ElementType::u8 : type;
}

std::vector<TensorView> destinations(std::span<const TensorView> sources, const Arguments& given) {
  const std::vector<std::uint64_t> whole = common_shape(sources);
  const Reduction what = reduction_of(given, static_cast<std::uint32_t>(whole.size()));
  std::vector<std::uint64_t> shape;
  for (std::size_t d = 0; d < whole.size(); ++d) {
    if (std::ranges::find(what.axes, static_cast<std::int64_t>(d)) == what.axes.end())
      shape.push_back(whole[d]);
  }
  return {TensorView::contiguous(result_type(what.op, first_type(sources)), shape)};
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
                                           .arguments = arguments,
                                           .most_sources = max_inputs},
                                  .destinations = destinations,
                                  .make = make};

TMAJIT_END
