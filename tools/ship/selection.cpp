#include "selection.hpp"

#include <algorithm>
#include <utility>

namespace ship {

Selection::Selection(std::uint64_t seed, std::uint64_t count, const Progress& progress) {
  std::map<std::string, std::pair<std::uint64_t, std::size_t>, std::less<>> needed;  // times, index
  std::vector<tmajit::KernelPlan> found;
  for (std::uint64_t number = 0; number < count; ++number) {
    const Draw problem = draw(Kinds::all, seed, number);
    for (const tmajit::Chip& chip : chips()) {
      for (const tmajit::KernelPlan& plan : planned(problem.operation, chip)) {
        const auto [at, added] = needed.try_emplace(std::string(plan.key()), 0, found.size());
        if (added) found.push_back(plan);
        ++at->second.first;
      }
    }
    if (progress) progress(number + 1);
  }
  std::vector<std::pair<std::uint64_t, std::size_t>> order;
  order.reserve(needed.size());
  for (const auto& [key, times_and_index] : needed) order.push_back(times_and_index);
  // Equally needed kernels stay in the order of the problems.
  std::ranges::sort(order, [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  kernels_.reserve(order.size());
  for (const auto& [times, index] : order) kernels_.push_back(found[index]);
}

std::set<std::string, std::less<>> Selection::keys(std::size_t count) const {
  std::set<std::string, std::less<>> keys;
  for (std::size_t i = 0; i < std::min(count, kernels_.size()); ++i) keys.emplace(kernels_[i].key());
  return keys;
}

double Coverage::Share::percent() const {
  return problems == 0 ? 0 : 100 * static_cast<double>(covered) / static_cast<double>(problems);
}

Coverage coverage(const std::set<std::string, std::less<>>& keys, Kinds kinds, std::uint64_t seed,
                  std::uint64_t count) {
  Coverage result;
  for (std::uint64_t number = 0; number < count; ++number) {
    const Draw problem = draw(kinds, seed, number);
    const std::vector<tmajit::KernelPlan> plans = planned(problem.operation, chips().front());
    if (plans.empty()) continue;
    const bool covered =
        std::ranges::all_of(plans, [&](const tmajit::KernelPlan& plan) { return keys.contains(plan.key()); });
    for (Coverage::Share* const share : {&result.all, &result.groups[problem.group]}) {
      ++share->problems;
      share->covered += covered ? 1 : 0;
    }
  }
  return result;
}

}  // namespace ship
