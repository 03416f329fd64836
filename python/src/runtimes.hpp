#pragma once

#include "tensors.hpp"

#include <tmajit/runtime.hpp>
#include <tmajit/sim.hpp>

#include <memory>
#include <span>

namespace tmajit::python {

/// Where operations run: a GPU, or the simulated device for tensors in the CPU's memory.
struct Place {
  Runtime runtime;
  std::shared_ptr<SimDevice> simulator;  ///< null for a GPU
};

/// The place of an operand's device: one a device, made when it is first needed, for as long as the process
/// lives. Throws Error{unavailable} without such a GPU.
[[nodiscard]] Place& place_of(const Operand& operand);
/// The simulated device.
[[nodiscard]] Place& simulated_place();

/// Host memory that the simulated device sees while this object lives, at the host's addresses. Launches of
/// several threads take turns. Tensors that share memory are mapped together.
class MappedMemory {
 public:
  MappedMemory(SimDevice& device, std::span<const Tensor> tensors);
  ~MappedMemory();
  MappedMemory(const MappedMemory&) = delete;
  MappedMemory& operator=(const MappedMemory&) = delete;

 private:
  SimDevice& device_;
  std::vector<DevicePtr> mapped_;
};

/// Runs `launch(stream)` on the place, where `tensors` are. On the simulated device it waits, and throws
/// Error{device_failed} with every mistake that the device reports. The caller does not hold the GIL.
template <class Launch>
void run_at(Place& place, std::span<const Tensor> tensors, Stream stream, Launch&& launch) {
  if (place.simulator == nullptr) [[likely]] {
    launch(stream);
    return;
  }
  const MappedMemory mapped(*place.simulator, tensors);
  place.simulator->clear_reports();
  launch(nullptr);
  place.simulator->streams().synchronize(nullptr);
}

}  // namespace tmajit::python
