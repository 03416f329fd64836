#include "operations/shared/indexed_arguments.hpp"
#include "operations/shared/indexed_moves.hpp"
#include "operations/shared/result_types.hpp"
#include "operations/shared/shapes.hpp"

#include <array>
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
constexpr Argument ragged_argument{
    .name = "ragged",
    .option = "--ragged",
    .type = ArgumentType::choice,
    .fallback = "no",
    .sentence =
        "whether the last source holds offsets, which divide the indices into bags of different lengths",
    .example = "yes",
    .choices = no_or_yes};
constexpr std::array gather_sum_arguments{summed_axes_argument, out_of_range_argument, flat_argument,
                                          ragged_argument};

GatherSum gather_sum_from(const Arguments& given) {
  auto what = indexing_from<GatherSum>(given);
  what.ragged = given.text("ragged") == "yes";
  return what;
}

/// The destination's default type: that of a sum of the source. Weights make the sum of integers f32, and
/// weights of f64 make it f64.
ElementType summed_type(std::span<const TensorView> sources, const GatherSum& what) {
  const ElementType type = sources.front().type;
  const bool weighted = sources.size() > (what.ragged ? 3 : 2);
  if (is_float(type) || !weighted) return sum_type(type);
  return sources[2].type == ElementType::f64 ? ElementType::f64 : ElementType::f32;
}

}  // namespace

const OperationEntry gather_sum_entry{
    .info = {.name = "gather_sum",
             .summary = "adds up the elements of the source that an index tensor selects, times weights",
             .arguments = gather_sum_arguments,
             .min_sources = 2,
             .max_sources = 4,
             .has_indices = true,
             .has_weights = true,
             .has_offsets = true},
    .destinations =
        [](std::span<const TensorView> sources, const Arguments& given) {
          const GatherSum what = gather_sum_from(given);
          const auto shape = gathered_shape(sources, indexing_of(IndexedUse::gather_sum, what));
          return std::vector{TensorView::contiguous(summed_type(sources, what), shape)};
        },
    .make =
        [](std::span<const Tensor> to, std::span<const Tensor> from, const Arguments& given) {
          return indexed_operation(to.front(), from.front(), from.subspan(1), gather_sum_from(given));
        }};

TMAJIT_END
