#include "operations/shared/indexed_arguments.hpp"
#include "operations/shared/indexed_moves.hpp"
#include "operations/shared/shapes.hpp"

#include <tmajit/tile_options.hpp>

#include <array>

TMAJIT_BEGIN
namespace {

constexpr std::array scatter_arguments{indexed_axes_argument, along_argument, out_of_range_argument,
                                       flat_argument};

}  // namespace

const OperationEntry scatter_entry{
    .info = {.name = "scatter",
             .summary = "stores the source's elements where index tensors say; other elements stay",
             .arguments = scatter_arguments,
             .min_sources = 2,
             .max_sources = max_inputs,
             .reads_destination = true,
             .moves_bits = true,
             .has_indices = true},
    .destinations =
        [](std::span<const TensorView> sources, const Arguments& given) {
          return dense(sources, scattered_shape(sources, indexing_of(IndexedUse::scatter,
                                                                     indexing_from<Scatter>(given))));
        },
    .make =
        [](std::span<const Tensor> to, std::span<const Tensor> from, const Arguments& given) {
          return operation::scatter(to.front(), from.front(), from.subspan(1), indexing_from<Scatter>(given));
        }};

TMAJIT_END
