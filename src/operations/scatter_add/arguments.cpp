#include "operations/shared/indexed_arguments.hpp"
#include "operations/shared/indexed_moves.hpp"
#include "operations/shared/shapes.hpp"

#include <tmajit/tile_options.hpp>

#include <array>

TMAJIT_BEGIN
namespace {

constexpr std::array scatter_add_arguments{
    indexed_axes_argument, along_argument, out_of_range_argument,
    Argument{.name = "deterministic",
             .option = "--deterministic",
             .type = ArgumentType::choice,
             .fallback = "no",
             .sentence =
                 "whether additions to an element have a fixed order, so that equal calls leave equal bits",
             .example = "yes",
             .choices = no_or_yes},
    flat_argument};

ScatterAdd scatter_add_of(const Arguments& given) {
  auto what = indexing_from<ScatterAdd>(given);
  what.deterministic = given.text("deterministic") == "yes";
  return what;
}

}  // namespace

const OperationEntry scatter_add_entry{
    .info = {.name = "scatter_add",
             .summary = "adds the source's elements to those that index tensors select",
             .arguments = scatter_add_arguments,
             .min_sources = 2,
             .max_sources = max_inputs,
             .reads_destination = true,
             .has_indices = true},
    .destinations =
        [](std::span<const TensorView> sources, const Arguments& given) {
          return dense(sources,
                       scattered_shape(sources, indexing_of(IndexedUse::scatter_add, scatter_add_of(given))));
        },
    .make =
        [](std::span<const Tensor> to, std::span<const Tensor> from, const Arguments& given) {
          return operation::scatter_add(to.front(), from.front(), from.subspan(1), scatter_add_of(given));
        }};

TMAJIT_END
