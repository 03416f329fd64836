#include "operations/list.hpp"
#include "operations/shared/make.hpp"
#include "operations/shared/rounding.hpp"
#include "spec/combine_rules.hpp"
#include "spec/limits.hpp"

#include <cstdint>
#include <string>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

constexpr std::uint32_t vector_bytes = 16;

void check_reduce_into(MoveRules& rules) {
  const Move& move = rules.move();
  rules.check_bits();
  rules.check_shapes();
  if (move.sources.size() != 1) return;
  const ElementType to = move.destination.view.type;
  const ElementType from = move.sources.front().view.type;
  if (to != from) {
    rules.add(
        "combine.same-type", fmt::format("{}: type", rules.source(0)), std::string(name(from)),
        fmt::format("{}, the type of {}: the copy engine converts nothing", name(to), rules.destination()),
        "a cast first");
  }
  check_combined(std::get<ReduceInto>(move.body).op, to, fmt::format("{}: type", rules.destination()),
                 rules.violations());
}

/// Changes the nest for tensor maps. Its last dimension becomes contiguous, with a single element if need be.
/// A row longer than a box is cut into rows of a box, where possible, so that a tile can have many of them.
void make_mapped(CanonicalNest& nest, std::uint32_t element_bytes) {
  const auto add_dimension = [&](std::uint64_t extent) {
    nest.shape[nest.rank] = extent;
    for (std::uint32_t i = 0; i < nest.operands; ++i) nest.operand[i].strides[nest.rank] = 1;
    ++nest.rank;
  };
  const auto is_contiguous = [&] {
    for (std::uint32_t i = 0; i < nest.operands; ++i) {
      if (nest.rank == 0 || nest.operand[i].strides[nest.rank - 1] != 1) return false;
    }
    return true;
  };
  if (!is_contiguous()) {
    if (nest.rank < max_map_rank) add_dimension(1);
    return;
  }
  const std::uint32_t last = nest.rank - 1;
  const std::uint64_t row = nest.shape[last];
  if (row <= max_box || nest.rank >= max_map_rank) return;
  for (std::uint64_t box = max_box; box >= max_box / 4; --box) {
    if (row % box != 0 || box * element_bytes % vector_bytes != 0) continue;
    nest.shape[last] = row / box;
    for (std::uint32_t i = 0; i < nest.operands; ++i)
      nest.operand[i].strides[last] = static_cast<std::int64_t>(box);
    return add_dimension(box);
  }
}

Problem reduce_into_problem(const Move& move) {
  Problem problem{.body = CombineProblem{std::get<ReduceInto>(move.body).op}};
  set_operands(problem, move);
  if (!problem.nest.empty()) make_mapped(problem.nest, size_of(move.destination.view.type));
  set_reach(problem, move);
  return problem;
}

constexpr OperationRules reduce_into_rules{
    .check = check_reduce_into,
    .problem = reduce_into_problem,
    // The copy engine and threads treat subnormal numbers differently.
    .same_bits = [](const Move& move) { return !is_float(move.destination.view.type); }};

}  // namespace

const OperationRules& rules_of(const ReduceInto&) noexcept {
  return reduce_into_rules;
}

Operation operation::reduce_into(const Tensor& destination, CombineOp op, const Tensor& source) {
  Operation result = copy(destination, source);
  result.moves.front().body = ReduceInto{op};
  return result;
}

TMAJIT_END
