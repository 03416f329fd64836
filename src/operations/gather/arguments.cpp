#include "operations/shared/indexed_arguments.hpp"
#include "operations/shared/indexed_moves.hpp"
#include "operations/shared/shapes.hpp"

#include <tmajit/tile_options.hpp>

#include <array>

TMAJIT_BEGIN
namespace {

constexpr std::array gather_arguments{
    indexed_axes_argument, along_argument, out_of_range_argument,
    Argument{.name = "value",
             .option = "--value",
             .type = ArgumentType::number,
             .fallback = "0",
             .sentence = "the element that is stored where an index selects none",
             .example = "1"},
    flat_argument};

Gather gather_of(const Arguments& given) {
  auto what = indexing_from<Gather>(given);
  what.value = given.number("value");
  return what;
}

}  // namespace

const OperationEntry gather_entry{
    .info = {.name = "gather",
             .summary = "takes the elements of the source that index tensors select",
             .arguments = gather_arguments,
             .min_sources = 2,
             .max_sources = max_inputs,
             .moves_bits = true,
             .has_indices = true},
    .destinations =
        [](std::span<const TensorView> sources, const Arguments& given) {
          return dense(sources, gathered_shape(sources, indexing_of(IndexedUse::gather, gather_of(given))));
        },
    .make =
        [](std::span<const Tensor> to, std::span<const Tensor> from, const Arguments& given) {
          return operation::gather(to.front(), from.front(), from.subspan(1), gather_of(given));
        }};

TMAJIT_END
