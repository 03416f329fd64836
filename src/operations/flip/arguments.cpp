#include "operations/entry.hpp"
#include "operations/shared/make.hpp"
#include "operations/shared/shapes.hpp"

#include <array>

TMAJIT_BEGIN
namespace {

constexpr std::array flip_arguments{Argument{.name = "axes",
                                             .option = "--flip",
                                             .type = ArgumentType::axes,
                                             .required = true,
                                             .sentence = "the dimensions that are walked backwards",
                                             .example = "0,2"}};

}  // namespace

const OperationEntry flip_entry{
    .info = {.name = "flip",
             .summary = "copies elements with some dimensions backwards",
             .arguments = flip_arguments,
             .moves_bits = true,
             .is_view = true},
    .destinations = [](std::span<const TensorView> sources,
                       const Arguments&) { return elementwise(sources); },
    .make =
        [](std::span<const Tensor> to, std::span<const Tensor> from, const Arguments& given) {
          Tensor view = from.front();
          for (const std::uint32_t axis : resolve_axes(given.dims("axes"), view.view.rank, "axes"))
            view = flipped(view, axis);
          view = broadcast(view, shape_of(to.front()), "the flipped source");
          return one_move({to.front(), {view}}, {&from.front(), 1});
        }};

TMAJIT_END
