#pragma once

#include <tmajit/version.hpp>

#include <atomic>
#include <memory>
#include <utility>

TMAJIT_BEGIN

struct PlanState;

/// The plan whose kernels a plan's calls use now, if it is another one: the winner of a trial (Attempts), or
/// the plan with the kernels that were made in the background (swap.hpp). Takes no lock. Earlier plans live
/// as long as this object, because callers may hold spans of their kernels.
class BetterPlan {
 public:
  BetterPlan() = default;
  ~BetterPlan() {
    const Node* node = newest_.load(std::memory_order_acquire);
    while (node != nullptr) delete std::exchange(node, node->older);
  }
  BetterPlan(const BetterPlan&) = delete;
  BetterPlan& operator=(const BetterPlan&) = delete;

  /// The newest plan; null if there is none.
  [[nodiscard]] const PlanState* newest() const noexcept {
    const Node* const node = newest_.load(std::memory_order_acquire);
    return node == nullptr ? nullptr : node->plan.get();
  }
  void set(std::shared_ptr<const PlanState> plan) {
    auto* const node = new Node{std::move(plan), newest_.load(std::memory_order_relaxed)};
    while (!newest_.compare_exchange_weak(node->older, node, std::memory_order_acq_rel)) {
    }
  }

 private:
  struct Node {
    std::shared_ptr<const PlanState> plan;
    const Node* older;
  };
  std::atomic<const Node*> newest_{nullptr};
};

TMAJIT_END
