#pragma once

#include <tmajit/compile.hpp>
#include <tmajit/device_memory.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

TMAJIT_BEGIN

/// Size of the part of a launch's scratch memory, from its beginning, that is zero before and after the
/// launch.
inline constexpr std::uint32_t scratch_zeros = 1 << 20;

struct LaunchShape {
  std::array<std::uint32_t, 3> grid{1, 1, 1};
  std::array<std::uint32_t, 3> block{1, 1, 1};
  std::uint32_t shared_bytes = 0;  ///< dynamic
  /// CTAs of a cluster in each dimension; each number divides the grid's extent. With {1, 1, 1} the kernel
  /// decides: without `.reqnctapercluster` (`__cluster_dims__`) every CTA is its own cluster.
  std::array<std::uint32_t, 3> cluster{1, 1, 1};
  /// Private memory of the launch while it runs; 0: none. The device passes its address as the last
  /// parameter. Its first `scratch_zeros` bytes are zero, and the kernel sets them to zero again. All
  /// launches that one stream adds to a graph share this memory, so two instances of that graph must not run
  /// at once.
  std::uint32_t scratch_bytes = 0;
  /// All CTAs are resident at once and can use a grid-wide barrier (CU_LAUNCH_ATTRIBUTE_COOPERATIVE). A
  /// launch of more CTAs than the chip holds fails.
  bool cooperative = false;
  /// The launch may begin before its predecessor on the stream has ended, once every CTA of the predecessor
  /// has executed `griddepcontrol.launch_dependents` or exited
  /// (CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION). The kernel then executes `griddepcontrol.wait`
  /// before it reads data that earlier launches write, or writes data that they read. A launch with scratch
  /// memory still begins after its predecessor has ended, because launches of a stream share that memory.
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
  /// The bytes of parameter `index`; nothing for an index out of range, or if the driver does not tell.
  [[nodiscard]] virtual std::optional<std::uint32_t> parameter_bytes(std::uint32_t index) const;
  /// CTAs of this shape that fit one SM at a time.
  [[nodiscard]] virtual std::uint32_t ctas_per_sm(std::uint32_t threads,
                                                  std::uint32_t shared_bytes) const = 0;
};

/// Loads kernels on a device. Thread-safe. A loaded kernel is destroyed before its device.
class TMAJIT_API DeviceKernels {
 public:
  virtual ~DeviceKernels();
  /// Whether load() needs an artifact's PTX. Otherwise it needs the cubin.
  [[nodiscard]] virtual bool runs_ptx() const noexcept;
  /// Throws Error{invalid_argument} if a GPU is given no cubin, Error{invalid_image} for a cubin that the
  /// driver refuses or that lacks the entry, Error{out_of_memory}, Error{device_failed} if the device fails.
  [[nodiscard]] virtual std::unique_ptr<LoadedKernel> load(const Artifact& artifact) = 0;
};

TMAJIT_END
