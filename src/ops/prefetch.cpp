#include "ops/move_plan.hpp"
#include "runtime/readiness.hpp"
#include "spec/inside.hpp"

#include <tmajit/prefetch.hpp>

#include <algorithm>
#include <atomic>
#include <thread>
#include <utility>

TMAJIT_BEGIN

/// Takes no lock, so that a forked child can wait for the kernels, which its own threads make.
struct Prefetch::State {
  enum class Phase : std::uint8_t { waiting, made, failed, cancelled };
  struct Outcome {
    std::string error;  ///< valid once `phase` is `failed`
    std::atomic<Phase> phase{Phase::waiting};
  };
  State(const Runtime& its_runtime, List<KernelPlan> its_plans, const PrefetchOptions& its_options)
      : runtime(its_runtime),
        plans(its_plans.begin(), its_plans.end()),
        options(its_options),
        outcomes(plans.size()) {}

  void note(std::size_t i, const BackgroundResult& result) {
    Outcome& outcome = outcomes[i];
    if (outcome.phase != Phase::waiting) return;
    // The kernel is done once the callback has returned: after wait() no callback runs.
    if (options.progress) {
      options.progress({.done = ++noted,
                        .total = plans.size(),
                        .kernel = plans[i].choice().text(),
                        .error = result.error});
    }
    outcome.error = result.error;
    outcome.phase = result.kernel ? Phase::made : result.error.empty() ? Phase::cancelled : Phase::failed;
    ++changes;
    changes.notify_all();
  }

  [[nodiscard]] std::size_t count(Phase phase) const noexcept {
    return static_cast<std::size_t>(
        std::ranges::count_if(outcomes, [&](const Outcome& one) { return one.phase == phase; }));
  }

  const Runtime runtime;
  const std::vector<KernelPlan> plans;
  const PrefetchOptions options;
  std::vector<Outcome> outcomes;         ///< of each plan
  std::atomic<std::size_t> noted = 0;    ///< for the progress
  std::atomic<std::size_t> changes = 0;  ///< of outcomes
  const std::shared_ptr<std::atomic<bool>> cancelled = std::make_shared<std::atomic<bool>>(false);
};

std::size_t Prefetch::done() const noexcept {
  return total() - state_->count(State::Phase::waiting);
}
std::size_t Prefetch::total() const noexcept {
  return state_->plans.size();
}
std::size_t Prefetch::made() const noexcept {
  return state_->count(State::Phase::made);
}

std::vector<Prefetch::Failure> Prefetch::failures() const {
  std::vector<Failure> failures;
  for (std::size_t i = 0; i < state_->plans.size(); ++i) {
    const State::Outcome& outcome = state_->outcomes[i];
    if (outcome.phase == State::Phase::failed)
      failures.push_back({state_->plans[i].choice().text(), outcome.error});
  }
  return failures;
}

void Prefetch::cancel() const noexcept {
  *state_->cancelled = true;
}

void Prefetch::wait() const {
  background_of(state_->runtime).start(state_->options.threads);  // a forked child has no threads yet
  while (true) {
    const std::size_t changes = state_->changes;
    if (done() == total()) return;
    state_->changes.wait(changes);
  }
}

bool Prefetch::wait_for(std::chrono::milliseconds limit) const {
  constexpr std::chrono::milliseconds pause{1};
  background_of(state_->runtime).start(state_->options.threads);
  const auto end = std::chrono::steady_clock::now() + limit;
  while (done() < total() && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(pause);
  return done() == total();
}

Prefetch prefetch(const Runtime& runtime, List<KernelPlan> plans, const PrefetchOptions& options) {
  const auto state = std::make_shared<Prefetch::State>(runtime, plans, options);
  Background& background = background_of(runtime);
  for (std::size_t i = 0; i < state->plans.size(); ++i) {
    background.prefetch(request_for(state->plans[i], MadeBy::prefetch),
                        {.tell = [state, i](const BackgroundResult& result) { state->note(i, result); },
                         .cancelled = state->cancelled});
  }
  background.start(options.threads);
  return Inside::make<Prefetch>(state);
}

Prefetch prefetch(const Runtime& runtime, List<Operation> operations, const PrefetchOptions& options) {
  std::vector<KernelPlan> plans;
  for (const Operation& operation : operations)
    std::ranges::copy(plan_kernels(operation, plan_options(runtime)), std::back_inserter(plans));
  return prefetch(runtime, List<KernelPlan>(std::span(std::as_const(plans))), options);
}

TMAJIT_END
