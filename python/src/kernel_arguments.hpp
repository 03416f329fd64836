#pragma once

#include "tensors.hpp"

#include <tmajit/device.hpp>
#include <tmajit/launch/kernels.hpp>
#include <tmajit/own_launch.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tmajit::python {

/// tmajit.TensorMap: a tensor of the caller's, and how the copy engine walks it.
struct PythonTensorMap {
  nb::object tensor;
  TensorMapSpec spec;
};

/// The arguments of one launch of a kernel, read from Python's values.
struct KernelArguments {
  struct Map {
    std::size_t operand;
    TensorMapSpec spec;
  };
  /// One of the three.
  struct One {
    std::vector<std::byte> value = {};
    std::ptrdiff_t operand = -1;
    std::ptrdiff_t map = -1;
  };
  std::vector<Operand> operands;
  std::vector<Map> maps;
  std::vector<One> all;

  /// Throws TypeError that names the parameter for a value that it does not take, and Error{invalid_argument}
  /// for another number of values.
  KernelArguments(const nb::tuple& given, const PtxKernel& kernel);

  [[nodiscard]] std::vector<Tensor> tensors() const;
  /// Launches a loaded kernel with these arguments.
  void launch(const LoadedKernel& kernel, Device& device, const LaunchShape& shape, Stream stream) const;
};

/// A number, or up to three, as (x, y, z).
[[nodiscard]] std::array<std::uint32_t, 3> to_extent(nb::handle value, const char* name);

/// Binds the class TensorMap.
void bind_tensor_map(nb::module_& module);

}  // namespace tmajit::python
