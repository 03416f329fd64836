#pragma once

#include "c/errors.hpp"
#include "c/structs.hpp"

#include <tmajit/fusion.hpp>
#include <tmajit/move.hpp>
#include <tmajit/runtime.hpp>
#include <tmajit/sim.hpp>

#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <variant>

// The objects behind the C interface's handles. Each shares ownership of what it needs, so that they may be
// destroyed in any order.

struct tmajit_runtime {
  tmajit::Runtime runtime;
  std::shared_ptr<tmajit::SimDevice> simulator;  ///< null if the runtime is on another device, or on none
};

struct tmajit_operation {
  tmajit::Operation operation;
};

/// The plan of one operation or of a chain.
struct tmajit_plan {
  tmajit::Runtime runtime;
  std::variant<tmajit::Plan, tmajit::ChainPlan> plan;

  /// The plans whose kernels a launch runs, in order.
  [[nodiscard]] std::span<const tmajit::Plan> plans() const noexcept {
    if (const auto* const chain = std::get_if<tmajit::ChainPlan>(&plan)) return chain->plans();
    return {&std::get<tmajit::Plan>(plan), 1};
  }
};

/// A runtime's kernel, or one that the simulated device has loaded from PTX.
struct tmajit_kernel {
  std::shared_ptr<tmajit::Device> device;  ///< may be null; declared before `loaded`, so destroyed after it
  std::optional<tmajit::Kernel> kernel;
  std::shared_ptr<const tmajit::LoadedKernel> loaded = nullptr;
  tmajit::Artifact artifact = {};  ///< PTX and entry of `loaded`
};

TMAJIT_BEGIN
namespace c {

/// The device of a runtime. Throws Error{unavailable} without one.
[[nodiscard]] inline Device& device_of(const tmajit_runtime* runtime) {
  const std::shared_ptr<Device>& device = require_non_null(runtime, "runtime").runtime.device();
  if (device == nullptr) fail(ErrorCode::unavailable, "the runtime was made without a device");
  return *device;
}

/// The simulated device of a runtime. Throws Error{unsupported} for another device.
[[nodiscard]] inline SimDevice& simulator_of(const tmajit_runtime* runtime) {
  if (require_non_null(runtime, "runtime").simulator == nullptr)
    fail(ErrorCode::unsupported, "this needs a runtime on the simulated device, TMAJIT_DEVICE_SIMULATED");
  return *runtime->simulator;
}

/// Stores a text that `make()` returns.
template <class Make>
tmajit_status store_text(tmajit_text** text, tmajit_error** error, Make&& make) {
  return guarded(error, [&] {
    clear_result(text, "text");
    *text = new tmajit_text{make()};
  });
}

/// The texts of a kernel.
[[nodiscard]] inline Artifact artifact_of(const tmajit_kernel& kernel) {
  return kernel.kernel ? kernel.kernel->artifact() : kernel.artifact;
}

[[nodiscard]] inline Stream to_stream(void* stream) noexcept {
  return static_cast<Stream>(stream);
}

}  // namespace c
TMAJIT_END
