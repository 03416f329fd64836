#include "operations/entry.hpp"
#include "operations/shared/combine_names.hpp"
#include "operations/shared/shapes.hpp"

#include <array>

TMAJIT_BEGIN
namespace {

constexpr std::array reduce_into_arguments{
    Argument{.name = "op",
             .option = "--op",
             .type = ArgumentType::choice,
             .required = true,
             .sentence = "how each source element is combined with the destination's",
             .example = "add",
             .choices = combine_names}};

}  // namespace

const OperationEntry reduce_into_entry{
    .info = {.name = "reduce_into",
             .summary = "combines the source's elements with the destination's, by the copy engine",
             .arguments = reduce_into_arguments,
             .reads_destination = true},
    .destinations = [](std::span<const TensorView> sources,
                       const Arguments&) { return elementwise(sources); },
    .make =
        [](std::span<const Tensor> to, std::span<const Tensor> from, const Arguments& given) {
          return operation::reduce_into(to.front(), parse<CombineOp>(given.text("op")), from.front());
        }};

TMAJIT_END
