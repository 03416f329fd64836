#pragma once

#include "runtime/builder.hpp"
#include "runtime/kernel_origin.hpp"

#include <memory>
#include <string>

TMAJIT_BEGIN

/// The state of a kernel in memory: the data for its launches, and the data to obtain its artifact on
/// request. Immutable.
struct KernelState {
  KernelOrigin origin;
  std::shared_ptr<const Builder> builder;  ///< null only in tests
  std::string entry;
  CacheKey key;
  CacheLevel level;
  StageTimes times;
  Resources resources;
  std::uint32_t shared_bytes;                ///< the most dynamic shared memory that a launch may use
  std::unique_ptr<const Artifact> artifact;  ///< null if a level of the cache has it

  // In this order, the loaded kernel is destroyed before its device.
  std::shared_ptr<Device> device;
  std::unique_ptr<LoadedKernel> loaded;
};

/// Returns the state to keep for a kernel that was built.
[[nodiscard]] std::shared_ptr<const KernelState> make_kernel_state(KernelOrigin origin,
                                                                   std::shared_ptr<const Builder> builder,
                                                                   BuiltKernel built);

TMAJIT_END
