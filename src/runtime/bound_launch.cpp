#include "runtime/bound_launch.hpp"

#include <tmajit/error.hpp>

#include <algorithm>
#include <utility>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

void require_plan(const BuiltKernel& kernel, const KernelPlan& plan) {
  require_device(kernel);
  if (plan.key() != kernel.memory_key) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format(
            "a plan of the family {} is no launch of '{}', which was made of another plan or source; ask "
            "the runtime for the kernel of this plan.",
            plan.family().name, kernel.artifact.entry));
  }
  const Problem& problem = plan.state().problem;
  const auto end = problem.address.begin() + problem.nest.operands;
  if (std::find(problem.address.begin(), end, DevicePtr{0}) != end) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format(
            "a plan of the family {} was made without addresses; plan it for tensors that lie somewhere.",
            plan.family().name));
  }
}

}  // namespace

void require_device(const BuiltKernel& kernel) {
  if (kernel.loaded) return;
  const std::string why = why_no_gpu();
  throw Error(ErrorCode::unavailable,
              fmt::format("the kernel cannot be launched: its runtime has no device ({}).",
                          why.empty() ? "pass open_gpu() as RuntimeOptions::device" : why));
}

BoundLaunch::BoundLaunch(std::shared_ptr<const BuiltKernel> kernel, const KernelPlan& plan)
    : kernel_(std::move(kernel)), plan_(plan), parameters_(plan.state().parameters) {
  require_plan(*kernel_, plan_);
  parameters_.encode(kernel_->device->maps());
}

void BoundLaunch::operator()(std::span<const DevicePtr> by, Stream stream) const {
  ParameterBlock::Launch launch;
  kernel_->loaded->launch(plan_.launch_shape(), parameters_.moved(by, kernel_->device->maps(), launch),
                          stream);
}

TMAJIT_END
