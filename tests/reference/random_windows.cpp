#include "reference/random_windows.hpp"

#include "reference/random_maps.hpp"

#include <algorithm>
#include <sstream>
#include <vector>

using namespace tmajit;

namespace reference {
namespace {

constexpr ElementType types[] = {ElementType::f32, ElementType::bf16, ElementType::u8, ElementType::f64};
using Numbers = std::vector<std::uint64_t>;

/// A tensor that lies densely, or with gaps between rows, from its memory's beginning on or a few elements
/// behind.
StencilOperand operand(Random& random, ElementType type, const Numbers& shape, bool dense) {
  std::vector<std::int64_t> strides(shape.size());
  std::int64_t step = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    strides[d] = step;
    step *= static_cast<std::int64_t>(shape[d]);
    if (!dense && one_in(random, 4)) step += one_in(random, 2) ? 3 : 16;
  }
  StencilOperand result{.view = TensorView::strided(type, shape, strides)};
  result.first = dense || one_in(random, 2) ? 0 : between(random, 0, 3) * size_of(type);
  result.bytes = result.first + result.view.span_bytes();
  return result;
}

struct Side {
  std::uint64_t extent, filter, stride, dilation, before, after, count;
};

Side random_side(Random& random, std::uint64_t most_extent, std::uint64_t most_filter) {
  while (true) {
    Side side{.extent = between(random, 1, most_extent),
              .filter = between(random, 1, most_filter),
              .stride = one_in(random, 2) ? 1 : between(random, 1, one_in(random, 8) ? 10 : 3),
              .dilation = one_in(random, 2) ? 1 : between(random, 1, 3),
              .before = one_in(random, 3) ? 0 : between(random, 0, 3),
              .after = one_in(random, 3) ? 0 : between(random, 0, 3),
              .count = 0};
    const std::uint64_t padded = side.extent + side.before + side.after;
    const std::uint64_t reach = (side.filter - 1) * side.dilation + 1;
    if (reach > padded) continue;
    side.count = (padded - reach) / side.stride + 1;
    return side;
  }
}

/// Images, windows and taps, outermost first.
struct Shapes {
  Numbers image;
  Numbers windows;
  Numbers taps;
  Windows numbers;
};

Shapes random_shapes(Random& random) {
  const std::uint64_t dims = between(random, 1, 3);
  std::vector<Side> sides;
  Shapes shapes{.image = {between(random, 1, 4)}, .windows = {}, .taps = {}, .numbers = {}};
  shapes.windows = shapes.image;
  const std::uint64_t most_filter = dims == 3 ? 3 : one_in(random, 4) ? 6 : 3;
  for (std::uint64_t d = 0; d < dims; ++d) {
    const Side& side = sides.emplace_back(random_side(random,
                                                      dims == 1   ? 60
                                                      : dims == 2 ? 16
                                                                  : 8,
                                                      most_filter));
    shapes.image.push_back(side.extent);
    shapes.windows.push_back(side.count);
    shapes.taps.push_back(side.filter);
  }
  const auto list = [&](auto member) {
    Numbers numbers;
    for (const Side& side : sides) numbers.push_back(side.*member);
    return Dims(numbers);
  };
  shapes.numbers = {.filter = list(&Side::filter),
                    .strides = list(&Side::stride),
                    .dilations = list(&Side::dilation),
                    .before = list(&Side::before),
                    .after = list(&Side::after)};
  return shapes;
}

/// Mostly channels that tensor maps take.
std::uint64_t random_channels(Random& random, std::uint64_t unit) {
  return one_in(random, 3) ? between(random, 1, 20) : unit * between(random, 1, one_in(random, 8) ? 40 : 5);
}

std::uint64_t product(const Numbers& numbers) {
  std::uint64_t all = 1;
  for (const std::uint64_t number : numbers) all *= number;
  return all;
}

}  // namespace

RandomWindows random_windows(std::uint64_t seed, std::uint64_t most_elements) {
  Random random(seed);
  const ElementType type = one_of(random, types);
  while (true) {
    Shapes shapes = random_shapes(random);
    const std::uint64_t channels = random_channels(random, 16 / size_of(type));
    const std::uint64_t rows = product(shapes.windows);
    const std::uint64_t row = product(shapes.taps) * channels;
    if (rows * row > most_elements) continue;
    shapes.image.push_back(channels);
    Numbers whole = shapes.windows;
    whole.insert(whole.end(), shapes.taps.begin(), shapes.taps.end());
    whole.push_back(channels);
    const bool dense = !one_in(random, 3);
    RandomWindows result{.destination = {}, .images = {}, .windows = shapes.numbers};
    result.destination = operand(random, type, one_in(random, 2) ? Numbers{rows, row} : whole, dense);
    result.images = operand(random, type, shapes.image, dense || one_in(random, 2));
    return result;
  }
}

RandomWindows random_convolution(std::uint64_t seed, std::uint64_t most_products) {
  Random random(seed);
  constexpr ElementType type = ElementType::f32;
  while (true) {
    Shapes shapes = random_shapes(random);
    const std::uint64_t channels = random_channels(random, 4);
    const std::uint64_t outputs = between(random, 1, one_in(random, 3) ? 150 : 20);
    const std::uint64_t rows = product(shapes.windows);
    if (rows * outputs * product(shapes.taps) * channels > most_products) continue;
    shapes.image.push_back(channels);
    shapes.windows.push_back(outputs);
    shapes.taps.insert(shapes.taps.begin(), outputs);
    shapes.taps.push_back(channels);
    const bool dense = !one_in(random, 3);
    RandomWindows result{.destination = {}, .images = {}, .windows = shapes.numbers};
    result.destination =
        operand(random, type, one_in(random, 2) ? Numbers{rows, outputs} : shapes.windows, dense);
    result.images = operand(random, type, shapes.image, dense || one_in(random, 2));
    result.filter = operand(random, type, shapes.taps, dense || one_in(random, 2));
    return result;
  }
}

std::string RandomWindows::text() const {
  std::ostringstream out;
  const auto list = [&](const char* what, const auto& numbers, std::size_t count) {
    out << what;
    for (std::size_t i = 0; i < count; ++i) out << (i > 0 ? "," : "") << numbers[i];
  };
  for (const auto* tensor : {&destination, &images, &filter}) {
    if (tensor->view.rank == 0) continue;
    out << (tensor == &images ? " <- " : tensor == &filter ? " * " : "") << name(tensor->view.type);
    list(" ", tensor->view.shape, tensor->view.rank);
    list(" strides ", tensor->view.strides, tensor->view.rank);
    out << " first " << tensor->first;
  }
  list("; filter ", windows.filter, windows.filter.size());
  list(" strides ", windows.strides, windows.strides.size());
  list(" dilations ", windows.dilations, windows.dilations.size());
  list(" before ", windows.before, windows.before.size());
  list(" after ", windows.after, windows.after.size());
  return out.str();
}

}  // namespace reference
