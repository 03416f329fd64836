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

/// tmajit.TensorMap: a tensor of the caller, and the tensor map that describes it.
struct PythonTensorMap {
  nb::object tensor;
  TensorMapSpec spec;
};

/// The arguments of one launch of a kernel, converted from Python values.
struct KernelArguments {
  struct Map {
    std::size_t operand;
    TensorMapSpec spec;
  };
  /// One argument. Exactly one member is set.
  struct Value {
    std::vector<std::byte> bytes = {};  ///< of a number or a struct
    std::ptrdiff_t operand = -1;        ///< index into `operands`, for an array
    std::ptrdiff_t map = -1;            ///< index into `maps`, for a tensor map
  };
  std::vector<Operand> operands;
  std::vector<Map> maps;
  std::vector<Value> values;  ///< one for each parameter of the kernel

  /// Throws TypeError for a value that its parameter does not accept, and Error{invalid_argument} if the
  /// number of values is wrong.
  KernelArguments(const nb::tuple& given, const PtxKernel& kernel);

  [[nodiscard]] std::vector<Tensor> tensors() const;
  /// Launches a loaded kernel with these arguments.
  void launch(const LoadedKernel& kernel, Device& device, const LaunchShape& shape, Stream stream) const;
};

/// Converts a number, or a sequence of one to three numbers, to (x, y, z).
[[nodiscard]] std::array<std::uint32_t, 3> to_extent(nb::handle value, const char* name);

/// Binds the class TensorMap.
void bind_tensor_map(nb::module_& module);

}  // namespace tmajit::python
