#include "operations/drawing/random_case.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

namespace reference {

using namespace tmajit;

namespace {

Random seeded(std::uint64_t a, std::uint64_t b) {
  std::seed_seq sequence{a, a >> 32, b, b >> 32};
  return Random(sequence);
}

/// Distances, in elements, from a view's first element to its lowest and to its highest one.
std::pair<std::uint64_t, std::uint64_t> reach_of(const TensorView& view) {
  std::pair<std::uint64_t, std::uint64_t> reach{0, 0};
  for (std::uint32_t d = 0; d < view.rank; ++d) {
    if (view.shape[d] == 0) return {0, 0};
    const std::int64_t last = view.strides[d] * static_cast<std::int64_t>(view.shape[d] - 1);
    (last < 0 ? reach.first : reach.second) += static_cast<std::uint64_t>(last < 0 ? -last : last);
  }
  return reach;
}

}  // namespace

std::uint64_t round_up(std::uint64_t value, std::uint64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

std::uint64_t element_count(const Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::uint64_t{1}, std::multiplies<>());
}

TestCaseDraw::TestCaseDraw(std::string_view operation, std::uint64_t kernel_seed, std::uint64_t launch_seed,
                           const CaseLimits& given)
    : kernel_property_random(seeded(kernel_seed, 1)),
      launch_parameter_random(seeded(kernel_seed, 2 + launch_seed)),
      limits(given) {
  test_case.operation = operation;
  element_limit = one_in(kernel_property_random, 8) ? limits.max_elements : limits.elements;
  aligned = !one_in(kernel_property_random, 3);
  type = any_type();
}

std::uint64_t TestCaseDraw::granule() const {
  return aligned ? 16 / size_of(type) : 1;
}

ElementType TestCaseDraw::any_type() {
  return one_of(kernel_property_random, all_element_types);
}

ElementType TestCaseDraw::same_size_type() {
  std::vector<ElementType> types;
  for (const ElementType one : all_element_types) {
    if (size_of(one) == size_of(type)) types.push_back(one);
  }
  return one_of(kernel_property_random, types);
}

std::uint64_t TestCaseDraw::extent(std::uint64_t about) {
  if (about <= 12) return about;
  const std::uint64_t extent = between(launch_parameter_random, about - about / 4, about);
  return about % granule() == 0 ? round_up(extent, granule()) : extent;
}

Shape TestCaseDraw::shape() {
  const auto rank = between(kernel_property_random, 0, max_view_rank);
  Shape about(rank);
  for (auto& one : about) {
    switch (between(kernel_property_random, 0, 7)) {
      case 0:
      case 1: one = between(kernel_property_random, 20, 90); break;
      case 2: one = between(kernel_property_random, 100, element_limit > limits.elements ? 3000 : 600); break;
      case 3: one = 1; break;
      default: one = between(kernel_property_random, 2, 9);
    }
  }
  if (rank > 0 && one_in(kernel_property_random, 40)) about[between(kernel_property_random, 0, rank - 1)] = 0;
  if (rank > 0 && aligned && about[rank - 1] > 1) about[rank - 1] = round_up(about[rank - 1], granule());
  while (element_count(about) > element_limit) {
    auto& largest = *std::max_element(about.begin(), about.end());
    largest = largest > 2 * granule() ? round_up(largest / 2, granule()) : largest / 2;
  }
  for (std::uint64_t& one : about) one = extent(one);
  return about;
}

Shape TestCaseDraw::tensor_shape(std::uint64_t min_rank, std::uint64_t max_rank) {
  Shape about(between(kernel_property_random, min_rank, max_rank), 1);
  std::uint64_t left = element_limit;
  for (std::size_t d = about.size(); d-- > 0;) {
    const std::size_t inner = about.size() - 1 - d;  // number of dimensions after d
    const std::uint64_t longest = inner == 0   ? (one_in(kernel_property_random, 6) ? left : 400)
                                  : inner == 1 ? 40
                                               : 9;
    about[d] = between(kernel_property_random, 1, std::max<std::uint64_t>(std::min(left, longest), 1));
    if (inner == 0 && aligned) about[d] = round_up(about[d], granule());
    left /= about[d];
  }
  for (std::uint64_t& one : about) one = extent(one);
  return about;
}

Shape TestCaseDraw::broadcastable(Shape shape, std::size_t keep) {
  const bool repeats = one_in(kernel_property_random, 5);
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const bool repeats_here = one_in(kernel_property_random, 3);
    if (repeats && repeats_here && d != keep) shape[d] = 1;
  }
  const std::uint64_t missing = between(kernel_property_random, 0, shape.size());
  const bool shorter = one_in(kernel_property_random, 8);
  if (shorter && keep == max_view_rank)
    shape.erase(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(missing));
  return shape;
}

TensorView TestCaseDraw::view(ElementType of, const Shape& shape, bool source) {
  TensorView view{.type = of, .rank = static_cast<std::uint32_t>(shape.size())};
  std::copy(shape.begin(), shape.end(), view.shape.begin());
  std::vector<std::size_t> order(shape.size());
  std::iota(order.rbegin(), order.rend(), 0);
  if (one_in(kernel_property_random, 3)) std::shuffle(order.begin(), order.end(), kernel_property_random);
  std::uint64_t stride = one_in(kernel_property_random, 12) ? between(kernel_property_random, 2, 3) : 1;
  const bool shares_memory = source && one_in(kernel_property_random, 12);
  bool inner = true;
  for (const std::size_t d : order) {
    const bool backwards = one_in(kernel_property_random, 10);
    const bool gap = one_in(kernel_property_random, 6);
    const bool repeats = source && one_in(kernel_property_random, 20);
    view.strides[d] = static_cast<std::int64_t>(repeats ? 0 : stride);
    if (backwards) view.strides[d] = -view.strides[d];
    if (shape[d] <= 1) continue;
    if (!repeats) stride *= shares_memory ? (shape[d] + 1) / 2 : shape[d];
    if (inner && !repeats) stride = round_up(stride, granule());
    if (gap) stride += granule() * between(launch_parameter_random, 1, 5);
    inner = inner && repeats;
  }
  return view;
}

TensorView TestCaseDraw::row_major_view(ElementType of, const Shape& shape) {
  const std::uint64_t unit = aligned ? 16 / size_of(of) : 1;
  std::vector<std::int64_t> strides(shape.size());
  const bool gaps = one_in(kernel_property_random, 3);
  std::uint64_t stride = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    strides[d] = static_cast<std::int64_t>(stride);
    stride *= std::max<std::uint64_t>(shape[d], 1);
    if (d + 1 == shape.size()) stride = round_up(stride, unit);
    if (gaps && one_in(kernel_property_random, 2)) stride += unit * between(launch_parameter_random, 1, 3);
  }
  return TensorView::strided(of, shape, strides);
}

void TestCaseDraw::add_number() {
  const auto value = static_cast<std::int32_t>(between(launch_parameter_random, 1, 3));
  switch (between(kernel_property_random, 0, 3)) {
    case 0: return test_case.numbers.push_back(tmajit::number(static_cast<float>(value)));
    case 1: return test_case.numbers.push_back(tmajit::number(static_cast<double>(value)));
    case 2: return test_case.numbers.push_back(tmajit::number(value));
    default: return test_case.numbers.push_back(tmajit::number(std::int64_t{value}));
  }
}

std::string TestCaseDraw::with_numbers(std::string text) {
  const std::size_t sources = test_case.sources.size();
  if (sources == 0 || sources + 2 > tmajit::max_inputs || !one_in(kernel_property_random, 3)) return text;
  if (text.empty()) text = "x";
  // No product is added, since a kernel may contract that: the values stay exact.
  const bool has_product = text.find('*') != std::string::npos;
  const char operation = has_product || one_in(kernel_property_random, 2) ? '*' : '+';
  for (std::uint64_t count = between(kernel_property_random, 1, operation == '+' ? 2 : 1); count > 0;
       --count) {
    text = "(" + text + ") " + operation + " p" + std::to_string(test_case.numbers.size());
    add_number();
  }
  return text;
}

BufferView TestCaseDraw::place(const TensorView& view) {
  return append(view, test_case.buffers.size());
}

BufferView TestCaseDraw::append(const TensorView& view, std::size_t buffer) {
  const bool is_new = buffer == test_case.buffers.size();
  if (is_new) test_case.buffers.push_back(2 * limits.guard);
  const auto [below, above] = reach_of(view);
  const std::uint64_t size = size_of(view.type);
  // The lowest element is at `phase` elements from a multiple of 16 bytes, and so are all rows if `aligned`.
  std::uint64_t phase = between(kernel_property_random, 1, 16 / size);
  if (!may_misalign || !one_in(kernel_property_random, 4)) phase = 0;
  const std::uint64_t begin = round_up(test_case.buffers[buffer] - limits.guard, is_new ? 1 : 16);
  const std::uint64_t offset = begin + (phase + below) * size;
  test_case.buffers[buffer] = offset + (above + 1) * size + limits.guard;
  return {view, buffer, offset};
}

}  // namespace reference
