#include "plan/candidates.hpp"

#include <algorithm>
#include <cmath>

TMAJIT_BEGIN
namespace {

constexpr double worth_a_try = 1.5;  // of the best prediction
constexpr double near = 1;           // doublings of a tile's sides, all together

/// How far apart the tiles of two choices are, in doublings of sides; nothing for those of different kernels.
std::optional<double> distance(KernelChoice a, const KernelChoice& b) {
  double doublings = 0;
  for (std::size_t d = 0; d < a.tile.size(); ++d) {
    if (a.tile[d] == b.tile[d]) continue;
    if (a.tile[d] == 0 || b.tile[d] == 0) return std::nullopt;  // not of one rank
    doublings += std::abs(std::log2(static_cast<double>(a.tile[d]) / b.tile[d]));
  }
  a.tile = b.tile;
  return a == b ? std::optional(doublings) : std::nullopt;
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
