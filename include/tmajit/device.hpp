#pragma once

#include <tmajit/compile.hpp>
#include <tmajit/tensor_map_spec.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

struct CUstream_st;  // the driver's own type, so that a caller's CUstream or cudaStream_t is one of ours

TMAJIT_BEGIN

/// An address in a device's global memory; the driver's CUdeviceptr.
using DevicePtr = std::uint64_t;
/// The user's stream; null is the default stream.
using Stream = ::CUstream_st*;

/// The 128 opaque bytes that a kernel takes as a `__grid_constant__` tensor map. Made by a Device, read by
/// nobody else.
struct alignas(128) EncodedTensorMap {
  std::array<std::byte, 128> opaque{};
};

struct DeviceInfo {
  std::string name;  ///< "NVIDIA H200"
  int ordinal = -1;  ///< the driver's device number; −1 for the simulator
  int compute_major = 0;
  int compute_minor = 0;
  std::uint32_t sm_count = 0;
  std::uint32_t max_shared_bytes = 0;  ///< of a CTA, opted in
  std::uint64_t memory_bytes = 0;
  std::uint64_t l2_bytes = 0;
};

struct LaunchShape {
  std::array<std::uint32_t, 3> grid{1, 1, 1};
  std::array<std::uint32_t, 3> block{1, 1, 1};
  std::uint32_t shared_bytes = 0;  ///< dynamic
  /// CTAs of a cluster; each divides the grid's extent. {1, 1, 1} leaves it to the kernel: without
  /// `.reqnctapercluster` (`__cluster_dims__`) every CTA is its own cluster.
  std::array<std::uint32_t, 3> cluster{1, 1, 1};
};

/// A kernel loaded on a device. Thread-safe. A graph that captured a launch of it keeps what it needs: the
/// LoadedKernel may be destroyed before the graph is.
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
  /// CTAs of this shape that fit one SM at a time.
  [[nodiscard]] virtual std::uint32_t ctas_per_sm(std::uint32_t threads,
                                                  std::uint32_t shared_bytes) const = 0;
};

/// Something that runs kernels: a GPU behind the driver, or the simulator. Knows nothing of kernel families.
class TMAJIT_API Device {
 public:
  virtual ~Device();
  [[nodiscard]] virtual const DeviceInfo& info() const noexcept = 0;

  /// Throws Error{out_of_memory} that says how much was asked for and how much is free.
  [[nodiscard]] virtual DevicePtr allocate(std::uint64_t bytes) = 0;
  virtual void free(DevicePtr pointer) noexcept = 0;
  virtual void copy_in(DevicePtr destination, std::span<const std::byte> source, Stream stream) = 0;
  virtual void copy_out(std::span<std::byte> destination, DevicePtr source, Stream stream) = 0;
  /// A plain copy by the device's own means: what our kernels are measured against.
  virtual void copy(DevicePtr destination, DevicePtr source, std::uint64_t bytes, Stream stream) = 0;
  virtual void fill(DevicePtr destination, std::byte value, std::uint64_t bytes, Stream stream) = 0;
  /// Waits for everything on `stream`. Throws Error{device_failed} if a kernel faulted.
  virtual void synchronize(Stream stream) = 0;

  [[nodiscard]] virtual Stream create_stream() = 0;
  virtual void destroy_stream(Stream stream) noexcept = 0;
  /// Runs `work` (which enqueues on `stream`) `repeats` times and returns the milliseconds of each, by
  /// events.
  [[nodiscard]] virtual std::vector<float> time(Stream stream, std::uint32_t repeats,
                                                const std::function<void()>& work) = 0;
  /// Milliseconds of `work` (which enqueues on the stream that it is given) where it is too short to be timed
  /// by itself: a CUDA graph holds it `nodes` times, one after the other, and `repeats` runs of that are
  /// timed. A device without graphs times it as `time` does.
  [[nodiscard]] virtual std::vector<float> time_in_graph(std::uint32_t repeats, std::uint32_t nodes,
                                                         const std::function<void(Stream)>& work);

  /// Validates nothing that validate() covers; an error that the driver still reports is Error{illegal_spec}.
  [[nodiscard]] virtual EncodedTensorMap encode(const TensorMapSpec& spec, DevicePtr address) = 0;
  /// Makes a map that encode() made of `spec` one of the same tensor at `address`.
  virtual void set_address(EncodedTensorMap& map, const TensorMapSpec& spec, DevicePtr address);
  /// Throws Error{invalid_image} if the driver can make nothing of the cubin or it has no such entry,
  /// Error{out_of_memory}, and Error{device_failed} if it is the device that fails.
  [[nodiscard]] virtual std::unique_ptr<LoadedKernel> load(const Artifact& artifact) = 0;
};

/// Every GPU that the driver shows, Hopper or not. Empty without a driver; never throws for that.
[[nodiscard]] TMAJIT_API std::vector<DeviceInfo> list_gpus();
/// Why list_gpus() is empty: "no libcuda.so.1 on this machine", or empty if it is not.
[[nodiscard]] TMAJIT_API std::string why_no_gpu();
/// GPU `ordinal`. With a context already current on that device it is used, else the primary context.
/// Throws Error{unavailable} if there is no driver, no such GPU, or it is not compute capability 9.0.
[[nodiscard]] TMAJIT_API std::shared_ptr<Device> open_gpu(int ordinal = 0);

/// Device memory that frees itself.
class TMAJIT_API Buffer {
 public:
  Buffer() = default;
  Buffer(std::shared_ptr<Device> device, std::uint64_t bytes);
  ~Buffer();
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  [[nodiscard]] DevicePtr address() const noexcept { return address_; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  std::shared_ptr<Device> device_;
  DevicePtr address_ = 0;
  std::uint64_t bytes_ = 0;
};

TMAJIT_END
