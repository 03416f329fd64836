#include "operations/entry.hpp"
#include "operations/shared/shapes.hpp"

#include <array>

TMAJIT_BEGIN
namespace {

constexpr std::array broadcast_arguments{Argument{.name = "shape",
                                                  .option = "--broadcast",
                                                  .type = ArgumentType::extents,
                                                  .required = true,
                                                  .sentence = "the shape to which the source is repeated",
                                                  .example = "8x64x64"}};

}  // namespace

const OperationEntry broadcast_entry{
    .info = {.name = "broadcast",
             .summary = "repeats the source to a shape, by NumPy's rules",
             .arguments = broadcast_arguments,
             .moves_bits = true,
             .is_view = true},
    .destinations =
        [](std::span<const TensorView> sources, const Arguments& given) {
          return elementwise(std::array{broadcast(Tensor(sources.front()), given.dims("shape")).view});
        },
    .make = [](std::span<const Tensor> to, std::span<const Tensor> from,
               const Arguments&) { return operation::copy(to.front(), from.front()); }};

TMAJIT_END
