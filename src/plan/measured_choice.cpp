#include "families/list.hpp"
#include "plan/candidates.hpp"

#include <algorithm>
#include <cmath>

TMAJIT_BEGIN
namespace {

// A candidate is worth trying if its predicted time is at most this multiple of the shortest one.
constexpr double worth_a_try = 1.5;
// Two tiles are similar up to this distance: one side may differ by a factor of two.
constexpr double max_distance = 1.0;

/// The distance between the tiles of two choices: the sum over their sides of |log2(a / b)|. Nothing if the
/// choices are of different kernels.
std::optional<double> distance(const KernelChoice& a, const KernelChoice& b) {
  if (a.family != b.family || a.numbers.size() != b.numbers.size()) return std::nullopt;
  const std::span<const ChoiceField> fields = family_named(a.family).choice_fields();
  double sum = 0;
  for (std::size_t i = 0; i < fields.size() && i < a.numbers.size(); ++i) {
    const auto& [name, a_values, is_box] = a.numbers[i];
    const auto& b_values = b.numbers[i].values;
    if (name != b.numbers[i].name) return std::nullopt;
    for (std::size_t d = 0; d < a_values.size(); ++d) {
      if (a_values[d] == b_values[d]) continue;
      if (!fields[i].follows_extents || a_values[d] == 0 || b_values[d] == 0) return std::nullopt;
      sum += std::abs(std::log2(static_cast<double>(a_values[d]) / b_values[d]));
    }
  }
  return sum;
}

}  // namespace

std::optional<std::size_t> nearest(std::span<const KernelChoice> choices, const KernelChoice& wanted) {
  std::optional<std::size_t> found;
  double least = max_distance;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    const std::optional<double> current = distance(choices[i], wanted);
    if (!current || *current > least || (found && *current == least)) continue;
    least = *current;
    found = i;
  }
  return found;
}

std::vector<KernelChoice> worth_trying(std::span<const KernelPlan> candidates, std::size_t limit) {
  std::vector<const KernelPlan*> others;
  for (const KernelPlan& candidate : candidates.subspan(1)) others.push_back(&candidate);
  std::ranges::stable_sort(others, {}, &KernelPlan::predicted_us);
  std::vector<KernelChoice> choices{candidates.front().choice()};
  if (others.empty()) return choices;
  const double best = std::min(candidates.front().predicted_us(), others.front()->predicted_us());
  for (const KernelPlan* const other : others) {
    if (choices.size() == limit || other->predicted_us() > worth_a_try * best) break;
    const KernelChoice choice = other->choice();
    if (std::ranges::find(choices, choice) == choices.end()) choices.push_back(choice);
  }
  return choices;
}

TMAJIT_END
