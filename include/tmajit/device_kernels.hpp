#pragma once

#include <tmajit/compile.hpp>
#include <tmajit/device_memory.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

TMAJIT_BEGIN

/// Bytes that are zeros at the beginning of a launch's scratch memory, and again when it ends.
inline constexpr std::uint32_t scratch_zeros = 512 << 10;

struct LaunchShape {
  std::array<std::uint32_t, 3> grid{1, 1, 1};
  std::array<std::uint32_t, 3> block{1, 1, 1};
  std::uint32_t shared_bytes = 0;  ///< dynamic
  /// CTAs of a cluster; each divides the grid's extent. {1, 1, 1} leaves it to the kernel: without
  /// `.reqnctapercluster` (`__cluster_dims__`) every CTA is its own cluster.
  std::array<std::uint32_t, 3> cluster{1, 1, 1};
  /// Memory that the launch has for itself while it runs, whose address the device makes the last parameter;
  /// 0: none. The first `scratch_zeros` of it are zeros, and the kernel leaves them so. Launches of one graph
  /// that one stream added share it: two graphs that were instantiated of it must not run at once.
  std::uint32_t scratch_bytes = 0;
  /// All CTAs are on the chip at once, so that they may meet at a barrier of the grid
  /// (CU_LAUNCH_ATTRIBUTE_COOPERATIVE). A launch of more than it holds fails.
  bool cooperative = false;
  /// The launch may begin before the one before it on its stream has ended, once every CTA of that one has
  /// executed `griddepcontrol.launch_dependents` or exited
  /// (CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION). The kernel then executes `griddepcontrol.wait`
  /// before it reads what earlier launches write, or writes what they read. A launch with scratch memory
  /// begins after the one before has ended all the same: the memory is the stream's.
  bool overlaps = false;
};

/// A kernel loaded on a device. Const use is thread-safe. A graph that captured a launch keeps the code
/// loaded, so that the LoadedKernel may be destroyed before the graph is.
class TMAJIT_API LoadedKernel {
 public:
  virtual ~LoadedKernel();
  /// Enqueues the kernel on `stream`. `parameters[i]` points to the bytes of parameter i, as for
  /// cuLaunchKernelEx. Throws Error{device_failed}.
  virtual void launch(const LaunchShape& shape, std::span<void* const> parameters, Stream stream) const = 0;
  /// Raises the kernel's limit of dynamic shared memory to `bytes`; call once, before the first launch.
  virtual void allow_shared_bytes(std::uint32_t bytes) = 0;
  /// Parameters that the kernel takes; nothing if the driver does not tell (before CUDA 12.4).
  [[nodiscard]] virtual std::optional<std::uint32_t> parameter_count() const;
  /// The bytes of parameter `index`; nothing if it has none of that number or the driver does not tell.
  [[nodiscard]] virtual std::optional<std::uint32_t> parameter_bytes(std::uint32_t index) const;
  /// CTAs of this shape that fit one SM at a time.
  [[nodiscard]] virtual std::uint32_t ctas_per_sm(std::uint32_t threads,
                                                  std::uint32_t shared_bytes) const = 0;
};

/// Loads kernels on a device. Thread-safe. A loaded kernel is destroyed before its device.
class TMAJIT_API DeviceKernels {
 public:
  virtual ~DeviceKernels();
  /// Throws Error{invalid_argument} if a GPU is given no cubin, Error{invalid_image} for one that the driver
  /// refuses or that has no such entry, Error{out_of_memory}, Error{device_failed} if the device fails.
  [[nodiscard]] virtual std::unique_ptr<LoadedKernel> load(const Artifact& artifact) = 0;
};

TMAJIT_END
