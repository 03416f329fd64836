#include "ops/missing.hpp"

#include "plan/batch.hpp"
#include "plan/candidates.hpp"
#include "plan/facts.hpp"
#include "runtime/readiness.hpp"

#include <tmajit/error.hpp>

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

void add(MissingKernel& missing, const KernelPlan& nearest, Differences&& its_differences) {
  missing.nearest = nearest.choice().text();
  missing.differences = std::move(its_differences);
}

/// Adds the nearest kernel that can do the same work: one of the same family with the fewest other facts,
/// else the fastest one.
void add_other_candidate(const Runtime& runtime, const ReadyKernels& ready, const KernelPlan& plan,
                         MissingKernel& missing) {
  std::vector<KernelPlan> others = other_candidates(plan, runtime.chip());
  std::ranges::stable_sort(others, {}, &KernelPlan::predicted_us);
  bool same_family = false;
  for (const KernelPlan& other : others) {
    const bool is_of_family = other.family().name == plan.family().name;
    if ((same_family && !is_of_family) || !ready.has(other)) continue;
    Differences of_other = differences(plan, other);
    const bool is_nearer = missing.nearest.empty() || (is_of_family && !same_family) ||
                           (is_of_family && of_other.size() < missing.differences.size());
    if (!is_nearer) continue;
    same_family = is_of_family;
    add(missing, other, std::move(of_other));
  }
}

/// Adds the kernel of the same step for tensors at aligned addresses.
void add_aligned(const Runtime& runtime, const ReadyKernels& ready, const PlanState& plan, std::size_t i,
                 MissingKernel& missing) {
  constexpr DevicePtr alignment = 256;
  std::vector<DevicePtr> to;
  std::vector<DevicePtr> from;
  for (const Tensor& tensor : plan.operation.destinations)
    to.push_back(tensor.address / alignment * alignment);
  for (const Tensor& tensor : plan.operation.sources) from.push_back(tensor.address / alignment * alignment);
  try {
    const auto aligned = plan_each(moved_to({to, from}, plan.operation), plan_options(runtime, plan.family));
    if (i < aligned.size() && ready.has(aligned[i]))
      add(missing, aligned[i], differences(plan.plans[i], aligned[i]));
  } catch (const Error&) {
    // Tensors that overlap at aligned addresses have no nearest kernel.
  }
}

}  // namespace

Kernel kernel_or_nearest(const Runtime& runtime, const PlanState& plan, std::size_t i) {
  try {
    return runtime.kernel(plan.plans[i]);
  } catch (const MissingKernelError& error) {
    MissingKernel missing = error.missing();
    const ReadyKernels ready(runtime);
    add_other_candidate(runtime, ready, plan.plans[i], missing);
    if (missing.nearest.empty() && !plan.is_batch) add_aligned(runtime, ready, plan, i, missing);
    throw MissingKernelError(std::move(missing));
  }
}

TMAJIT_END
