/// The shipped tuned choices: each must be found and used for the move for which it was measured.
#include "plan/shipped_choices.hpp"

#include "jitc/common_permutations.hpp"
#include "plan/candidates.hpp"
#include "plan/moves.hpp"

#include <tmajit/plan.hpp>
#include <tmajit/tuning.hpp>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;

namespace {

using Permutation = std::pair<tests::Shape, std::vector<std::uint32_t>>;

/// The permutations measured by `jitc tune`, each with elements of 1, 2, 4 and 8 bytes.
std::vector<Permutation> measured_permutations() {
  std::vector<Permutation> all;
  all.reserve(jitc::common_permutations.size());
  for (const jitc::CommonPermutation& common : jitc::common_permutations) {
    all.push_back(
        {{common.shape().begin(), common.shape().end()}, {common.axes().begin(), common.axes().end()}});
  }
  // Transposes and attention heads of all sizes.
  for (std::uint64_t n = 1024; n <= 32'768; n *= 2) {
    all.push_back({{n, n}, {1, 0}});
    all.push_back({{n, 2 * n}, {1, 0}});
  }
  for (std::uint64_t n = 8; n <= 4 << 20; n *= 2) all.push_back({{2, n, 8, 64}, {0, 2, 1, 3}});
  const std::vector<Permutation> others{
      {{128, 2048, 32, 128}, {0, 2, 1, 3}},
      {{64, 2048, 32, 128}, {0, 2, 1, 3}},
      {{8, 4096, 3, 16, 128}, {2, 0, 3, 1, 4}},
      // Odd extents, and short dimensions.
      {{16'381, 16'411}, {1, 0}},
      {{63, 127, 255, 129}, {0, 3, 1, 2}},
      {{63, 127, 255, 129}, {3, 2, 1, 0}},
      {{31, 2047, 33, 127}, {0, 2, 1, 3}},
      {{4096, 4096, 3}, {1, 0, 2}},
      {{3000, 5, 2000, 7}, {0, 3, 2, 1}},
      {{32, 1024, 1024, 3}, {0, 3, 1, 2}},
      {{32, 3, 1024, 1024}, {0, 2, 3, 1}},
  };
  all.insert(all.end(), others.begin(), others.end());
  return all;
}

}  // namespace

TEST_CASE("each shipped choice is used for the move for which it was measured") {
  for (const ShippedChoices& shipped : shipped_choices()) {
    const TuningTable table = TuningTable::shipped();
    PlanOptions options{.tuning = &table};
    options.chip.name = shipped.chip;
    std::set<ShapeClass> used_classes;
    for (const auto& [shape, axes] : measured_permutations()) {
      for (const ElementType type :
           {ElementType::u8, ElementType::bf16, ElementType::f32, ElementType::f64}) {
        const Move move = tests::permutation(type, shape, axes);
        const ShapeClass shape_class = tmajit::shape_class(move, options);
        const auto choice = table.find(shipped.chip, shape_class);
        if (!choice) continue;
        INFO(shape_class.text() << ": " << choice->choice.text());
        const KernelPlan chosen = plan_kernels(Operation::of({move}), options).at(0);
        CHECK(chosen.tuned());
        CHECK(nearest(std::vector{chosen.choice()}, choice->choice).has_value());
        used_classes.insert(shape_class);
      }
    }
    for (const ShippedChoice& choice : shipped.choices) {
      INFO(choice.shape_class.text());
      CHECK(used_classes.contains(choice.shape_class));
    }
  }
}
