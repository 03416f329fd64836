#include "operations/shared/indexed_arguments.hpp"
#include "operations/shared/indexed_moves.hpp"
#include "operations/shared/result_types.hpp"
#include "operations/shared/shapes.hpp"

#include <array>
#include <optional>
#include <vector>

TMAJIT_BEGIN
namespace {

constexpr Argument summed_axes_argument{
    .name = "axes",
    .option = "--axes",
    .type = ArgumentType::axes,
    .fallback = "0",
    .sentence = "the dimension that is indexed; several neighbours if they are flat",
    .example = "1"};
constexpr std::array gather_sum_arguments{summed_axes_argument, out_of_range_argument, flat_argument};

/// The destination's default type: that of a sum of the source. Weights make the sum of integers f32, and
/// weights of f64 make it f64.
ElementType summed_type(std::span<const TensorView> sources) {
  const ElementType type = sources.front().type;
  if (is_float(type) || sources.size() < 3) return sum_type(type);
  return sources[2].type == ElementType::f64 ? ElementType::f64 : ElementType::f32;
}

}  // namespace

const OperationEntry gather_sum_entry{
    .info = {.name = "gather_sum",
             .summary = "adds up the elements of the source that an index tensor selects, times weights",
             .arguments = gather_sum_arguments,
             .min_sources = 2,
             .max_sources = 3,
             .has_indices = true,
             .has_weights = true},
    .destinations =
        [](std::span<const TensorView> sources, const Arguments& given) {
          const auto shape =
              gathered_shape(sources, indexing_of(IndexedUse::gather_sum, indexing_from<GatherSum>(given)));
          return std::vector{TensorView::contiguous(summed_type(sources), shape)};
        },
    .make =
        [](std::span<const Tensor> to, std::span<const Tensor> from, const Arguments& given) {
          const auto weights = from.size() > 2 ? std::optional(from[2]) : std::nullopt;
          return operation::gather_sum(to.front(), from[0], from[1], weights,
                                       indexing_from<GatherSum>(given));
        }};

TMAJIT_END
