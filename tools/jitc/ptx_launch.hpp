#pragma once

#include "launch_description.hpp"
#include "npy.hpp"

#include <tmajit/device.hpp>
#include <tmajit/own_launch.hpp>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace jitc {

[[nodiscard]] tmajit::LaunchShape shape_of(const KernelLaunch& launch);

/// The buffers of a description with their files open; paths are relative to `folder`. The buffers get a type
/// and a shape of their own. Throws Error{invalid_argument} where a file contradicts the description, and
/// what InputArray throws.
class LaunchBuffers {
 public:
  LaunchBuffers(const LaunchDescription& description, const std::filesystem::path& folder);

  /// Opens the output files, so that one that cannot be written is found out before the kernel runs.
  void open_outputs();
  /// Allocates every buffer and fills it.
  void upload(const std::shared_ptr<tmajit::Device>& device);
  /// Writes the output files and returns their paths.
  [[nodiscard]] std::vector<std::string> download();

  /// Of all buffers.
  [[nodiscard]] std::uint64_t bytes() const;
  /// A map as it is described, legal or not; of more than five dimensions the first five.
  [[nodiscard]] tmajit::TensorMapSpec tensor_map(const TensorMapParameter& map,
                                                 const std::string& path) const;

  /// The bytes of each parameter, tensor maps encoded; upload() comes first. Throws SpecError with every rule
  /// that a tensor map breaks.
  [[nodiscard]] std::vector<std::vector<std::byte>> parameter_bytes(const KernelLaunch& launch) const;
  /// The same launch for Kernel::prepare(); its tensors are the buffers. upload() comes first.
  [[nodiscard]] tmajit::OwnLaunch own_launch(const LaunchDescription& description) const;

 private:
  struct Entry {
    std::string path;  ///< in the description: "$.buffers.a"
    tmajit::TensorView view;
    BufferDescription description;
    std::optional<InputArray> in;
    std::unique_ptr<OutputArray> out;
    std::span<std::byte> out_data;
    tmajit::Buffer memory;
  };

  [[nodiscard]] const Entry& find(const std::string& name) const;
  /// Of buffers by their numbers; throws where the offset is beyond the buffer's end.
  [[nodiscard]] tmajit::AddressArgument address(const PointerParameter& pointer,
                                                const std::string& path) const;
  [[nodiscard]] tmajit::DevicePtr place(const tmajit::AddressArgument& address) const;
  [[nodiscard]] tmajit::MapArgument map_argument(const TensorMapParameter& map,
                                                 const std::string& path) const;
  [[nodiscard]] tmajit::ValueArgument structure(const StructParameter& parameter,
                                                const std::string& path) const;
  [[nodiscard]] std::vector<tmajit::KernelArgument> arguments(const KernelLaunch& launch) const;

  std::filesystem::path folder_;
  std::shared_ptr<tmajit::Device> device_;
  std::vector<Entry> entries_;
};

}  // namespace jitc
