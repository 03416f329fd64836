#include "operations/entry.hpp"
#include "operations/shared/shapes.hpp"

#include <array>

TMAJIT_BEGIN
namespace {

constexpr std::array permute_arguments{Argument{.name = "axes",
                                                .option = "--axes",
                                                .type = ArgumentType::axes,
                                                .required = true,
                                                .sentence = "the new order of the dimensions",
                                                .example = "0,2,1,3"}};

}  // namespace

const OperationEntry permute_entry{
    .info = {.name = "permute",
             .summary = "copies elements in another order of the dimensions",
             .arguments = permute_arguments,
             .moves_bits = true,
             .is_view = true},
    .destinations =
        [](std::span<const TensorView> sources, const Arguments& given) {
          return elementwise(std::array{permuted(Tensor(sources.front()), given.dims("axes")).view});
        },
    .make =
        [](std::span<const Tensor> to, std::span<const Tensor> from, const Arguments& given) {
          return operation::permute(to.front(), from.front(), given.dims("axes"));
        }};

TMAJIT_END
