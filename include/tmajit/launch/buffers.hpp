#pragma once

#include <tmajit/device.hpp>
#include <tmajit/launch/array_file.hpp>
#include <tmajit/launch/description.hpp>
#include <tmajit/lint.hpp>
#include <tmajit/own_launch.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

TMAJIT_BEGIN

/// A tensor map among a launch's parameters.
struct LaunchMap {
  std::size_t parameter = 0;  ///< number of the parameter, from 0
  std::uint64_t offset = 0;   ///< bytes from the parameter's beginning, in a struct
  TensorMapSpec spec;
};

/// The buffers of a description with their files open. Paths are relative to `folder`. Type and shape of a
/// buffer come from the description or from its file. Every function throws Error{invalid_argument} where the
/// description contradicts a file or itself, and what InputArray and OutputArray throw.
class LaunchBuffers {
 public:
  TMAJIT_API LaunchBuffers(const LaunchDescription& description, const std::filesystem::path& folder);

  /// Opens the output files, so that an error shows before the kernel runs.
  TMAJIT_API void open_outputs();
  /// Allocates every buffer and fills it.
  TMAJIT_API void upload(const std::shared_ptr<Device>& device);
  /// Writes the output files and returns their paths.
  [[nodiscard]] TMAJIT_API std::vector<std::string> download();

  /// The size of all buffers together.
  [[nodiscard]] TMAJIT_API std::uint64_t bytes() const;
  /// The tensor maps among a launch's parameters, whether they are legal or not. Dimensions beyond the fifth
  /// are left out.
  [[nodiscard]] TMAJIT_API std::vector<LaunchMap> tensor_maps(const KernelLaunch& launch) const;
  /// Facts for lint about these maps.
  [[nodiscard]] TMAJIT_API std::vector<MapFacts> map_facts(const KernelLaunch& launch) const;

  /// The bytes of each parameter, tensor maps encoded; upload() comes first. Throws SpecError with every rule
  /// that a tensor map breaks.
  [[nodiscard]] TMAJIT_API std::vector<std::vector<std::byte>> parameter_bytes(
      const KernelLaunch& launch) const;
  /// The same launch for Kernel::prepare(); its tensors are the buffers. upload() comes first.
  [[nodiscard]] TMAJIT_API OwnLaunch own_launch(const LaunchDescription& description) const;

 private:
  struct Entry {
    std::string path;  ///< in the description: "$.buffers.a"
    TensorView view;
    BufferDescription description;
    std::optional<InputArray> in;
    std::unique_ptr<OutputArray> out;
    std::span<std::byte> out_data;
    Buffer memory;
  };

  /// A map as it is described, legal or not. Dimensions beyond the fifth are left out.
  [[nodiscard]] TensorMapSpec tensor_map(const TensorMapParameter& map, const std::string& path) const;
  [[nodiscard]] const Entry& find(const std::string& name) const;
  /// Throws where the offset is beyond the buffer's end.
  [[nodiscard]] AddressArgument address(const PointerParameter& pointer, const std::string& path) const;
  [[nodiscard]] DevicePtr place(const AddressArgument& address) const;
  [[nodiscard]] MapArgument map_argument(const TensorMapParameter& map, const std::string& path) const;
  [[nodiscard]] ValueArgument structure(const StructParameter& parameter, const std::string& path) const;
  [[nodiscard]] std::vector<KernelArgument> arguments(const KernelLaunch& launch) const;

  std::filesystem::path folder_;
  std::shared_ptr<Device> device_;
  std::vector<Entry> entries_;
};

/// The launches of a description, with their buffers and parameters on a device.
class DescribedLaunch {
 public:
  /// Reads the input files, which are relative to the folder of `file`, the launch file; fills the buffers
  /// and opens the output files. Throws what LaunchBuffers throws, with the name of `file`.
  TMAJIT_API DescribedLaunch(const LaunchDescription& description, std::filesystem::path file,
                             const std::shared_ptr<Device>& device);

  /// Launches `kernels`, one for each of LaunchDescription::launches(): pointers to a Kernel or LoadedKernel.
  template <class Kernels>
  void operator()(const Kernels& kernels, Stream stream = nullptr) const {
    for (std::size_t i = 0; i < steps_.size(); ++i)
      kernels[i]->launch(steps_[i].shape, steps_[i].parameters, stream);
  }
  /// The shape of the last launch.
  [[nodiscard]] const LaunchShape& shape() const noexcept { return steps_.back().shape; }
  [[nodiscard]] LaunchBuffers& buffers() noexcept { return buffers_; }

 private:
  struct Step {
    LaunchShape shape;
    std::vector<std::vector<std::byte>> bytes;
    std::vector<void*> parameters;  ///< pointers into `bytes`
  };

  LaunchBuffers buffers_;
  std::vector<Step> steps_;
};

TMAJIT_END
