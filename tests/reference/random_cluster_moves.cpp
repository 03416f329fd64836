#include "reference/random_cluster_moves.hpp"

#include "reference/move_expressions.hpp"
#include "reference/random_maps.hpp"

#include <tmajit/element_type.hpp>

#include <algorithm>
#include <numeric>
#include <span>
#include <string>
#include <utility>

using namespace tmajit;

namespace reference {
namespace {

using Shape = std::vector<std::uint64_t>;
using Strides = std::vector<std::int64_t>;

constexpr std::uint64_t bulk_bytes = 16;

/// Bytes of `elements`, in whole units of `unit` elements.
std::int64_t in_units(std::uint64_t elements, std::uint64_t unit) {
  return static_cast<std::int64_t>((elements + unit - 1) / unit * unit);
}

/// Memory whose dimensions lie in `order`, the first outermost; those that `repeats` names have stride 0.
TensorView view_of(Random& random, ElementType type, const Shape& shape,
                   const std::vector<std::uint32_t>& order, const std::vector<bool>& repeats,
                   std::uint64_t unit) {
  Strides strides(shape.size());
  std::int64_t step = 1;
  for (std::size_t k = order.size(); k-- > 0;) {
    const std::uint32_t d = order[k];
    if (repeats[d]) continue;
    strides[d] = step;
    step = in_units(static_cast<std::uint64_t>(step) * shape[d], unit);
    if (one_in(random, 6)) step += static_cast<std::int64_t>(unit * between(random, 1, 3));
  }
  return TensorView::strided(type, shape, strides);
}

/// Computes something of the sources, and now and then of coordinates, too.
void compute(Random& random, std::uint64_t sources, std::uint32_t rank, ClusterMove& move) {
  MoveExpression expression = random_expression(random, sources, rank);
  move.expression = expression.text;
  move.function = expression.function;
  if (!one_in(random, 3)) return;
  const std::uint64_t d = between(random, 0, rank - 1);
  move.expression = "(" + expression.text + ") + (unsigned)g[" + std::to_string(d) + "]";
  move.function = [of_values = std::move(expression.function), d](std::span<const Scalar> x,
                                                                  std::span<const std::uint64_t> g) {
    return add(of_values(x, g), static_cast<std::uint32_t>(g[d]));
  };
}

}  // namespace

ClusterMove random_repetition(std::uint64_t seed, std::uint64_t most_elements) {
  constexpr ElementType types[] = {ElementType::u8,  ElementType::i16, ElementType::bf16, ElementType::f16,
                                   ElementType::f32, ElementType::i32, ElementType::e4m3, ElementType::f64};
  Random random(seed);
  const auto rank = static_cast<std::uint32_t>(between(random, 2, 6));
  const std::uint32_t row = rank - 1;
  const auto along = static_cast<std::uint32_t>(between(random, 0, row - 1));
  Shape shape(rank, 1);
  std::uint64_t room = most_elements;
  const auto draw = [&](std::uint32_t d, std::uint64_t longest) {
    shape[d] = between(random, 1, std::clamp<std::uint64_t>(room, 1, longest));
    room /= shape[d];
  };
  draw(along, 11);
  draw(row, one_in(random, 3) ? 40 : 1500);
  for (std::uint32_t d = 0; d < row; ++d) {
    if (d != along) draw(d, one_in(random, 2) ? 4 : 40);
  }
  std::vector<std::uint32_t> order(rank);
  std::iota(order.begin(), order.end(), 0U);

  ClusterMove move;
  const std::uint64_t sources = between(random, 1, 3);
  const ElementType type = one_of(random, types);
  const std::uint64_t alignment = one_in(random, 2) ? bulk_bytes / size_of(type) : 1;
  move.destination = view_of(random, type, shape, order, std::vector<bool>(rank), alignment);
  if (sources > 1 || one_in(random, 2)) compute(random, sources, rank, move);
  for (std::uint64_t s = 0; s < sources; ++s) {
    const ElementType from = move.expression.empty() || one_in(random, 2) ? type : one_of(random, types);
    std::vector<bool> repeats(rank);
    repeats[along] = s == 0 || one_in(random, 2);
    for (std::uint32_t d = 0; d < row; ++d) {
      if (one_in(random, 6)) repeats[d] = true;
    }
    if (one_in(random, 2)) std::shuffle(order.begin(), order.end() - 1, random);
    move.sources.push_back(view_of(random, from, shape, order, repeats, bulk_bytes / size_of(from)));
  }
  return move;
}

}  // namespace reference
