#include "operations/entry.hpp"
#include "operations/shared/result_types.hpp"
#include "operations/shared/shapes.hpp"

#include <tmajit/tile_options.hpp>

#include <array>

TMAJIT_BEGIN
namespace {

constexpr std::array map_arguments{
    Argument{.name = "expression",
             .option = "--expr",
             .required = true,
             .sentence = "the C expression of x (or x0 … x7), p0 …, and g[d], the element's coordinate in "
                         "dimension d",
             .example = "x*2+1"}};

}  // namespace

const OperationEntry map_entry{
    .info = {.name = "map",
             .summary = "computes an expression of each element's sources",
             .arguments = map_arguments,
             .min_sources = 0,
             .max_sources = max_inputs,
             .takes_numbers = true},
    .destinations =
        [](std::span<const TensorView> sources, const Arguments& given) {
          return std::vector{
              TensorView::contiguous(value_type(given.text("expression"), sources), common_shape(sources))};
        },
    .make =
        [](std::span<const Tensor> to, std::span<const Tensor> from, const Arguments& given) {
          return operation::map(to.front(), given.text("expression"), from);
        }};

TMAJIT_END
