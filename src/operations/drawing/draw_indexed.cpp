#include "operations/drawing/draw_indexed.hpp"

#include "operations/drawing/draw_expression.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

namespace reference {

using namespace tmajit;

namespace {

constexpr std::array index_types{ElementType::i64, ElementType::i32, ElementType::u32, ElementType::u64};

/// The shapes of a case.
struct IndexedShapes {
  Shape selected;
  Shape moved;
  std::vector<Shape> index;  ///< of each index tensor
  std::size_t axis = 0;      ///< the first indexed dimension of the selected tensor
  bool along = false;
  bool flat = false;         ///< one index tensor numbers the elements of all indexed dimensions together
  std::uint64_t extent = 0;  ///< the elements of all flat dimensions
  std::size_t axes = 1;      ///< indexed dimensions
  std::uint64_t bags = 0;    ///< ragged bags, if `ragged`
  bool ragged = false;       ///< the index tensor is a list of indices, which offsets divide into bags
};

constexpr std::array weight_types{ElementType::f32, ElementType::bf16, ElementType::f16, ElementType::f64};

/// The shape to which index tensors are broadcast: at most `most` elements.
Shape draw_index_shape(TestCaseDraw& draw, std::uint64_t rank, std::uint64_t most) {
  Shape shape(rank);
  std::uint64_t left = most;
  for (std::uint64_t& extent : shape) {
    extent = draw.extent(between(draw.kernel_property_random, 1, std::clamp<std::uint64_t>(left, 1, 60)));
    left /= extent;
  }
  return shape;
}

IndexedShapes draw_shapes(TestCaseDraw& draw, DrawnUse use) {
  Random& random = draw.kernel_property_random;
  IndexedShapes drawn{.selected = draw.tensor_shape(1, 5), .moved = {}, .index = {}};
  const std::size_t rank = drawn.selected.size();
  const bool sums = use == DrawnUse::gather_sum;
  drawn.along = one_in(random, 3) && !sums;
  const std::size_t count =
      drawn.along || rank == 1 || !one_in(random, 3) ? 1 : between(random, 2, std::min<std::size_t>(rank, 3));
  const bool may_be_flat = one_in(random, 2);
  drawn.flat = count > 1 && (may_be_flat || sums);
  drawn.axes = count;
  drawn.axis = between(random, 0, rank - count);
  const auto first = drawn.selected.begin() + static_cast<std::ptrdiff_t>(drawn.axis);
  drawn.extent = element_count({first, first + static_cast<std::ptrdiff_t>(count)});
  // If each element is stored once, the indices along the first indexed dimension are different.
  const std::uint64_t distinct = drawn.flat ? drawn.extent : *first;
  const std::uint64_t most = use == DrawnUse::scatter ? distinct : UINT64_MAX;
  const std::uint64_t others = std::max<std::uint64_t>(element_count(drawn.selected) / *first, 1);
  const std::uint64_t budget = std::min(most, std::max<std::uint64_t>(draw.element_limit / others, 1));
  if (drawn.along) {
    drawn.moved = drawn.selected;
    drawn.moved[drawn.axis] = draw_index_shape(draw, 1, budget).front();
    Shape index = drawn.moved;
    for (std::size_t d = 0; d < rank; ++d) {
      const bool repeats = one_in(random, 5);
      const bool source_repeats = one_in(random, 8);
      if (d == drawn.axis) continue;
      if (repeats) index[d] = 1;
      if (source_repeats && !repeats && use == DrawnUse::gather) drawn.selected[d] = 1;
    }
    drawn.index = {index};
    return drawn;
  }
  drawn.ragged = sums && one_in(random, 2);
  const Shape index = draw_index_shape(draw, drawn.ragged ? 1 : between(random, 0, 3), budget);
  drawn.moved.assign(drawn.selected.begin(), first);
  drawn.moved.insert(drawn.moved.end(), index.begin(), index.end());
  drawn.moved.insert(drawn.moved.end(), first + static_cast<std::ptrdiff_t>(count), drawn.selected.end());
  drawn.index = {index};
  if (drawn.ragged) {
    drawn.bags = index.front();
    drawn.index = {{between(draw.launch_parameter_random, 1, 10 * (drawn.bags + 1))}};
  } else if (sums) {
    drawn.index.front().push_back(between(random, 1, 40));
  }
  for (std::size_t k = 1; k < (drawn.flat ? 1 : count); ++k) drawn.index.push_back(draw.broadcastable(index));
  return drawn;
}

}  // namespace

void draw_indexed_case(TestCaseDraw& draw, DrawnUse use) {
  Random& random = draw.kernel_property_random;
  const IndexedShapes shapes = draw_shapes(draw, use);
  const bool sums = use == DrawnUse::gather_sum;
  const bool gathers = use == DrawnUse::gather || sums;
  const bool clamps = one_in(random, 3);
  // Half of the cases without marks of absent elements stop for an index out of range, which they lack.
  const bool stops = !clamps && one_in(random, 3);
  const bool computes = use == DrawnUse::gather && one_in(random, 3);
  const ElementType type = sums || computes               ? draw.any_type()
                           : use == DrawnUse::scatter_add ? draw.type
                                                          : draw.same_size_type();
  const TensorView to = draw.view(draw.type, gathers ? shapes.moved : shapes.selected, false);
  const TensorView from = draw.view(type, gathers ? shapes.selected : shapes.moved, true);
  draw.add_destination(to);
  draw.add_source(from);
  const ElementType index_type = one_of(random, index_types);
  std::vector<std::int64_t> axes;
  const auto rank = static_cast<std::int64_t>(shapes.selected.size());
  for (std::size_t k = 0; k < shapes.axes; ++k)
    axes.push_back(static_cast<std::int64_t>(shapes.axis + k) - (one_in(random, 3) ? rank : 0));
  for (std::size_t k = 0; k < shapes.index.size(); ++k) {
    const bool distinct = use == DrawnUse::scatter && k == 0;
    draw.add_source(draw.view(index_type, shapes.index[k], !distinct));
    draw.test_case.indices.push_back(
        {.source = k + 1,
         .extent = shapes.flat ? shapes.extent : shapes.selected[shapes.axis + k],
         .distinct = distinct,
         .axis = shapes.along ? std::optional(shapes.axis) : std::nullopt,
         // Clamped indices would not be distinct.
         .outside =
             !(use == DrawnUse::scatter && clamps) && one_in(draw.launch_parameter_random, 2) && !stops});
  }
  draw.test_case.arguments = {{"axes", Dims(axes)},
                              {"out_of_range", std::string(clamps  ? "clamp"
                                                           : stops ? "error"
                                                                   : "skip")},
                              {"flat", std::string(shapes.flat ? "yes" : "no")}};
  if (!sums) draw.test_case.arguments.set("along", std::string(shapes.along ? "yes" : "no"));
  if (sums && !one_in(random, 3))
    draw.add_source(draw.view(one_of(random, weight_types), shapes.index[0], true));
  if (shapes.ragged) {
    draw.test_case.arguments.set("ragged", std::string("yes"));
    const ElementType offset_type = one_in(random, 2) ? ElementType::i32 : ElementType::i64;
    draw.test_case.indices.push_back({.source = draw.test_case.sources.size(),
                                      .extent = shapes.index[0][0],
                                      .outside = one_in(draw.launch_parameter_random, 2),
                                      .offsets = true});
    draw.add_source(draw.view(offset_type, {shapes.bags + 1}, false));
  }
  if (use == DrawnUse::gather && one_in(random, 3)) {
    draw.test_case.arguments.set(
        "value", one_of(draw.launch_parameter_random, std::array{1.0, -1.0, 0.3, 1e9, std::nan(""), 255.0}));
  }
  if (computes) draw.test_case.arguments.set("expression", draw.with_numbers(draw_expression(draw, 1, 0)));
}

}  // namespace reference
