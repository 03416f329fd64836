#include "ops/missing.hpp"

#include "plan/candidates.hpp"
#include "plan/facts.hpp"
#include "runtime/readiness.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

TMAJIT_BEGIN
namespace {

using Differences = std::vector<MissingKernel::Difference>;

std::string value_of(const std::vector<KernelFact>& facts, const std::string& name) {
  const auto found = std::ranges::find(facts, name, &KernelFact::name);
  return found == facts.end() ? std::string() : found->value;
}

Differences differences(const KernelPlan& missing, const KernelPlan& there) {
  if (missing.family().name != there.family().name)
    return {{"family", std::string(missing.family().name), std::string(there.family().name)}};
  const std::vector<KernelFact> wanted = facts_by_name(missing);
  const std::vector<KernelFact> found = facts_by_name(there);
  Differences all;
  for (const KernelFact& fact : wanted) {
    if (const std::string value = value_of(found, fact.name); value != fact.value)
      all.push_back({fact.name, fact.value, value});
  }
  for (const KernelFact& fact : found) {
    if (value_of(wanted, fact.name).empty()) all.push_back({fact.name, {}, fact.value});
  }
  return all;
}

/// Adds the nearest kernel: one of the same family with the fewest other facts, else the fastest one.
void add_nearest(const Runtime& runtime, const KernelPlan& plan, MissingKernel& missing) {
  std::vector<KernelPlan> others = other_candidates(plan, runtime.chip());
  std::ranges::stable_sort(others, {}, &KernelPlan::predicted_us);
  const ReadyKernels ready(runtime);
  bool same_family = false;
  for (const KernelPlan& other : others) {
    const bool is_of_family = other.family().name == plan.family().name;
    if ((same_family && !is_of_family) || !ready.has(other)) continue;
    Differences of_other = differences(plan, other);
    const bool is_nearer = missing.nearest.empty() || (is_of_family && !same_family) ||
                           (is_of_family && of_other.size() < missing.differences.size());
    if (!is_nearer) continue;
    same_family = is_of_family;
    missing.nearest = other.choice().text();
    missing.differences = std::move(of_other);
  }
}

}  // namespace

Kernel kernel_or_nearest(const Runtime& runtime, const KernelPlan& plan) {
  try {
    return runtime.kernel(plan);
  } catch (const MissingKernelError& error) {
    MissingKernel missing = error.missing();
    add_nearest(runtime, plan, missing);
    throw MissingKernelError(std::move(missing));
  }
}

TMAJIT_END
