#include "ops/swap.hpp"

#include "runtime/profiler_range.hpp"
#include "runtime/readiness.hpp"
#include "runtime/stopwatch.hpp"
#include "spec/inside.hpp"
#include "spec/log.hpp"

#include <atomic>
#include <cstddef>
#include <exception>
#include <optional>
#include <utility>

TMAJIT_BEGIN
namespace {

/// The kernels that one swap waits for.
class Swap {
 public:
  Swap(std::weak_ptr<const PlanState> plan, const PlanState& steps)
      : plan_(std::move(plan)),
        operation_(steps.operation),
        wanted_(steps.wanted),
        kernels_(wanted_.size()),
        missing_(wanted_.size()),
        is_planned_(plan_.lock().get() == &steps) {}

  [[nodiscard]] const std::vector<KernelPlan>& wanted() const noexcept { return wanted_; }

  /// Notes kernel number `i`. The thread that notes the last one swaps. If one is missing, nothing is
  /// swapped.
  void note(std::size_t i, const BackgroundResult& made, Ledger& ledger) {
    if (!made.kernel || kernels_[i]) return;
    kernels_[i] = made.kernel;
    if (--missing_ > 0) return;
    const std::shared_ptr<const PlanState> plan = plan_.lock();
    if (!plan) return;
    double milliseconds = 0;
    try {
      const Stopwatch watch(milliseconds);
      swap(*plan);
    } catch (const std::exception& error) {
      log(LogLevel::warn, "a plan keeps the kernels that it was served: {}", error.what());
      return;
    }
    ledger.add_swap(milliseconds);
  }

 private:
  void swap(const PlanState& plan) {
    const ProfilerRange range("tmajit swap", wanted_.front().family().name);
    std::vector<Kernel> kernels;
    for (const std::optional<Kernel>& kernel : kernels_) kernels.push_back(*kernel);
    if (!is_planned_) {
      plan.launches.replace(PlacedLaunches::make(operation_, plan.reaches, wanted_, kernels));
      return;
    }
    auto better = std::make_shared<PlanState>();
    better->operation = plan.operation;
    better->family = plan.family;
    better->plans = wanted_;
    better->kernels = std::move(kernels);
    better->planning_us = plan.planning_us;
    replace_by(plan, std::move(better));
  }

  std::weak_ptr<const PlanState> plan_;
  Operation operation_;
  std::vector<KernelPlan> wanted_;
  std::vector<std::optional<Kernel>> kernels_;
  std::atomic<std::size_t> missing_;
  bool is_planned_;  ///< the operation is the plan's own, at the planned addresses
};

}  // namespace

void swap_when_made(const Runtime& runtime, const std::shared_ptr<const PlanState>& plan,
                    const PlanState& steps) {
  if (steps.wanted.empty()) return;
  const auto swap = std::make_shared<Swap>(plan, steps);
  for (std::size_t i = 0; i < swap->wanted().size(); ++i) {
    const auto note = [swap, i, ledger = ledger_of(runtime)](const BackgroundResult& made) {
      swap->note(i, made, *ledger);
    };
    (void)background_of(runtime).improve(request_for(swap->wanted()[i], MadeBy::swap), {.tell = note});
  }
}

void replace_by(const PlanState& plan, std::shared_ptr<const PlanState> better) {
  if (!better->kernels.empty() && Inside::state(better->kernels.front())->device) {
    plan.as_planned.store(&plan.launches.replace(PlacedLaunches::make(plan.operation, plan.reaches,
                                                                      better->plans, better->kernels)),
                          std::memory_order_release);
  }
  plan.better.set(std::move(better));
}

TMAJIT_END
