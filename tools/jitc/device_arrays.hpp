#pragma once

#include "move_reference.hpp"
#include "problem.hpp"

#include <tmajit/device.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace jitc {

/// The arrays of an operation on a device, and copies of the inputs in host memory.
class DeviceArrays {
 public:
  /// Inputs come from the files or are generated from `seed`. Outputs hold a pattern, which shows missed
  /// elements and stray writes. Outputs that results are combined with hold the file of --into or generated
  /// elements. If `before` is not null, its first output is the first input.
  DeviceArrays(std::shared_ptr<tmajit::Device> device, const Problem& problem, std::uint64_t seed,
               const DeviceArrays* before = nullptr);

  [[nodiscard]] Addresses addresses() const;
  /// All inputs but the output of `before`.
  [[nodiscard]] std::span<const tmajit::Buffer> inputs() const noexcept { return inputs_; }
  [[nodiscard]] std::span<const tmajit::Buffer> outputs() const noexcept { return outputs_; }
  /// Restores the initial content of the outputs.
  void reset_outputs() const;

  /// Copies the memory of an output from the device.
  [[nodiscard]] std::vector<std::byte> read_output(std::size_t index) const;
  /// Copies the elements of an output from the device, in C order.
  void read_elements(std::size_t index, std::span<std::byte> elements) const;

  /// The memory of an input of inputs() on the device, as it was copied there.
  [[nodiscard]] std::span<const std::byte> input_image(std::size_t index) const {
    return images_[index].bytes;
  }
  /// The memory of an output before a run.
  [[nodiscard]] std::vector<std::byte> initial_output(std::size_t index) const;

 private:
  const Problem& problem_;
  std::shared_ptr<tmajit::Device> device_;
  const DeviceArrays* before_;
  std::vector<tmajit::Buffer> inputs_;
  std::vector<tmajit::Buffer> outputs_;
  std::vector<std::vector<std::byte>> generated_;        ///< elements of inputs without files
  std::vector<MemoryImage> images_;                      ///< bytes of each input's memory on the device
  std::vector<std::vector<std::byte>> initial_outputs_;  ///< bytes before a run; empty: the pattern
};

}  // namespace jitc
