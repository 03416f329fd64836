#include "ops/call.hpp"

#include <tmajit/error.hpp>
#include <tmajit/ragged.hpp>

#include <utility>

TMAJIT_BEGIN

struct RaggedCopy::State {
  Buffer table;
  KernelPlan plan;
  Kernel kernel;
  PreparedLaunch launch;
};

namespace {

/// The runtime's device. Throws Error{unavailable} if it has none.
const std::shared_ptr<Device>& device_of(const Runtime& runtime) {
  if (!runtime.device()) {
    throw Error(
        ErrorCode::unavailable,
        "a batch of copies needs a device, and the runtime has none: pass open_gpu() or make_sim_device() "
        "as RuntimeOptions::device.");
  }
  return runtime.device();
}

}  // namespace

RaggedCopy::RaggedCopy(const Runtime& runtime, List<Tensor> destinations, List<Tensor> sources) {
  const std::shared_ptr<Device>& device = device_of(runtime);
  const std::size_t bytes = plan_ragged(destinations, sources, 0, runtime.chip()).table.size();
  Buffer table(device, bytes);
  const RaggedPlan planned = plan_ragged(destinations, sources, table.address(), runtime.chip());
  // Launches may be on any stream, so the copy of the table must be complete before the first launch.
  device->memory().copy_in(table.address(), planned.table, nullptr);
  device->streams().synchronize(nullptr);
  const Kernel kernel = runtime.kernel(planned.kernel);
  PreparedLaunch launch = kernel.prepare(planned.kernel);
  state_ = std::make_shared<const State>(State{std::move(table), planned.kernel, kernel, std::move(launch)});
}

void RaggedCopy::operator()(Stream stream) const {
  state_->launch(stream);
}
const KernelPlan& RaggedCopy::plan() const noexcept {
  return state_->plan;
}
const Kernel& RaggedCopy::kernel() const noexcept {
  return state_->kernel;
}
std::uint64_t RaggedCopy::bytes_moved() const noexcept {
  return state_->plan.bytes_moved();
}

void copy_ragged(const Runtime& runtime, List<Tensor> destinations, List<Tensor> sources, Stream stream) {
  static_cast<void>(device_of(runtime));
  if (destinations.empty() && sources.empty()) return;
  Call(runtime, 'g', destinations, sources).run(stream, [&] {
    return operation::copy_ragged(destinations, sources);
  });
}

TMAJIT_END
