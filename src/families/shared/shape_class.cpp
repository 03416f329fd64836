#include "families/shared/shape_class.hpp"

#include "families/shared/views.hpp"

#include <algorithm>

TMAJIT_BEGIN
namespace {

/// The index of an order of dimensions among all permutations, in lexicographic order.
std::uint16_t number_of(const PerDimension& order, std::uint32_t rank) {
  std::uint32_t number = 0;
  for (std::uint32_t k = 0; k < rank; ++k) {
    const auto* const end = order.data() + rank;
    const auto before = std::count_if(order.data() + k + 1, end, [&](auto d) { return d < order[k]; });
    number = number * (rank - k) + static_cast<std::uint32_t>(before);
  }
  return static_cast<std::uint16_t>(number);
}

}  // namespace

ShapeClass shape_class_of(const Problem& problem, const Candidate& default_candidate) {
  const CanonicalNest& nest = default_candidate.nest;
  ShapeClass shape{.family = default_candidate.family->name(),
                   .element_bytes = static_cast<std::uint8_t>(problem.element_bytes(0)),
                   .rank = static_cast<std::uint8_t>(std::max(nest.rank, 1U))};
  std::copy_n(nest.shape.begin(), nest.rank, shape.extents.begin());
  for (std::uint32_t s = 0; s < problem.sources(); ++s)
    shape.order[s] = number_of(farthest_first(nest, s + 1, nest.rank), nest.rank);
  default_candidate.family->classify(default_candidate, problem, shape);
  return shape;
}

TMAJIT_END
