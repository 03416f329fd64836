#include "ops/served_kernels.hpp"

#include "operations/list.hpp"
#include "plan/candidates.hpp"
#include "runtime/companion.hpp"
#include "runtime/readiness.hpp"
#include "spec/log.hpp"

#include <algorithm>
#include <optional>
#include <utility>

TMAJIT_BEGIN
namespace {

/// The fastest of the other kernels for a plan's problem that are there.
std::optional<KernelPlan> find_replacement(const Runtime& runtime, const ReadyKernels& ready,
                                           const KernelPlan& plan, std::string_view family) {
  std::vector<KernelPlan> others = other_candidates(plan, runtime.chip());
  std::ranges::stable_sort(others, {}, &KernelPlan::predicted_us);
  const auto found = std::ranges::find_if(others, [&](const KernelPlan& other) {
    return (family.empty() || other.family().name == family) && ready.has(other);
  });
  return found == others.end() ? std::nullopt : std::optional(*found);
}

}  // namespace

std::vector<KernelPlan> serve_ready_kernels(const Runtime& runtime, const Operation& operation,
                                            std::string_view family, std::span<KernelPlan> plans) {
  std::vector<KernelPlan> wanted;
  if (options_of(runtime).when_missing != WhenMissing::serve) return wanted;
  const ReadyKernels ready(runtime);
  std::size_t next = 0;
  for (const std::span<const Move> moves : kernels_of(operation.moves)) {
    if (next == plans.size()) break;
    if (!writes_elements(moves)) continue;
    KernelPlan& plan = plans[next++];
    if (ready.has(plan)) continue;
    std::optional<KernelPlan> other;
    if (options_of(runtime).allow_other_rounding || same_bits(moves))
      other = find_replacement(runtime, ready, plan, family);
    if (!other) {
      ledger_of(runtime)->add_waited();
      log(LogLevel::info,
          "the caller waits for the compiler: neither the kernel {} nor one to serve is there",
          plan.choice().text());
      continue;
    }
    ledger_of(runtime)->add_served();
    log(LogLevel::debug, "the kernel {} is served until {} is made", other->choice().text(),
        plan.choice().text());
    if (wanted.empty()) wanted.assign(plans.begin(), plans.end());
    plan = *std::move(other);
  }
  return wanted;
}

TMAJIT_END
