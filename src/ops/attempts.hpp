#pragma once

#include "ops/move_plan.hpp"
#include "ops/pending_kernel.hpp"
#include "ops/trial.hpp"

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

TMAJIT_BEGIN

/// A plan's part in the trial of its shape (Improve): its candidates, and the better plan that replaces
/// it when the trial is settled. Until then PlanState::launches is empty, so that the plan's calls reach
/// launch() here. Thread-safe.
class Attempts {
 public:
  /// Null for a plan that takes no part in a trial. The plan must outlive the returned object.
  [[nodiscard]] static std::shared_ptr<const Attempts> make(const Runtime& runtime, const PlanState& plan);

  /// Launches one candidate. Returns false, and launches nothing, if the addresses may differ from the
  /// planned ones in alignment or relative offset.
  [[nodiscard]] bool launch(const Runtime& runtime, const TensorAddresses& addresses, Stream stream) const;

 private:
  struct Chosen {
    const PlacedLaunches* launches = nullptr;  ///< null: the default kernel's
    Trial::Run* run = nullptr;  ///< null for a kernel's first launch, which loads the code and is not timed
    std::size_t candidate = 0;
  };
  Attempts(const PlanState& plan, std::shared_ptr<Trial> trial, const std::vector<KernelPlan>& candidates);

  [[nodiscard]] bool launch_timed(const Runtime& runtime, const TensorAddresses& addresses,
                                  Stream stream) const;
  [[nodiscard]] Chosen choose(const Runtime& runtime) const;
  void conclude(const Runtime& runtime, const Trial::Verdict& verdict) const;
  /// Plans again with the trial's winner and gives the plan its launches. Only the first call does so.
  void adopt(const Runtime& runtime) const;

  const PlanState& plan_;
  std::shared_ptr<Trial> trial_;
  LaunchesByAlignment default_launches_;
  std::vector<std::optional<KernelPlan>> plans_;  ///< by candidate; empty if it cannot run this move
  std::vector<bool> can_run_;                     ///< by candidate: whether it can run this move
  mutable std::vector<std::unique_ptr<const PlacedLaunches>> launches_;  ///< by candidate; null until made
  mutable std::vector<std::shared_ptr<PendingKernel>>
      pending_;  ///< by candidate; null: not in the background
  mutable std::atomic<bool> adopted_{false};
};

TMAJIT_END
