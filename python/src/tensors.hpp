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

/// An element type of array libraries.
struct DataType {
  std::string_view name;  ///< "float32", "bfloat16"
  dlpack::DLDataType dlpack;
  ElementType element;
  bool moves_only = false;  ///< operations that compute do not support the type
};

/// The type of a DLPack tensor. Throws Error{unsupported}, which lists the supported types.
[[nodiscard]] const DataType& data_type(dlpack::DLDataType type);
/// The type that a str names, or that a type object such as torch.bfloat16 stands for.
[[nodiscard]] const DataType& data_type(nb::handle type);
/// The type that array libraries use for elements of `type`.
[[nodiscard]] const DataType& data_type(ElementType type);

/// Access to an array library, by one of its tensor types. Lives as long as the process.
struct Library {
  nb::object type;
  const dlpack::DLPackExchangeAPI* exchange = nullptr;  ///< null: `functions` are used
  /// The Library of _libraries.py, with the functions read, empty and stream; read may be None.
  nb::object functions;
  bool waits = false;  ///< each call waits until its launch on a GPU has ended
  bool reads = false;  ///< `functions.read` reads tensors; otherwise the object's __dlpack__ does
};

/// A tensor that the caller passed to one call.
struct Operand {
  Tensor tensor;
  const DataType* type = nullptr;
  dlpack::DLDevice device{dlpack::cpu, 0};
  bool read_only = false;
  const Library* library = nullptr;
  nb::object owner{};  ///< keeps the memory alive if the caller's object does not

  /// Whether each call must wait until its launch has ended, because the library's streams cannot wait.
  [[nodiscard]] bool waits_for_launches() const noexcept {
    return library->exchange == nullptr && library->waits && on_gpu();
  }
  [[nodiscard]] bool on_gpu() const noexcept {
    return device.device_type == dlpack::cuda || device.device_type == dlpack::cuda_managed;
  }
};

/// Reads a tensor of any library. Throws TypeError if the object is no tensor, and Error{unsupported} for an
/// unsupported type, device or rank. Messages call the tensor `name`.
void read_operand(Operand& operand, nb::handle object, const char* name);
[[nodiscard]] inline Operand read_operand(nb::handle object, const char* name) {
  Operand operand;
  read_operand(operand, object, name);
  return operand;
}

/// A dense, row-major operand without a library. Throws Error{unsupported} for too many dimensions. Messages
/// call the operand `name`.
[[nodiscard]] Operand dense_operand(const DataType& type, std::span<const std::int64_t> shape,
                                    std::uint64_t address, const char* name);

/// Allocates an uninitialised tensor of `like`'s library, on its device.
[[nodiscard]] nb::object allocate(const Operand& like, const DataType& type,
                                  std::span<const std::uint64_t> shape, Operand& result);

/// The caller's current stream on the operand's device.
[[nodiscard]] Stream current_stream(const Operand& operand);

/// The bytes from a tensor's lowest to its highest element. Empty for a tensor without elements and for a
/// number.
[[nodiscard]] std::span<std::byte> host_bytes(const Tensor& tensor);

}  // namespace tmajit::python
