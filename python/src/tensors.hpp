#pragma once

#include "dlpack.hpp"

#include <tmajit/tensor.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

namespace tmajit::python {

namespace nb = nanobind;

/// An element type as array libraries name it.
struct DataType {
  std::string_view name;  ///< "float32", "bfloat16"
  dlpack::DLDataType dlpack;
  ElementType element;
  bool moves_only = false;  ///< operations that compute have no such type
};

/// The type of a DLPack tensor. Throws Error{unsupported} that lists the types.
[[nodiscard]] const DataType& data_type(dlpack::DLDataType type);
/// The type of that name, of tmajit's names, or of an object that stands for a type, such as torch.bfloat16.
[[nodiscard]] const DataType& data_type(nb::handle type);
/// The type in which array libraries hold elements of `type`.
[[nodiscard]] const DataType& data_type(ElementType type);

/// An array library, as one type of its tensors shows it. Lives as long as the process.
struct Library {
  nb::object type;
  const dlpack::DLPackExchangeAPI* exchange = nullptr;  ///< null: the functions below
  /// An object of tmajit._libraries, with the functions read, empty and stream; the first may be None.
  nb::object functions;
  bool waits = false;  ///< launches on a GPU are waited for
  bool reads = false;  ///< `functions` has read; otherwise the object's __dlpack__ is called
};

/// A tensor of the caller, read for one call.
struct Operand {
  Tensor tensor;
  const DataType* type = nullptr;
  dlpack::DLDevice device{dlpack::cpu, 0};
  bool read_only = false;
  const Library* library = nullptr;
  nb::object owner{};  ///< keeps the memory, where the object itself does not

  /// Whether nothing but waiting tells the library that a launch has ended.
  [[nodiscard]] bool waits_for_launches() const noexcept {
    return library->exchange == nullptr && library->waits && on_gpu();
  }
  [[nodiscard]] bool on_gpu() const noexcept {
    return device.device_type == dlpack::cuda || device.device_type == dlpack::cuda_managed;
  }
};

/// Reads a tensor of any library. Throws TypeError for an object that is none, and Error{unsupported} for a
/// type, a device or a rank that tmajit does not have. `name` is what messages call it.
void read_operand(Operand& operand, nb::handle object, const char* name);
[[nodiscard]] inline Operand read_operand(nb::handle object, const char* name) {
  Operand operand;
  read_operand(operand, object, name);
  return operand;
}

/// A new tensor without values from the allocator of `like`'s library, on its device.
[[nodiscard]] nb::object allocate(const Operand& like, const DataType& type,
                                  std::span<const std::uint64_t> shape, Operand& result);

/// The caller's current stream on the operand's device.
[[nodiscard]] Stream current_stream(const Operand& operand);

/// The bytes of a view from its lowest to behind its highest element. Empty for a tensor without elements.
[[nodiscard]] std::span<std::byte> host_bytes(const Tensor& tensor);

}  // namespace tmajit::python
