#include "ops/attempts.hpp"

#include "operations/list.hpp"
#include "ops/move_caches.hpp"
#include "ops/swap.hpp"
#include "plan/candidates.hpp"
#include "spec/log.hpp"

#include <algorithm>
#include <exception>
#include <utility>

TMAJIT_BEGIN

std::shared_ptr<const Attempts> Attempts::make(const Runtime& runtime, const PlanState& plan) {
  const Improve& improve = options_of(runtime).improve;
  if (improve.candidates < 2 || !runtime.device() || !plan.family.empty() || plan.plans.size() != 1 ||
      plan.plans.front().predicted_us() < improve.min_predicted_us || !plan.wanted.empty()) {
    return nullptr;
  }
  const auto kernels = kernels_of(plan.operation.moves);
  const auto moves = std::ranges::find_if(kernels, writes_elements);
  const PlanOptions options = plan_options(runtime);
  const ShapeClass shape = class_of_kernel(*moves, options);
  if (options.tuning->has_added(options.chip.name, shape)) return nullptr;
  const std::vector<KernelPlan> candidates = candidates_of_kernel(*moves, options);
  auto trial = move_caches(runtime).trials.of_class(
      std::make_shared<Trial>(shape, worth_trying(candidates, improve.candidates), improve));
  if (trial->is_settled() || trial->size() < 2) return nullptr;
  return std::shared_ptr<const Attempts>(new Attempts(plan, std::move(trial), candidates));
}

Attempts::Attempts(const PlanState& plan, std::shared_ptr<Trial> trial,
                   const std::vector<KernelPlan>& candidates)
    : plan_(plan),
      trial_(std::move(trial)),
      plans_(trial_->size()),
      can_run_(trial_->size()),
      launches_(trial_->size()),
      pending_(trial_->size()) {
  std::vector<KernelChoice> choices;
  choices.reserve(candidates.size());
  for (const KernelPlan& candidate : candidates) choices.push_back(candidate.choice());
  for (std::size_t i = 0; i < plans_.size(); ++i) {
    const auto found = nearest(choices, trial_->choice(i));
    if (!found) continue;
    plans_[i] = candidates[*found];
    can_run_[i] = true;
  }
  default_launches_.add(PlacedLaunches::make(plan.operation, plan.reaches, plan.plans, plan.kernels));
}

bool Attempts::launch(const Runtime& runtime, const TensorAddresses& addresses, Stream stream) const {
  const PlacedLaunches* const default_launches = default_launches_.find(addresses);
  if (default_launches == nullptr) return false;
  if (!runtime.device()->streams().is_captured(stream)) {
    if (trial_->is_settled()) {
      adopt(runtime);
    } else if (launch_timed(runtime, addresses, stream)) {
      return true;
    }
  }
  (*default_launches)(addresses, stream);
  return true;
}

bool Attempts::launch_timed(const Runtime& runtime, const TensorAddresses& addresses, Stream stream) const {
  const Chosen chosen = choose(runtime);
  if (chosen.launches == nullptr) return false;
  bool launched = false;
  try {
    if (chosen.run != nullptr) chosen.run->timer().start(stream);
    (*chosen.launches)(addresses, stream);
    launched = true;
    if (chosen.run != nullptr) chosen.run->timer().stop(stream);
    if (chosen.run != nullptr) chosen.run->hand_over();
  } catch (const std::exception& error) {
    if (chosen.run != nullptr) chosen.run->abandon();
    trial_->drop(chosen.candidate, error.what());
  }
  return launched;
}

Attempts::Chosen Attempts::choose(const Runtime& runtime) const {
  const Trial::Turn turn(*trial_);
  if (!turn || trial_->is_settled()) return {};
  // An error before a candidate is chosen drops the default one, 0, which ends the trial.
  std::size_t candidate = 0;
  try {
    trial_->collect();
    if (const auto verdict = trial_->verdict()) {
      conclude(runtime, *verdict);
      return {};
    }
    const std::optional<std::size_t> next = trial_->next(can_run_);
    if (!next) return {};
    candidate = *next;
    std::unique_ptr<const PlacedLaunches>& launches = launches_[candidate];
    if (!launches) {
      const KernelPlan& plan = *plans_[candidate];
      std::shared_ptr<PendingKernel>& pending = pending_[candidate];
      if (!pending) pending = PendingKernel::make_unless_ready(runtime, plan);
      const std::optional<Kernel> kernel = pending ? pending->get() : runtime.kernel(plan);
      if (!kernel) return {};
      launches = PlacedLaunches::make(plan_.operation, plan_.reaches, {&plan, 1}, {&*kernel, 1});
      trial_->use_call();
      return {.launches = launches.get(), .candidate = candidate};
    }
    Trial::Run* const run = trial_->begin(candidate, runtime.device()->timing());
    if (run == nullptr) return {};
    trial_->use_call();
    return {.launches = launches.get(), .run = run, .candidate = candidate};
  } catch (const std::exception& error) {
    trial_->drop(candidate, error.what());
    return {};
  }
}

void Attempts::conclude(const Runtime& runtime, const Trial::Verdict& verdict) const {
  TuningTable& table = tuning(runtime);
  const TunedChoice found{.chip = runtime.chip().name,
                          .shape_class = trial_->shape_class(),
                          .choice = verdict.choice != nullptr ? *verdict.choice : KernelChoice{},
                          .microseconds = verdict.us};
  // A choice that a tuner or the caller added in the meantime was measured more carefully, and is kept.
  if (verdict.choice != nullptr && !table.has_added(found.chip, found.shape_class)) {
    if (options_of(runtime).improve.remember) {
      remember(runtime, found);
    } else {
      table.add(found);
    }
    log(LogLevel::info, "{}: {} takes {:.1f} us, {:.2f} of the default kernel's time",
        found.shape_class.text(), found.choice.text(), found.microseconds, verdict.relative_time);
  }
  trial_->settle();
}

void Attempts::adopt(const Runtime& runtime) const {
  if (adopted_.exchange(true)) return;
  try {
    replace_by(plan_, make_steps(runtime, plan_.operation, plan_.family));
  } catch (const std::exception& error) {
    log(LogLevel::warn, "{}: an existing plan keeps its kernel: {}", trial_->shape_class().text(),
        error.what());
    plan_.as_planned =
        &plan_.launches.add(PlacedLaunches::make(plan_.operation, plan_.reaches, plan_.plans, plan_.kernels));
  }
}

TMAJIT_END
