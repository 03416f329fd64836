#include "operations/entry.hpp"
#include "operations/shared/shapes.hpp"

#include <array>

TMAJIT_BEGIN
namespace {

constexpr std::array slice_arguments{
    Argument{.name = "slices",
             .option = "--slice",
             .type = ArgumentType::slices,
             .required = true,
             .sentence = "the part that is taken, Python's start:stop:step for each dimension",
             .example = "100:200,::2"}};

}  // namespace

const OperationEntry slice_entry{
    .info = {.name = "slice",
             .summary = "copies a part of the source",
             .arguments = slice_arguments,
             .moves_bits = true,
             .is_view = true},
    .destinations =
        [](std::span<const TensorView> sources, const Arguments& given) {
          return elementwise(std::array{sliced(Tensor(sources.front()), given.slices("slices")).view});
        },
    .make =
        [](std::span<const Tensor> to, std::span<const Tensor> from, const Arguments& given) {
          return operation::slice(to.front(), from.front(), given.slices("slices"));
        }};

TMAJIT_END
