#include "operations/entry.hpp"
#include "spec/counted.hpp"
#include "spec/refuse.hpp"
#include "spec/views.hpp"

#include <array>
#include <string_view>
#include <utility>

TMAJIT_BEGIN
namespace {

constexpr std::array<std::string_view, 5> cast_types{"e4m3", "e5m2", "i8", "f16", "bf16"};
constexpr std::array<std::string_view, 3> cast_orders{"both", "plain", "transposed"};

constexpr std::array cast_transpose_arguments{
    Argument{.name = "to",
             .option = "--to",
             .type = ArgumentType::choice,
             .fallback = "the destination's type, else e4m3",
             .sentence = "the type of the converted elements",
             .example = "e5m2",
             .choices = cast_types},
    Argument{.name = "orders",
             .option = "--orders",
             .type = ArgumentType::choice,
             .fallback = "both",
             .sentence = "the orders in which the converted matrix is stored",
             .example = "transposed",
             .choices = cast_orders},
    Argument{.name = "amax",
             .option = "--amax",
             .type = ArgumentType::choice,
             .fallback = "yes",
             .sentence = "whether the last destination gets the greatest magnitude of x",
             .example = "no",
             .choices = no_or_yes}};

CastTranspose cast_transpose_of(const Arguments& given) {
  CastTranspose what;
  if (const std::string_view orders = given.text("orders"); !orders.empty())
    what.orders = parse<CastOrders>(orders);
  what.amax = given.text("amax") != "no";
  return what;
}

std::vector<TensorView> cast_transpose_destinations(std::span<const TensorView> sources,
                                                    const Arguments& given) {
  const auto shape = extents(sources.front(), "x");
  if (shape.size() < 2) {
    refuse("cast_transpose: x has {}; legal are 2 or more, of which the last two are the matrix",
           counted(shape.size(), "dimension"));
  }
  const CastTranspose what = cast_transpose_of(given);
  const std::string_view to = given.text("to");
  const ElementType type = to.empty() ? ElementType::e4m3 : parse<ElementType>(to);
  std::vector<TensorView> views;
  if (what.orders != CastOrders::transposed) views.push_back(TensorView::contiguous(type, shape));
  if (what.orders != CastOrders::plain) {
    std::vector<std::uint64_t> swapped(shape.begin(), shape.end());
    std::swap(swapped[swapped.size() - 1], swapped[swapped.size() - 2]);
    views.push_back(TensorView::contiguous(type, swapped));
  }
  if (what.amax) views.push_back(TensorView::contiguous(ElementType::f32, {}));
  return views;
}

}  // namespace

const OperationEntry cast_transpose_entry{
    .info = {.name = "cast_transpose",
             .summary = "scales and converts a matrix, and stores it in both orders, with its greatest "
                        "magnitude, in one pass",
             .arguments = cast_transpose_arguments,
             .max_sources = 2,
             .several_destinations = true,
             .takes_numbers = true},
    .destinations = cast_transpose_destinations,
    .make = [](std::span<const Tensor> to, std::span<const Tensor> from, const Arguments& given) {
      const std::string_view type = given.text("to");
      if (!type.empty() && to.front().view.type != parse<ElementType>(type)) {
        refuse("cast_transpose: to is {}, but destination 0 has elements of {}; both must be the same", type,
               name(to.front().view.type));
      }
      return operation::cast_transpose(to, cast_transpose_of(given), from);
    }};

TMAJIT_END
