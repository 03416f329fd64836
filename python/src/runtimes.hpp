#pragma once

#include "tensors.hpp"

#include <tmajit/runtime.hpp>
#include <tmajit/sim.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace tmajit::python {

/// A device that runs operations: a GPU, or the simulated device for tensors in the CPU's memory.
struct Backend {
  Runtime runtime;
  std::shared_ptr<SimDevice> simulator;  ///< null for a GPU
};

/// Sets the options of all backends but their devices. Throws Error{invalid_argument} once a backend was
/// made.
void set_options(RuntimeOptions options);

/// The backend of a GPU, or of the simulated device for nullopt. It is made on first use and lives as long as
/// the process. Throws Error{unavailable} if there is no such GPU. The caller must not hold the GIL.
[[nodiscard]] Backend& backend_on(std::optional<std::int32_t> gpu);
/// The backend of an operand's device, for a caller that holds the GIL.
[[nodiscard]] Backend& backend_of(const Operand& operand);
/// The backend of the simulated device.
[[nodiscard]] Backend& simulated_backend();

/// Maps host memory into the simulated device, at the host's addresses, for as long as this object lives.
/// Only one thread at a time has such an object; others wait. Tensors that share memory get one mapping.
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

/// Calls `launch(stream)` for a launch that accesses `tensors`. On the simulated device it waits for the
/// launch, and throws Error{device_failed}, which lists all mistakes. The caller must not hold the GIL.
template <class Launch>
void run_at(Backend& backend, std::span<const Tensor> tensors, Stream stream, Launch&& launch) {
  if (backend.simulator == nullptr) [[likely]] {
    launch(stream);
    return;
  }
  const MappedMemory mapped(*backend.simulator, tensors);
  backend.simulator->clear_reports();
  launch(nullptr);
  backend.simulator->streams().synchronize(nullptr);
}

}  // namespace tmajit::python
