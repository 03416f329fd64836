#pragma once

#include <tmajit/list.hpp>
#include <tmajit/operation.hpp>
#include <tmajit/plan.hpp>
#include <tmajit/runtime.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

TMAJIT_BEGIN

/// One kernel launch of a plan: the kernel, its work, and the reasons for its choice.
struct MoveStep {
  std::string kernel;                 ///< "transpose"
  std::string why;                    ///< one sentence
  std::string canonical;              ///< the loop nest, "64x128: 1,64 <- 128,1" (strides in elements)
  std::vector<std::string> rewrites;  ///< steps from the user's views to `canonical`, a sentence each
  std::vector<std::uint64_t> shape;   ///< shape of the canonical nest
  std::vector<std::uint32_t> tile;    ///< elements of a CTA's tile in each dimension
  std::uint64_t tiles = 0;            ///< tiles that all CTAs together process
  std::uint32_t threads = 0;          ///< threads of a CTA
  std::uint32_t stages = 1;           ///< tiles of a CTA in flight at once
  std::uint32_t shared_bytes = 0;     ///< shared memory of a CTA, static and dynamic
  std::uint32_t registers = 0;        ///< registers of a thread
  std::uint32_t ctas_per_sm = 0;      ///< CTAs that fit an SM
  std::uint64_t bytes_in_flight = 0;  ///< bytes of loads in flight, on an SM full of CTAs
  std::uint64_t bytes_read = 0;       ///< each element once
  std::uint64_t bytes_written = 0;
  double predicted_us = 0;  ///< by the cost model
  bool tuned = false;       ///< chosen by a measurement (tuning()), not by the model
  struct Alternative {
    std::string choice;  ///< "transpose 256x256, 256 threads"
    double predicted_us = 0;
  };
  std::string choice;                     ///< this kernel's choice, as in Alternative::choice
  std::vector<Alternative> alternatives;  ///< other kernels with the model's times, fastest first
};

/// One kernel, as a runtime would launch it. Throws what Runtime::kernel() throws.
[[nodiscard]] TMAJIT_API MoveStep explain(const Runtime& runtime, const KernelPlan& plan);

/// The launches of a plan, explained.
struct MoveExplanation {
  std::vector<MoveStep> steps;  ///< in order; none if there is nothing to move
  std::string shape_class;      ///< the class by which tuned choices are stored, as text for people
  double planning_us = 0;       ///< time from views to the choice of kernels, without compiling them
  /// A page of text, without colour.
  [[nodiscard]] TMAJIT_API std::string text() const;
};

struct PlanState;

/// A move whose kernels are chosen, compiled and, where the runtime has a device, loaded. Cheap to copy;
/// const use is thread-safe. It keeps its runtime alive.
class TMAJIT_API Plan {
 public:
  /// Enqueues the move between the tensors it was planned for. Works inside graph capture.
  /// Throws Error{unavailable} without a device.
  void operator()(Stream stream = nullptr) const;
  /// Enqueues the same move on other memory: addresses of the destinations and of the sources, in the
  /// operation's order. Costs little more than the launch. Addresses with an alignment that the plan has not
  /// met are legal: the plan may then make other kernels, once. Throws Error{invalid_argument} if there are
  /// not as many addresses as tensors, SpecError if tensors overlap.
  void operator()(List<DevicePtr> destinations, List<DevicePtr> sources, Stream stream = nullptr) const;

  [[nodiscard]] std::uint64_t bytes_moved() const noexcept;          ///< read and written, each element once
  [[nodiscard]] std::span<const Kernel> kernels() const noexcept;    ///< kernels of the steps, in order
  [[nodiscard]] std::span<const KernelPlan> plans() const noexcept;  ///< plans of the steps, in order
  [[nodiscard]] const Operation& operation() const noexcept;         ///< the planned operation
  /// Looks at every candidate again, which takes longer than planning did.
  [[nodiscard]] MoveExplanation explain() const;

  // Copied, never moved: a handle is always valid.
  Plan(const Plan&) = default;
  Plan& operator=(const Plan&) = default;
  ~Plan() = default;

 private:
  friend struct Inside;
  Plan(const Runtime& runtime, std::shared_ptr<const PlanState> state);
  Runtime runtime_;
  std::shared_ptr<const PlanState> state_;
};

/// Chooses an operation's kernels for the runtime's chip by its tuned choices, gets them from memory, disk or
/// the compiler, and loads them if there is a device. With a `family` only kernels of that family are
/// considered. Throws what plan_kernels() throws; CompileError for a wrong expression.
[[nodiscard]] TMAJIT_API Plan plan(const Runtime& runtime, const Operation& operation,
                                   std::string_view family = {});

/// A runtime's tuned choices: the shipped ones, overridden by those of the file `tuning.json` in its cache
/// directory. The first call reads the file. A broken file is logged and not changed. The table lives as long
/// as the runtime.
[[nodiscard]] TMAJIT_API TuningTable& tuning(const Runtime& runtime);
/// Adds a choice to tuning(runtime) and, if there is a cache directory, to its file `tuning.json`, where
/// choices that other processes have stored meanwhile are kept. False if the file is broken or could not be
/// written; the reason is logged.
TMAJIT_API bool remember(const Runtime& runtime, const TunedChoice& choice);
/// The same for several choices, which are stored in the file all at once, or not at all.
TMAJIT_API bool remember(const Runtime& runtime, List<TunedChoice> choices);

/// Measures every candidate for the plan's largest step on the plan's tensors, overwriting the destinations,
/// and stores the winner: plans made afterwards for this shape or a near one use it. Throws
/// Error{unavailable} without a GPU; on the simulator times mean nothing.
TMAJIT_API TuneReport tune(const Runtime& runtime, const Plan& plan, const TuneOptions& options = {});

TMAJIT_END
