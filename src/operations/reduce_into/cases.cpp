#include "operations/cases.hpp"

#include <tmajit/combine.hpp>

#include <algorithm>
#include <numeric>

namespace reference::reduce_into_operation {

using namespace tmajit;

namespace {

/// A dense view, or one whose rows begin at multiples of 16 bytes, with the outer dimensions in any order.
TensorView mapped_view(TestCaseDraw& draw, const Shape& shape) {
  if (one_in(draw.kernel_property_random, 3)) return TensorView::contiguous(draw.type, shape);
  const std::uint64_t size = size_of(draw.type);
  std::vector<std::int64_t> strides(shape.size(), 1);
  std::vector<std::size_t> order(shape.size() - 1);
  std::iota(order.rbegin(), order.rend(), 0);
  if (one_in(draw.kernel_property_random, 2))
    std::shuffle(order.begin(), order.end(), draw.kernel_property_random);
  std::uint64_t bytes = shape.back() * size;
  for (const std::size_t d : order) {
    bytes =
        std::max<std::uint64_t>(round_up(bytes, 16), 16) + 16 * between(draw.launch_parameter_random, 0, 2);
    strides[d] = static_cast<std::int64_t>(bytes / size);
    bytes *= std::max<std::uint64_t>(shape[d], 1);
  }
  return TensorView::strided(draw.type, shape, strides);
}

/// Whether tensor maps can describe the view, perhaps with dimensions merged.
bool is_mapped(const TensorView& view) {
  std::int64_t dense = 1;
  bool is_dense = true;
  bool in_steps = true;
  for (std::uint32_t d = view.rank; d-- > 0;) {
    is_dense = is_dense && view.strides[d] == dense;
    dense *= static_cast<std::int64_t>(view.shape[d]);
    if (d + 1 < view.rank) in_steps = in_steps && view.strides[d] * size_of(view.type) % 16 == 0;
  }
  return is_dense || in_steps;
}

/// Draws an operation and an element type that the copy engine combines by it.
void draw_test_case(TestCaseDraw& draw) {
  const CombineOp op = one_of(draw.kernel_property_random, all_combine_ops);
  while (!combined_as(op, draw.type)) draw.type = draw.any_type();
  draw.test_case.arguments.set("op", std::string(name(op)));
  draw.test_case.contents = Contents::numbers;
  draw.may_misalign = false;
  draw.test_case.alignment = 16;
  for (;;) {
    Shape shape = draw.tensor_shape(1, max_map_rank);
    if (one_in(draw.kernel_property_random, 10))
      shape[between(draw.kernel_property_random, 0, shape.size() - 1)] =
          between(draw.kernel_property_random, 0, 1);
    const TensorView to = mapped_view(draw, shape);
    const TensorView from = mapped_view(draw, shape);
    const bool in_vectors = shape.back() * size_of(draw.type) % 16 == 0 && shape.back() > 1;
    // If dimensions can be merged in only one of the views, their rows may be illegal in a tensor map.
    if (!is_mapped(to) || !is_mapped(from) || (!std::ranges::equal(to.strides, from.strides) && !in_vectors))
      continue;
    draw.add_destination(to);
    draw.add_source(from);
    // Views begin at multiples of 16 bytes.
    for (BufferView* const view : {&draw.test_case.destinations[0], &draw.test_case.sources[0]}) {
      const std::uint64_t shift = 16 * between(draw.launch_parameter_random, 0, 3);
      view->offset += shift;
      draw.test_case.buffers[view->buffer] += shift + 16;
    }
    return;
  }
}

}  // namespace

const OperationCases cases{.draw_test_case = draw_test_case};

}  // namespace reference::reduce_into_operation
