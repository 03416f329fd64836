#include "ops/call.hpp"
#include "ops/ragged_batches.hpp"

#include <tmajit/error.hpp>
#include <tmajit/ragged.hpp>

#include <algorithm>
#include <span>
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

std::vector<DevicePtr> addresses_of(std::span<const Tensor> tensors) {
  std::vector<DevicePtr> addresses;
  for (const Tensor& tensor : tensors) addresses.push_back(tensor.address);
  return addresses;
}

}  // namespace

RaggedCopy::RaggedCopy(const Runtime& runtime, List<Tensor> destinations, List<Tensor> sources) {
  const std::shared_ptr<Device>& device = device_of(runtime);
  const std::size_t bytes = plan_ragged(destinations, sources, 0, runtime.chip()).table.size();
  Buffer table(device, bytes);
  const RaggedPlan planned = plan_ragged(destinations, sources, table.address(), runtime.chip());
  // Launches may be on any stream: the table is there before the first.
  device->memory().copy_in(table.address(), planned.table, nullptr);
  device->streams().synchronize(nullptr);
  Kernel kernel = runtime.kernel(planned.kernel);
  PreparedLaunch launch = kernel.prepare(planned.kernel);
  state_ = std::make_shared<const State>(
      State{std::move(table), planned.kernel, std::move(kernel), std::move(launch)});
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

void Batches::launch(const Runtime& runtime, const Operation& operation, Stream stream) {
  const std::vector<DevicePtr> destinations = addresses_of(operation.destinations);
  const std::vector<DevicePtr> sources = addresses_of(operation.sources);
  const std::lock_guard lock(mutex_);
  const auto known = std::ranges::find_if(
      made_, [&](const Made& one) { return one.destinations == destinations && one.sources == sources; });
  if (known != made_.end()) return known->copy(stream);
  if (made_.size() == most_batches) made_.erase(made_.begin());  // freeing its table waits for its launches
  made_.push_back({destinations, sources, RaggedCopy(runtime, operation.destinations, operation.sources)});
  made_.back().copy(stream);
}

void copy_ragged(const Runtime& runtime, List<Tensor> destinations, List<Tensor> sources, Stream stream) {
  static_cast<void>(device_of(runtime));
  if (destinations.empty() && sources.empty()) return;
  Call(runtime, 'g', destinations, sources).run(stream, [&] {
    return operation::copy_ragged(destinations, sources);
  });
}

TMAJIT_END
