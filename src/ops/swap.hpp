#pragma once

#include "ops/move_plan.hpp"

#include <memory>
#include <vector>

TMAJIT_BEGIN

/// Has the wanted kernels of `steps` made in the background, and then swapped into `plan`, so that its next
/// call on addresses of the same class uses them. `steps` was made by make_steps() for `plan`'s operation at
/// some addresses; does nothing unless other kernels are served in it. The thread that makes the last kernel
/// prepares the new launches and publishes them, so that callers only find other launches.
///
/// The background holds neither the plan nor the runtime. If the plan has been destroyed, its kernels are
/// made all the same, for later plans. If a kernel cannot be made, the served one stays. A captured launch
/// uses the kernel that was published when it was enqueued; its graph holds that kernel.
void swap_when_made(const Runtime& runtime, const std::shared_ptr<const PlanState>& plan,
                    const PlanState& steps);

/// Makes calls of `plan` use the kernels of `better`, a plan of the same operation at the same addresses.
void replace_by(const PlanState& plan, std::shared_ptr<const PlanState> better);

TMAJIT_END
