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

/// The arrays of a problem on a device, and the inputs in host memory, too.
class DeviceArrays {
 public:
  /// Inputs are the files' or made up from `seed`. Outputs hold a pattern, so that a kernel that forgets an
  /// element or goes beyond one is found out; those that are combined with hold made-up elements.
  DeviceArrays(std::shared_ptr<tmajit::Device> device, const Problem& problem, std::uint64_t seed);

  [[nodiscard]] Addresses addresses() const;
  [[nodiscard]] std::span<const tmajit::Buffer> inputs() const noexcept { return inputs_; }
  [[nodiscard]] std::span<const tmajit::Buffer> outputs() const noexcept { return outputs_; }
  /// Gives the outputs what they held at first.
  void clear_outputs() const;

  /// The memory of an output, from the device.
  [[nodiscard]] std::vector<std::byte> read_output(std::size_t index) const;
  /// Its elements in C order.
  void read_elements(std::size_t index, std::span<std::byte> elements) const;

  /// How each output differs from what a plain walk makes.
  [[nodiscard]] std::vector<Difference> compare_outputs() const;

 private:
  const Problem& problem_;
  std::shared_ptr<tmajit::Device> device_;
  std::vector<tmajit::Buffer> inputs_;
  std::vector<tmajit::Buffer> outputs_;
  std::vector<std::vector<std::byte>> made_up_;
  std::vector<MemoryImage> images_;             ///< images of the inputs
  std::vector<std::vector<std::byte>> before_;  ///< initial bytes of outputs, if they are no pattern
};

}  // namespace jitc
