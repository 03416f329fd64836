#include "operations/entry.hpp"
#include "operations/shared/shapes.hpp"

TMAJIT_BEGIN

const OperationEntry copy_entry{
    .info = {.name = "copy",
             .summary = "copies elements as they are, repeated where the source's extents are 1",
             .moves_bits = true},
    .destinations = [](std::span<const TensorView> sources,
                       const Arguments&) { return elementwise(sources); },
    .make = [](std::span<const Tensor> to, std::span<const Tensor> from,
               const Arguments&) { return operation::copy(to.front(), from.front()); }};

TMAJIT_END
