/// The shipped tuned choices: each must be found and used for the move for which it was measured.
#include "plan/shipped_choices.hpp"

#include "plan/candidates.hpp"
#include "plan/moves.hpp"

#include <tmajit/plan.hpp>
#include <tmajit/tuning.hpp>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;

namespace {

/// The permutation of dense tensors that has this shape.
Move move_of(const ShapeClass& shape) {
  std::vector<std::uint32_t> order(
      shape.rank);  // the destination's dimensions by descending stride of the source
  std::iota(order.begin(), order.end(), 0);
  for (std::uint32_t n = 0; n < shape.order[0]; ++n) std::ranges::next_permutation(order);
  tests::Shape source;
  std::vector<std::uint32_t> axes(shape.rank);
  for (std::uint32_t k = 0; k < shape.rank; ++k) {
    source.push_back(shape.extents[order[k]]);
    axes[order[k]] = k;
  }
  const ElementType type = shape.element_bytes == 1   ? ElementType::u8
                           : shape.element_bytes == 2 ? ElementType::bf16
                           : shape.element_bytes == 4 ? ElementType::f32
                                                      : ElementType::f64;
  return tests::permutation(type, source, axes);
}

}  // namespace

TEST_CASE("each shipped choice is used for the move for which it was measured") {
  const TuningTable table = TuningTable::shipped();
  for (const ShippedChoices& shipped : shipped_choices()) {
    PlanOptions options{.tuning = &table};
    options.chip.name = shipped.chip;
    for (const ShippedChoice& choice : shipped.choices) {
      INFO(shipped.chip << ": " << choice.shape_class.text());
      const Move move = move_of(choice.shape_class);
      REQUIRE(shape_class(move, options) == choice.shape_class);
      const KernelPlan chosen = plan_kernels(Operation::of({move}), options).at(0);
      CHECK(chosen.tuned());
      CHECK(nearest(std::vector{chosen.choice()}, kernel_choice(choice)).has_value());
    }
  }
}
