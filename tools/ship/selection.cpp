#include "selection.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

namespace ship {
namespace {

using tmajit::KernelPlan;

/// A stand-in should reach this part of the planned kernel's speed, as the cost model predicts it.
constexpr double least_speed = 0.5;

double speed_of(const KernelPlan& other, const KernelPlan& planned) {
  return planned.predicted_us() / other.predicted_us();
}

/// The speed of the fastest of `candidates`, the planned kernel first, that is among `keys`.
std::optional<double> speed_with(const Keys& keys, const std::vector<KernelPlan>& candidates) {
  std::optional<double> fastest;
  for (const KernelPlan& candidate : candidates) {
    if (keys.contains(candidate.key()))
      fastest = std::max(fastest.value_or(0), speed_of(candidate, candidates.front()));
  }
  return fastest;
}

Keys keys_of(std::span<const KernelPlan> kernels) {
  Keys keys;
  for (const KernelPlan& kernel : kernels) keys.emplace(kernel.key());
  return keys;
}

/// The kernels of random problems, with the number of problems that need each.
class Needs {
 public:
  void add(const KernelPlan& plan) {
    const auto [at, added] = numbers_.try_emplace(std::string(plan.key()), kernels_.size());
    if (added) {
      kernels_.push_back(plan);
      counts_.push_back(0);
    }
    ++counts_[at->second];
  }
  /// The most needed first; equally needed ones in the order of the problems.
  [[nodiscard]] std::vector<KernelPlan> in_order() const {
    std::vector<std::size_t> order(kernels_.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, std::greater<>(), [&](std::size_t i) { return counts_[i]; });
    std::vector<KernelPlan> kernels;
    kernels.reserve(order.size());
    for (const std::size_t i : order) kernels.push_back(kernels_[i]);
    return kernels;
  }

 private:
  std::map<std::string, std::size_t, std::less<>> numbers_;
  std::vector<KernelPlan> kernels_;
  std::vector<std::uint64_t> counts_;
};

}  // namespace

Selection::Selection(std::uint64_t seed, std::uint64_t problems, std::size_t kernels,
                     const Progress& progress) {
  Needs needs;
  for (std::uint64_t number = 0; number < problems; ++number) {
    const bench::RandomProblem problem = bench::random_problem(bench::ProblemKinds::all, seed, number);
    for (const tmajit::Chip& chip : chips()) {
      for (const KernelPlan& plan : planned(problem.operation(), chip)) needs.add(plan);
    }
    if (progress) progress(number + 1);
  }
  kernels_ = needs.in_order();
  const std::size_t most = kernels / 20;
  const std::size_t first = kernels - most;
  if (first >= kernels_.size()) return;
  const std::vector<KernelPlan> further = stand_ins(first, most, seed, problems, progress);
  const Keys added = keys_of(further);
  const auto rest = kernels_.begin() + static_cast<std::ptrdiff_t>(first);
  kernels_.erase(std::remove_if(rest, kernels_.end(),
                                [&](const KernelPlan& plan) { return added.contains(plan.key()); }),
                 kernels_.end());
  kernels_.insert(kernels_.begin() + static_cast<std::ptrdiff_t>(first), further.begin(), further.end());
}

std::vector<KernelPlan> Selection::stand_ins(std::size_t count, std::size_t most, std::uint64_t seed,
                                             std::uint64_t problems, const Progress& progress) const {
  const Keys there = keys(count);
  std::vector<std::vector<KernelPlan>> unserved;  // the kernels that could serve each problem
  for (std::uint64_t number = 0; number < problems; ++number) {
    if (progress) progress(problems + number + 1);
    const bench::RandomProblem problem = bench::random_problem(bench::ProblemKinds::all, seed, number);
    if (!problem.may_be_served) continue;
    for (const tmajit::Chip& chip : chips()) {
      for (std::vector<KernelPlan>& candidates : missing_candidates(problem.operation(), chip, there)) {
        if (speed_with(there, candidates)) continue;
        const KernelPlan first = candidates.front();
        std::erase_if(candidates,
                      [&](const KernelPlan& other) { return speed_of(other, first) < least_speed; });
        unserved.push_back(std::move(candidates));
      }
    }
  }
  // The kernel that serves most of the problems that are left, again and again.
  std::vector<KernelPlan> chosen;
  while (!unserved.empty() && chosen.size() < most) {
    Needs needs;
    for (const auto& candidates : unserved)
      for (const KernelPlan& candidate : candidates) needs.add(candidate);
    chosen.push_back(needs.in_order().front());
    std::erase_if(unserved, [&](const std::vector<KernelPlan>& candidates) {
      return std::ranges::find(candidates, chosen.back().key(), &KernelPlan::key) != candidates.end();
    });
  }
  return chosen;
}

Keys Selection::keys(std::size_t count) const {
  return keys_of(std::span(kernels_).first(std::min(count, kernels_.size())));
}

Coverage coverage(const Keys& keys, bench::ProblemKinds kinds, std::uint64_t seed, std::uint64_t count) {
  Coverage result;
  for (std::uint64_t number = 0; number < count; ++number) {
    const bench::RandomProblem problem = bench::random_problem(kinds, seed, number);
    const tmajit::Chip& chip = chips().front();
    if (planned(problem.operation(), chip).empty()) continue;
    const auto missing = missing_candidates(problem.operation(), chip, keys);
    std::optional<double> speed = problem.may_be_served ? std::optional(1.0) : std::nullopt;
    for (const auto& candidates : missing) {
      const auto one = speed_with(keys, candidates);
      speed = speed && one ? std::optional(std::min(*speed, *one)) : std::nullopt;
    }
    const bool is_served = !missing.empty() && speed;
    if (is_served) result.speeds.push_back(*speed);
    for (Coverage::Share* const share : {&result.all, &result.groups[problem.group]}) {
      ++share->problems;
      share->planned += missing.empty() ? 1 : 0;
      share->served += is_served ? 1 : 0;
    }
  }
  return result;
}

}  // namespace ship
