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

/// Memory on the stack, which suffices for the operands of most calls.
struct CallMemory {
  std::array<std::byte, 4096> bytes;  // NOLINT: uninitialised on purpose
  std::pmr::monotonic_buffer_resource resource{bytes.data(), bytes.size()};
};

/// The tensors of one call of an operation.
struct CallTensors {
  CallMemory memory;
  Operands destinations{&memory.resource};
  Operands sources{&memory.resource};
  nb::object source_owner{};       ///< keeps the sources of a list alive
  nb::object destination_owner{};  ///< keeps the destinations of a list alive

  /// Reads the sources, which are numbers where the operation takes them, and, unless `out` is None, the
  /// destinations. `out` is a tensor or a sequence.
  void read(const OperationInfo& operation, nb::handle sources_given, nb::handle out);
  /// The first source that is a tensor, else the first destination; null if there is neither.
  [[nodiscard]] const Operand* first_tensor() const noexcept;
  /// The tensor whose library and device the results get. Throws Error{invalid_argument} if there is none.
  [[nodiscard]] const Operand& first(const OperationInfo& operation) const;
  /// Throws Error{invalid_argument} unless all tensors are on the device of `like`.
  void check_device(const OperationInfo& operation, const Operand& like) const;
  /// Allocates the destinations, and returns them as Python objects.
  [[nodiscard]] nb::list make(const Operand& like, std::span<const TensorView> views,
                              std::span<const DataType* const> types);
  /// The destinations, then the sources.
  [[nodiscard]] std::pmr::vector<Tensor> all();
};

/// The shapes and types of an operation's results.
struct Results {
  std::vector<TensorView> views;
  std::vector<const DataType*> types;
};

/// The results of an operation on `sources`. If `type` is null, their types follow from the sources.
[[nodiscard]] Results results_of(const OperationInfo& operation, std::span<const Operand> sources,
                                 const DataType* type, const Arguments& arguments);

/// The (type, shape) of each result of an operation whose sources are dense and have these (type, shape).
[[nodiscard]] nb::list describe_results(std::uint32_t operation, const nb::sequence& sources, nb::handle type,
                                        const nb::tuple& values);

/// Throws Error{unsupported} if the operation cannot compute with the type of a source.
void check_types(const OperationInfo& operation, std::span<const Operand> sources,
                 const Arguments& arguments);

/// The operation on these tensors.
[[nodiscard]] Operation make_operation(const OperationInfo& operation, std::span<const Operand> destinations,
                                       std::span<const Operand> sources, const Arguments& arguments);

/// Launches a plan on the call's tensors. The caller must not hold the GIL.
void enqueue(Backend& backend, const Plan& plan, CallTensors& tensors, Stream stream);

/// Like enqueue(), for a caller that holds the GIL. It waits until the launch has ended if the streams of the
/// tensors' library cannot wait for it.
void launch(Backend& backend, const Plan& plan, CallTensors& tensors, Stream stream);

/// Plans and launches an operation. Returns a list of new tensors, or None if `out` is given.
[[nodiscard]] nb::object run(std::uint32_t operation, nb::handle sources, nb::handle out, nb::handle type,
                             const nb::tuple& values);

}  // namespace tmajit::python
