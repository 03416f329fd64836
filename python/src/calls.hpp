#pragma once

#include "runtimes.hpp"
#include "tensors.hpp"

#include <tmajit/move.hpp>
#include <tmajit/operations.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tmajit::python {

using Operands = std::pmr::vector<Operand>;

/// Memory for the operands of most calls.
struct CallMemory {
  std::array<std::byte, 4096> bytes;  // NOLINT: what is read of it was written
  std::pmr::monotonic_buffer_resource resource{bytes.data(), bytes.size()};
};

/// The tensors of one call of an operation.
struct CallTensors {
  CallMemory memory;
  Operands destinations{&memory.resource};
  Operands sources{&memory.resource};

  /// Reads the sources and, unless `out` is None, the destinations: one, or a sequence of them.
  void read(const OperationInfo& operation, nb::handle sources_given, nb::handle out);
  /// The operand whose library and device results have. Throws Error{invalid_argument} without any.
  [[nodiscard]] const Operand& first(const OperationInfo& operation) const;
  /// All are on the device of `place`. Throws Error{invalid_argument} otherwise.
  void check_device(const OperationInfo& operation, const Operand& like) const;
  /// Makes the destinations, and returns them.
  [[nodiscard]] nb::list make(const Operand& like, std::span<const TensorView> views,
                              std::span<const DataType* const> types);
  [[nodiscard]] std::pmr::vector<Tensor> all();
};

/// The shapes and types of an operation's results.
struct Results {
  std::vector<TensorView> views;
  std::vector<const DataType*> types;
};

/// The results of an operation on `sources`. `type` is null for the type that follows from the sources.
[[nodiscard]] Results results_of(const OperationInfo& operation, std::span<const Operand> sources,
                                 const DataType* type, const Arguments& arguments);

/// Throws Error{unsupported} for a type that the operation cannot compute with.
void check_types(const OperationInfo& operation, std::span<const Operand> sources,
                 const Arguments& arguments);

/// The plan of a call. Releases the GIL while it plans and compiles.
[[nodiscard]] Plan make_plan(const OperationInfo& operation, Place& place,
                             std::span<const Operand> destinations, std::span<const Operand> sources,
                             const Arguments& arguments, std::string_view family = {});

/// Launches a plan on the call's tensors. Releases the GIL.
void launch(Place& place, const Plan& plan, CallTensors& tensors, Stream stream);

/// Runs an operation at once. The result is a list of new tensors; None if `out` is given.
[[nodiscard]] nb::object run(std::uint32_t operation, nb::handle sources, nb::handle out, nb::handle type,
                             nb::tuple values);

}  // namespace tmajit::python
