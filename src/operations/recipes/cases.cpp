#include "operations/cases.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace reference {

using namespace tmajit;

namespace {

ElementType type_for(TestCaseDraw& draw, OperandElements elements) {
  Random& random = draw.kernel_property_random;
  if (elements == OperandElements::quantised)
    return one_of(random, std::array{ElementType::e4m3, ElementType::e5m2, ElementType::i8});
  for (;;) {
    const ElementType type = draw.any_type();
    const bool wants_float = elements != OperandElements::integer;
    if (elements == OperandElements::any || is_float(type) == wants_float) return type;
  }
}

/// The operand's shape. An operand that lacks the axis may get it with an extent of 1.
Shape drawn_shape(TestCaseDraw& draw, const OperandInfo& operand, const TensorView& view, std::size_t axis,
                  std::size_t rank) {
  Shape shape(view.shape.begin(), view.shape.begin() + view.rank);
  const bool lacks_axis = operand.shape == OperandShape::row || operand.shape == OperandShape::block;
  if (lacks_axis && shape.size() < rank && one_in(draw.kernel_property_random, 3))
    shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), 1);
  if (operand.shape == OperandShape::half) return draw.broadcastable(shape);
  return shape;
}

/// Draws a recipe of square blocks of the last two dimensions.
void draw_tiles(TestCaseDraw& draw) {
  Random& random = draw.kernel_property_random;
  const OperationInfo& info = find_operation(draw.test_case.operation);
  Shape shape = one_in(random, 4) ? draw.tensor_shape(2, 6) : draw.tensor_shape(2, 3);
  const std::uint64_t block = one_of(random, std::array<std::uint64_t, 5>{1, 3, 8, 16, 32});
  draw.test_case.arguments = {{"block", static_cast<std::int64_t>(block)}};
  for (std::size_t d = shape.size() - 2; d < shape.size(); ++d) shape[d] = round_up(shape[d], block);
  const auto sources = sources_of(info.name, TensorView::contiguous(ElementType::f32, shape),
                                  info.max_sources, draw.test_case.arguments);
  const auto destinations = destinations_of(info.name, sources, draw.test_case.arguments);
  const auto view = [&](const OperandInfo& operand, const TensorView& of, bool source) {
    const Shape extents(of.shape.begin(), of.shape.begin() + of.rank);
    const bool free = !source && operand.elements != OperandElements::quantised;
    const ElementType type = free ? draw.any_type() : type_for(draw, operand.elements);
    return one_in(random, 2) ? draw.row_major_view(type, extents) : draw.view(type, extents, source);
  };
  for (std::size_t k = 0; k < destinations.size(); ++k)
    draw.add_destination(view(info.destinations[k], destinations[k], false));
  for (std::size_t k = 0; k < sources.size(); ++k) draw.add_source(view(info.sources[k], sources[k], true));
}

/// Draws a recipe of small whole numbers, whose sums are exact in any order.
void draw_recipe(TestCaseDraw& draw) {
  Random& random = draw.kernel_property_random;
  const OperationInfo& info = find_operation(draw.test_case.operation);
  draw.test_case.contents = Contents::whole;
  const auto is_tile = [](const OperandInfo& one) { return one.shape == OperandShape::tile; };
  const bool has_tiles =
      std::ranges::any_of(info.sources, is_tile) || std::ranges::any_of(info.destinations, is_tile);
  if (has_tiles) return draw_tiles(draw);
  Shape shape = one_in(random, 4) ? draw.tensor_shape(1, 7) : draw.tensor_shape(1, 3);
  const std::size_t axis = one_in(random, 2) ? shape.size() - 1 : between(random, 0, shape.size() - 1);
  const auto rank = static_cast<std::int64_t>(shape.size());
  const auto given_axis = static_cast<std::int64_t>(axis) - (one_in(random, 2) ? rank : 0);
  Arguments& given = draw.test_case.arguments;
  if (info.find_argument("axis") != nullptr && (given_axis != -1 || one_in(random, 2)))
    given = {{"axis", given_axis}};
  if (info.find_argument("eps") != nullptr && one_in(random, 2)) given.set("eps", 0.5);
  if (info.find_argument("layout") != nullptr && one_in(random, 2)) given.set("layout", std::string("pairs"));
  std::uint64_t divisor = 2;  // rows that consist of two halves
  if (info.find_argument("block") != nullptr && one_in(random, 2)) {
    divisor = one_of(random, std::array<std::uint64_t, 4>{1, 3, 8, 32});
    given.set("block", static_cast<std::int64_t>(divisor));
  }
  shape[axis] = round_up(shape[axis], divisor);
  const std::size_t count = between(random, info.min_sources, info.max_sources);
  const auto sources = sources_of(info.name, TensorView::contiguous(ElementType::f32, shape), count, given);
  const auto destinations = destinations_of(info.name, sources, given);
  for (std::size_t k = 0; k < destinations.size(); ++k) {
    const OperandInfo& operand = info.destinations[k];
    const bool quantised = operand.elements == OperandElements::quantised;
    const ElementType type = quantised ? type_for(draw, operand.elements) : draw.any_type();
    draw.add_destination(
        draw.view(type, drawn_shape(draw, operand, destinations[k], axis, shape.size()), false));
  }
  for (std::size_t k = 0; k < count; ++k) {
    const OperandInfo& operand = info.sources[k];
    const ElementType type = type_for(draw, operand.elements);
    draw.add_source(draw.view(type, drawn_shape(draw, operand, sources[k], axis, shape.size()), true));
  }
  // In place: the first source is the destination.
  const OperandInfo& first = info.sources.front();
  const BufferView& to = draw.test_case.destinations.front();
  if (first.shape == info.destinations.front().shape && first.elements == OperandElements::floating &&
      is_float(to.view.type) && std::ranges::equal(to.view.shape, draw.test_case.sources[0].view.shape) &&
      one_in(random, 8))
    draw.test_case.sources[0] = to;
}

}  // namespace

#define TMAJIT_CASES_OF_RECIPE(name)                            \
  namespace name##_operation {                                  \
    const OperationCases cases{.draw_test_case = &draw_recipe}; \
  }
TMAJIT_FOR_EACH_RECIPE(TMAJIT_CASES_OF_RECIPE)
#undef TMAJIT_CASES_OF_RECIPE

}  // namespace reference
