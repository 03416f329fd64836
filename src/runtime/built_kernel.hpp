#pragma once

#include <tmajit/runtime.hpp>

#include <memory>
#include <optional>

TMAJIT_BEGIN

/// A kernel with all that it took to make it, loaded if there is a device. Never changes once it is built.
struct BuiltKernel {
  Artifact artifact;
  CacheKey key;
  CacheLevel level = CacheLevel::compiled;
  StageTimes times;
  std::optional<KernelSpec> spec;  ///< none for a custom kernel
  std::uint32_t shared_bytes = 0;  ///< dynamic, the most that a launch may ask for

  // The kernel goes before the device that it is loaded on.
  std::shared_ptr<Device> device;
  std::unique_ptr<LoadedKernel> loaded;
};

struct Kernel::State : BuiltKernel {};

TMAJIT_END
