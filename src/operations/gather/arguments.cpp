#include "operations/shared/indexed_arguments.hpp"
#include "operations/shared/indexed_moves.hpp"
#include "operations/shared/result_types.hpp"

#include <tmajit/tile_options.hpp>

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <vector>

TMAJIT_BEGIN
namespace {

constexpr std::array gather_arguments{
    indexed_axes_argument,
    along_argument,
    out_of_range_argument,
    Argument{.name = "value",
             .option = "--value",
             .type = ArgumentType::number,
             .fallback = "0",
             .sentence = "the element that is stored where an index selects none",
             .example = "1"},
    flat_argument,
    Argument{.name = "expression",
             .option = "--expr",
             .fallback = "the selected elements' bits",
             .sentence = "the C expression of x, the selected element, and p0 … that is stored",
             .example = "x*2+1"}};

Gather gather_of(const Arguments& given) {
  auto what = indexing_from<Gather>(given);
  what.value = given.number("value");
  what.expression = std::string(given.text("expression"));
  return what;
}

/// The source's type, or that of the expression's value.
ElementType gathered_type(std::span<const TensorView> sources, const Gather& what) {
  if (what.expression.empty()) return sources.front().type;
  std::vector<TensorView> read{sources.front()};
  std::ranges::copy_if(sources.subspan(1), std::back_inserter(read), &TensorView::is_number);
  return value_type(what.expression, read);
}

}  // namespace

const OperationEntry gather_entry{
    .info = {.name = "gather",
             .summary = "takes the elements of the source that index tensors select",
             .arguments = gather_arguments,
             .min_sources = 2,
             .max_sources = max_inputs,
             .moves_bits = true,
             .has_indices = true,
             .takes_numbers = true},
    .destinations =
        [](std::span<const TensorView> sources, const Arguments& given) {
          const Gather what = gather_of(given);
          const auto shape = gathered_shape(sources, indexing_of(IndexedUse::gather, what));
          return std::vector{TensorView::contiguous(gathered_type(sources, what), shape)};
        },
    .make =
        [](std::span<const Tensor> to, std::span<const Tensor> from, const Arguments& given) {
          return operation::gather(to.front(), from.front(), from.subspan(1), gather_of(given));
        }};

TMAJIT_END
