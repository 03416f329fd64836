#include "operations/entry.hpp"
#include "operations/shared/shapes.hpp"

TMAJIT_BEGIN

const OperationEntry cast_entry{
    .info = {.name = "cast", .summary = "converts values to the destination's type"},
    .destinations = [](std::span<const TensorView> sources,
                       const Arguments&) { return elementwise(sources); },
    .make = [](std::span<const Tensor> to, std::span<const Tensor> from,
               const Arguments&) { return operation::cast(to.front(), from.front()); }};

TMAJIT_END
