#include "families/shared/shape_class.hpp"

#include "families/shared/views.hpp"
#include "spec/saturate.hpp"

#include <algorithm>

TMAJIT_BEGIN
namespace {

/// The longest contiguous run of an operand's memory, in bytes, that any tuning asks a tile to have.
constexpr std::uint64_t longest_run = 512;

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

/// Adds the extents of the dimensions that a contiguous run of an operand extends over. Extents beyond twice
/// the longest run are clamped.
void add_inner(ShapeClass& shape, const CanonicalNest& nest, std::uint32_t operand, const PerDimension& order,
               std::uint64_t bytes) {
  for (std::uint32_t k = nest.rank; k-- > 0 && bytes < longest_run;) {
    const std::uint32_t d = order[k];
    if (nest.operand[operand].strides[d] == 0) return;
    const auto log =
        static_cast<std::uint8_t>(log2_of(std::min(nest.shape[d], ceil_div(2 * longest_run, bytes))));
    if (d + 1 < nest.rank) shape.inner[d] = std::max(shape.inner[d], log);
    bytes = sat_mul(bytes, nest.shape[d]);
  }
}

}  // namespace

ShapeClass shape_class_of(const Problem& problem, const Candidate& default_candidate) {
  const CanonicalNest& nest = default_candidate.nest;
  ShapeClass shape{.family = default_candidate.family->name(),
                   .element_bytes = static_cast<std::uint8_t>(problem.element_bytes(0)),
                   .rank = static_cast<std::uint8_t>(std::max(nest.rank, 1U))};
  shape.row = log2_of(nest.rank > 0 ? nest.shape[nest.rank - 1] : 1);
  shape.bytes = log2_of(problem.bytes_read() + problem.bytes_written());
  add_inner(shape, nest, 0, in_order(), problem.element_bytes(0));
  for (std::uint32_t s = 0; s < problem.sources(); ++s) {
    const PerDimension order = farthest_first(nest, s + 1, nest.rank);
    shape.order[s] = number_of(order, nest.rank);
    add_inner(shape, nest, s + 1, order, problem.element_bytes(s + 1));
  }
  default_candidate.family->classify(default_candidate, problem, shape);
  return shape;
}

TMAJIT_END
