#include "ops/cross_moves.hpp"

#include "reference/random_maps.hpp"

#include <tmajit/element_type.hpp>

#include <algorithm>
#include <numeric>
#include <sstream>

using namespace tmajit;
using reference::between, reference::one_in, reference::one_of, reference::Random;

namespace tests {
namespace {

using Shape = std::vector<std::uint64_t>;

/// A shape of 2 to `max_rank` dimensions, sometimes with a short last one.
Shape random_shape(Random& random, std::uint32_t max_rank, std::uint64_t max_elements) {
  Shape shape(between(random, 2, max_rank), 1);
  std::uint64_t elements = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    const std::uint64_t room = std::max<std::uint64_t>(max_elements / elements, 1);
    const std::uint64_t longest = one_in(random, 3) ? 300 : d + 1 == shape.size() ? 60 : 12;
    shape[d] = between(random, 1, std::min(room, longest));
    elements *= shape[d];
  }
  return shape;
}

/// Bytes from the beginning of an allocation to its operand: 0 in half of the cases.
std::uint64_t random_shift(Random& random, ElementType type) {
  return one_in(random, 2) ? 0 : between(random, 0, 15) * size_of(type);
}

/// A random gap after a dimension in memory, in one of eight cases; else 0.
std::int64_t random_gap(Random& random) {
  return one_in(random, 8) ? static_cast<std::int64_t>(between(random, 1, 20)) : 0;
}

/// An operand with its dimensions in random order in memory. Dimensions may be flipped, have gaps or, if
/// `repeats`, have stride 0.
MoveOperand random_source(Random& random, ElementType type, const Shape& shape, bool repeats) {
  std::vector<std::uint32_t> axes(shape.size());
  std::iota(axes.begin(), axes.end(), 0U);
  std::shuffle(axes.begin(), axes.end(), random);
  std::vector<std::int64_t> strides(shape.size());
  std::int64_t step = one_in(random, 12) ? 2 : 1;
  for (const std::uint32_t d : axes) {
    if (repeats && one_in(random, 8)) continue;
    strides[d] = one_in(random, 8) ? -step : step;
    step = step * static_cast<std::int64_t>(shape[d]) + random_gap(random);
  }
  return move_operand(type, shape, strides, random_shift(random, type));
}

/// An operand with its dimensions in row-major order in memory.
MoveOperand random_rows(Random& random, ElementType type, const Shape& shape) {
  std::vector<std::int64_t> strides(shape.size());
  std::int64_t step = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    strides[d] = step;
    step = step * static_cast<std::int64_t>(shape[d]) + random_gap(random);
  }
  return move_operand(type, shape, strides, random_shift(random, type));
}

std::string text_of(const MoveOperand& operand) {
  std::ostringstream out;
  out << name(operand.view.type) << " shift " << operand.shift << ':';
  for (std::uint32_t d = 0; d < operand.view.rank; ++d) {
    out << ' ' << operand.view.shape[d] << " (" << operand.view.strides[d] << ')';
  }
  return out.str();
}

/// Expressions that add one, two or three sources, the first one twice.
constexpr const char* sums[] = {"x + x", "x0 + x1 + x0", "x0 + x1 + x2 + x0"};

}  // namespace

std::string CrossMove::text() const {
  std::string out = text_of(destination) + " <- " + expression;
  for (const MoveOperand& source : sources) out += " " + text_of(source) + ";";
  if (!padding) return out;
  out += " at";
  for (const std::int64_t before : padding->before) out += " " + std::to_string(before);
  return out;
}

CrossMove random_cross_pad(std::uint64_t seed, std::uint64_t max_elements) {
  constexpr ElementType types[] = {ElementType::u8, ElementType::bf16, ElementType::f32, ElementType::f64};
  Random random(seed);
  const ElementType type = one_of(random, types);
  const Shape from = random_shape(random, max_view_rank, max_elements);
  Shape to = from;
  std::vector<std::int64_t> before(from.size(), 0);
  for (std::size_t d = 0; d < from.size(); ++d) {
    if (!one_in(random, from.size())) continue;
    const auto extent = static_cast<std::int64_t>(from[d]);
    const std::int64_t most = one_in(random, 12) ? 2 * extent : std::min<std::int64_t>(extent, 9);
    before[d] = static_cast<std::int64_t>(between(random, 0, static_cast<std::uint64_t>(2 * most))) - most;
    const std::int64_t end = before[d] + extent + static_cast<std::int64_t>(between(random, 0, 9)) - 3;
    to[d] = static_cast<std::uint64_t>(std::max<std::int64_t>(end, 1));
  }
  CrossMove move{.destination = random_rows(random, type, to),
                 .sources = {random_source(random, type, from, false)}};
  move.padding = Padding{.before = before, .value = 7};
  return move;
}

CrossMove random_cross_cast(std::uint64_t seed, std::uint64_t max_elements) {
  Random random(seed);
  const ElementType to = one_of(random, all_element_types);
  const ElementType from = one_of(random, all_element_types);
  const Shape shape = random_shape(random, 5, max_elements);
  const MoveOperand destination = random_rows(random, to, shape);
  return {
      .destination = destination, .sources = {random_source(random, from, shape, false)}, .expression = "x"};
}

CrossMove random_cross_map(std::uint64_t seed, std::uint64_t max_elements) {
  constexpr ElementType types[] = {ElementType::u8,  ElementType::i16, ElementType::bf16,
                                   ElementType::f32, ElementType::i32, ElementType::f64};
  Random random(seed);
  const auto sources = between(random, 1, 3);
  const Shape shape = random_shape(random, 4, max_elements);
  CrossMove move{.destination = random_rows(random, one_of(random, types), shape),
                 .sources = {},
                 .expression = sums[sources - 1]};
  for (std::uint64_t s = 0; s < sources; ++s) {
    const ElementType type = one_in(random, 2) ? move.destination.view.type : one_of(random, types);
    move.sources.push_back(one_in(random, 3) ? random_rows(random, type, shape)
                                             : random_source(random, type, shape, sources > 1));
  }
  return move;
}

}  // namespace tests
