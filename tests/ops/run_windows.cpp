#include "ops/run_windows.hpp"

#include "operations/shared/windows_reference.hpp"
#include "reference/random_elements.hpp"

#include <tmajit/plan.hpp>

#include <sstream>
#include <vector>

using namespace tmajit;
using reference::StencilOperand;

namespace tests {
namespace {

/// An operand in host memory and, the same, on the device.
struct PlacedTensor {
  std::vector<std::byte> host;
  Buffer buffer;
  Tensor on_device;

  PlacedTensor(const Runtime& runtime, const StencilOperand& operand, std::uint64_t seed)
      : host(operand.bytes), buffer(runtime.device(), operand.bytes) {
    reference::RandomElements(operand.view.type, seed).fill(host);
    on_device = {operand.view, buffer.address() + operand.first};
    runtime.device()->memory().copy_in(buffer.address(), host, nullptr);
  }
  /// The tensor in host memory whose element with all indices 0 lies there as `placed` does on the device.
  [[nodiscard]] Tensor on_host(const Tensor& placed) {
    return {placed.view, placed.address - buffer.address() + reinterpret_cast<DevicePtr>(host.data())};
  }
};

/// Runs the operation's one kernel and compares the destination's memory with what `compute` makes of it.
template <class Compute>
std::string run_and_compare(const Runtime& runtime, const Move& move, PlacedTensor& destination,
                            const WindowsChoice& choice, const Compute& compute) {
  const std::vector<KernelPlan> plans = plan_candidates(move, {.chip = runtime.chip()});
  const KernelPlan& plan = plans[choice(plans)];
  runtime.kernel(plan).launch(plan);
  runtime.device()->streams().synchronize(nullptr);
  std::vector<std::byte> found(destination.host.size());
  runtime.device()->memory().copy_out(found, destination.buffer.address(), nullptr);
  runtime.device()->streams().synchronize(nullptr);
  compute(destination.on_host(move.destination));
  for (std::uint64_t i = 0; i < found.size(); ++i) {
    if (found[i] == destination.host[i]) continue;
    std::ostringstream out;
    out << plan.choice().text() << ": byte " << i << " of " << found.size() << " is "
        << static_cast<unsigned>(found[i]) << ", not " << static_cast<unsigned>(destination.host[i]);
    return out.str();
  }
  return {};
}

}  // namespace

std::string run_im2col(const Runtime& runtime, const reference::RandomWindows& windows, std::uint64_t seed,
                       const WindowsChoice& choice) {
  PlacedTensor destination(runtime, windows.destination, seed);
  PlacedTensor images(runtime, windows.images, seed + 1);
  const Move move = operation::im2col(destination.on_device, images.on_device, windows.windows).moves.front();
  return run_and_compare(runtime, move, destination, choice, [&](const Tensor& to) {
    reference::im2col(to, images.on_host(images.on_device), windows.windows, reference::whole(to.view));
  });
}

std::string run_convolution(const Runtime& runtime, const reference::RandomWindows& windows,
                            std::uint64_t seed, const WindowsChoice& choice) {
  PlacedTensor destination(runtime, windows.destination, seed);
  PlacedTensor images(runtime, windows.images, seed + 1);
  PlacedTensor filter(runtime, windows.filter, seed + 2);
  const Move move =
      operation::convolution(destination.on_device, images.on_device, filter.on_device, windows.windows)
          .moves.front();
  return run_and_compare(runtime, move, destination, choice, [&](const Tensor& to) {
    reference::convolution(to, images.on_host(images.on_device), filter.on_host(filter.on_device),
                           windows.windows, reference::whole(to.view));
  });
}

}  // namespace tests
