#pragma once

#include "ops/move_plan.hpp"
#include "ops/trial.hpp"

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

TMAJIT_BEGIN

/// A plan's part in the trial of its shape class (Improve): its candidates, and what it becomes when the
/// trial is settled. Until then the plan has no launches where it was planned, so that calls come here;
/// afterwards none does. Thread-safe.
class Attempts {
 public:
  /// Null for a plan that takes no part. The plan must outlive what is returned.
  [[nodiscard]] static std::shared_ptr<const Attempts> make(const Runtime& runtime, const PlanState& plan);

  /// Launches one candidate on addresses that lie as planned; false, and nothing is launched, if they may
  /// not.
  [[nodiscard]] bool launch(const Runtime& runtime, const TensorAddresses& addresses, Stream stream) const;
  /// The plan that calls are made by now; null until the trial is settled.
  [[nodiscard]] const PlanState* better() const noexcept { return better_.load(std::memory_order_acquire); }

 private:
  struct Chosen {
    const PlacedLaunches* launches = nullptr;  ///< null: those of the usual one
    Trial::Run* run = nullptr;  ///< null for a kernel's first launch, which is not timed: it loads the code
    std::size_t candidate = 0;
  };
  Attempts(const PlanState& plan, std::shared_ptr<Trial> trial, const std::vector<KernelPlan>& candidates);

  [[nodiscard]] bool launch_timed(const Runtime& runtime, const TensorAddresses& addresses,
                                  Stream stream) const;
  [[nodiscard]] Chosen choose(const Runtime& runtime) const;
  void conclude(const Runtime& runtime, const Trial::Verdict& verdict) const;
  /// Gives the plan the launches of what was found, once.
  void adopt(const Runtime& runtime) const;

  const PlanState& plan_;
  std::shared_ptr<Trial> trial_;
  LaunchesByAlignment usual_;
  std::vector<std::optional<KernelPlan>> plans_;  ///< plans of the trial's candidates that can do this
  std::vector<bool> can_;                         ///< whether each candidate can do this
  std::uint64_t shape_;                           ///< number of the shape in the trial
  mutable std::vector<std::unique_ptr<const PlacedLaunches>> launches_;  ///< by candidate; null until made
  mutable std::atomic<bool> adopted_{false};
  mutable std::shared_ptr<const PlanState> kept_;  ///< `better_`
  mutable std::atomic<const PlanState*> better_{nullptr};
};

TMAJIT_END
