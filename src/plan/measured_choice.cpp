#include "families/list.hpp"
#include "plan/candidates.hpp"

#include <algorithm>
#include <cmath>

TMAJIT_BEGIN
namespace {

constexpr double worth_a_try = 1.5;  // of the best prediction
constexpr double near = 1;           // doublings of a tile's sides, all together

/// How far apart the tiles of two choices are, in doublings of sides; nothing for those of different kernels.
std::optional<double> distance(const KernelChoice& a, const KernelChoice& b) {
  if (a.family != b.family || a.numbers.size() != b.numbers.size()) return std::nullopt;
  const std::span<const ChoiceField> fields = family_named(a.family).choice_fields();
  double doublings = 0;
  for (std::size_t i = 0; i < fields.size() && i < a.numbers.size(); ++i) {
    const auto& [name, of_a, is_box] = a.numbers[i];
    const auto& of_b = b.numbers[i].values;
    if (name != b.numbers[i].name) return std::nullopt;
    for (std::size_t d = 0; d < of_a.size(); ++d) {
      if (of_a[d] == of_b[d]) continue;
      if (!fields[i].follows_extents || of_a[d] == 0 || of_b[d] == 0) return std::nullopt;
      doublings += std::abs(std::log2(static_cast<double>(of_a[d]) / of_b[d]));
    }
  }
  return doublings;
}

}  // namespace

std::optional<std::size_t> nearest(std::span<const KernelChoice> choices, const KernelChoice& wanted) {
  std::optional<std::size_t> found;
  double least = near;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    const std::optional<double> away = distance(choices[i], wanted);
    if (!away || *away > least || (found && *away == least)) continue;
    least = *away;
    found = i;
  }
  return found;
}

std::vector<KernelChoice> worth_trying(std::span<const KernelPlan> candidates, std::size_t most) {
  std::vector<const KernelPlan*> others;
  for (const KernelPlan& candidate : candidates.subspan(1)) others.push_back(&candidate);
  std::ranges::stable_sort(others, {}, &KernelPlan::predicted_us);
  std::vector<KernelChoice> choices{candidates.front().choice()};
  if (others.empty()) return choices;
  const double best = std::min(candidates.front().predicted_us(), others.front()->predicted_us());
  for (const KernelPlan* const other : others) {
    if (choices.size() == most || other->predicted_us() > worth_a_try * best) break;
    const KernelChoice choice = other->choice();
    if (std::ranges::find(choices, choice) == choices.end()) choices.push_back(choice);
  }
  return choices;
}

TMAJIT_END
