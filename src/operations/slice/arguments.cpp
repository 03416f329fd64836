#include "operations/entry.hpp"
#include "operations/shared/shapes.hpp"

#include <array>

TMAJIT_BEGIN

// The arguments of the operation `slice`, and its entry in the list of operations.

namespace {

constexpr std::array slice_arguments{
    Argument{.name = "slices",
             .option = "--slice",
             .type = ArgumentType::slices,
             .required = true,
             .sentence = "the part to copy, as Python's start:stop:step for each dimension",
             .example = "100:200,::2"}};

}  // namespace

const OperationEntry slice_entry{
    .info = {.name = "slice",
             .summary = "copies a part of the source",
             .arguments = slice_arguments,
             .moves_bits = true,
             .is_view = true},
    .destinations =
        [](std::span<const TensorView> sources, const Arguments& arguments) {
          // The destination is dense and has the shape and the type of the sliced source.
          const Tensor part = sliced(sources.front(), arguments.slices("slices"));
          return elementwise(std::array{part.view});
        },
    .make =
        [](std::span<const Tensor> destinations, std::span<const Tensor> sources,
           const Arguments& arguments) {
          return operation::slice(destinations.front(), sources.front(), arguments.slices("slices"));
        }};

TMAJIT_END
