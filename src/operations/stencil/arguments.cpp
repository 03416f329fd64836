#include "operations/entry.hpp"
#include "operations/shared/result_types.hpp"
#include "operations/shared/shapes.hpp"

#include <tmajit/tile_options.hpp>

#include <array>

TMAJIT_BEGIN
namespace {

constexpr std::array<std::string_view, 5> boundaries{"zero", "constant", "clamp", "wrap", "reflect"};

constexpr std::array stencil_arguments{
    Argument{
        .name = "expression",
        .option = "--expr",
        .required = true,
        .sentence =
            "the C expression, in which x(-1,0) is a neighbour of x, or x0(-1,0) of x0; it may read p0 …",
        .example = "x(-1,0)+x(1,0)"},
    Argument{.name = "boundary",
             .option = "--boundary",
             .type = ArgumentType::choice,
             .fallback = "zero",
             .sentence = "the values of neighbours beyond an edge",
             .example = "clamp",
             .choices = boundaries},
    Argument{
        .name = "value",
        .option = "--boundary-value",
        .type = ArgumentType::number,
        .fallback = "0",
        .sentence = "the value beyond an edge for the boundary \"constant\", converted to the element type",
        .example = "0.5"},
    Argument{.name = "dims",
             .option = "--dims",
             .type = ArgumentType::numbers,
             .fallback = "the last ones",
             .sentence = "the dimension to which each offset applies, such as -1 and 0 of x(-1,0)",
             .example = "0,1"}};

}  // namespace

const OperationEntry stencil_entry{
    .info = {.name = "stencil",
             .summary = "computes an expression of each element's neighbours",
             .arguments = stencil_arguments,
             .max_sources = max_inputs,
             .takes_numbers = true},
    .destinations =
        [](std::span<const TensorView> sources, const Arguments& given) {
          return std::vector{
              TensorView::contiguous(value_type(given.text("expression"), sources), common_shape(sources))};
        },
    .make =
        [](std::span<const Tensor> to, std::span<const Tensor> from, const Arguments& given) {
          const Stencil how{.boundary = parse<Boundary>(given.text("boundary", "zero")),
                            .value = given.number("value"),
                            .dims = given.dims("dims")};
          return operation::stencil(to.front(), given.text("expression"), from, how);
        }};

TMAJIT_END
