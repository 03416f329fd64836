#pragma once

#include "driver/context.hpp"
#include "driver/scratch.hpp"
#include "spec/graph_memory.hpp"

#include <tmajit/device.hpp>

#include <memory>
#include <vector>

TMAJIT_BEGIN
namespace driver {

/// A GPU behind the driver. Its only mutable state is Scratch; the driver's calls are thread-safe.
class Gpu final : public Device,
                  private DeviceMemory,
                  private DeviceStreams,
                  private DeviceKernels,
                  private DeviceMaps,
                  private DeviceTiming,
                  public GraphMemory {
 public:
  /// Throws Error{device_failed}.
  Gpu(const Api& api, DeviceInfo info);

  [[nodiscard]] const DeviceInfo& info() const noexcept override { return info_; }
  [[nodiscard]] DeviceMemory& memory() noexcept override { return *this; }
  [[nodiscard]] DeviceStreams& streams() noexcept override { return *this; }
  [[nodiscard]] DeviceKernels& kernels() noexcept override { return *this; }
  [[nodiscard]] DeviceMaps& maps() noexcept override { return *this; }
  [[nodiscard]] DeviceTiming& timing() noexcept override { return *this; }
  [[nodiscard]] DevicePtr allocate_for_capture(Stream stream, std::span<const std::byte> bytes) override;

 private:
  [[nodiscard]] DevicePtr allocate(std::uint64_t bytes) override;
  void free(DevicePtr pointer) noexcept override;
  /// Copies follow the stream's order. With pinned host memory these functions return before the copy is
  /// done. With pageable memory they return when the host's part of the copy is finished.
  void copy_in(DevicePtr destination, std::span<const std::byte> source, Stream stream) override;
  void copy_out(std::span<std::byte> destination, DevicePtr source, Stream stream) override;
  void copy(DevicePtr destination, DevicePtr source, std::uint64_t bytes, Stream stream) override;
  void fill(DevicePtr destination, std::byte value, std::uint64_t bytes, Stream stream) override;
  [[nodiscard]] Stream create() override;
  void destroy(Stream stream) noexcept override;
  void synchronize(Stream stream) override;
  [[nodiscard]] bool is_captured(Stream stream) override;
  [[nodiscard]] std::vector<float> time(Stream stream, std::uint32_t repeats,
                                        const std::function<void()>& work) override;
  [[nodiscard]] std::vector<float> time_in_graph(std::uint32_t repeats, std::uint32_t nodes,
                                                 const std::function<void(Stream)>& work) override;
  [[nodiscard]] std::unique_ptr<StreamTimer> timer() override;
  [[nodiscard]] EncodedTensorMap encode(const TensorMapSpec& spec, DevicePtr address) override;
  void set_address(EncodedTensorMap& map, const TensorMapSpec& spec, DevicePtr address) override;
  /// Loads the artifact's entry by cuLibraryLoadData. Throws Error{invalid_image} if the driver refuses the
  /// cubin or if the cubin lacks the entry, Error{device_failed} if the GPU fails. Works while a stream of
  /// this thread is captured.
  [[nodiscard]] std::unique_ptr<LoadedKernel> load(const Artifact& artifact) override;

  DeviceInfo info_;
  // Shared with the loaded kernels.
  std::shared_ptr<const Context> context_;
  std::shared_ptr<Scratch> scratch_;
};

/// Lets the driver encode `spec` for the tensor at `address`. Only the driver checks the spec: if it refuses,
/// throws Error{illegal_spec} that lists every argument.
[[nodiscard]] EncodedTensorMap encode(const Api& api, const TensorMapSpec& spec, DevicePtr address);

/// list_gpus() and open_gpu() for a given driver.
[[nodiscard]] std::vector<DeviceInfo> list_gpus(const Api& api);
[[nodiscard]] std::shared_ptr<Device> open_gpu(const Api& api, int ordinal);

}  // namespace driver
TMAJIT_END
