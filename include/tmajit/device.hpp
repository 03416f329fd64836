#pragma once

#include <tmajit/device_kernels.hpp>
#include <tmajit/device_maps.hpp>
#include <tmajit/device_memory.hpp>
#include <tmajit/device_streams.hpp>
#include <tmajit/device_timing.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

TMAJIT_BEGIN

struct DeviceInfo {
  std::string name;  ///< "NVIDIA H200"
  int ordinal = -1;  ///< the driver's device number; −1 for the simulator
  int compute_major = 0;
  int compute_minor = 0;
  std::uint32_t sm_count = 0;
  std::uint32_t max_shared_bytes = 0;  ///< most shared memory of a CTA, by the driver's opt-in limit
  std::uint64_t memory_bytes = 0;
  std::uint64_t l2_bytes = 0;
};

/// A device that runs kernels: a GPU behind the driver, or the simulator. Knows nothing of kernel families.
/// Its functions are split into five interfaces, which live as long as the device does. Each documents its
/// thread safety.
class TMAJIT_API Device {
 public:
  virtual ~Device();
  [[nodiscard]] virtual const DeviceInfo& info() const noexcept = 0;
  [[nodiscard]] virtual DeviceMemory& memory() noexcept = 0;    ///< allocations, copies
  [[nodiscard]] virtual DeviceStreams& streams() noexcept = 0;  ///< streams, and waiting for them
  [[nodiscard]] virtual DeviceKernels& kernels() noexcept = 0;  ///< loads kernels
  [[nodiscard]] virtual DeviceMaps& maps() noexcept = 0;        ///< encodes tensor maps
  [[nodiscard]] virtual DeviceTiming& timing() noexcept = 0;    ///< measures work
};

/// Every GPU that the driver shows, Hopper or not. Empty, without an error, if there is no driver.
[[nodiscard]] TMAJIT_API std::vector<DeviceInfo> list_gpus();
/// Why list_gpus() is empty: "no libcuda.so.1 on this machine". An empty string if there is a GPU.
[[nodiscard]] TMAJIT_API std::string why_no_gpu();
/// Opens GPU `ordinal`. Uses the current context if there is one on that device, else the primary context.
/// Throws Error{unavailable} if there is no driver, no such GPU, or it is not compute capability 9.0.
[[nodiscard]] TMAJIT_API std::shared_ptr<Device> open_gpu(int ordinal = 0);

/// Device memory that frees itself.
class TMAJIT_API Buffer {
 public:
  Buffer() = default;
  /// Throws Error{unavailable} if `device` is null, and the errors of DeviceMemory::allocate().
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
