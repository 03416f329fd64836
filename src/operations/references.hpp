#pragma once

#include "reference/walk.hpp"

#include <tmajit/operation.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace reference {

/// How one operation is computed on the CPU, element by element, by its definition alone. It shares no code
/// with the kernels. Tensors of moves are in host memory: `address` is a host pointer.
struct OperationReference {
  /// Computes that part of the destination, and writes nothing else.
  void (*compute)(const tmajit::Move& move, const Part& part) = nullptr;
  /// Whether compute() understands a move's expressions; null: it has none.
  bool (*understands)(const tmajit::Move& move) = nullptr;
  /// Whether elements are computed, so that which NaN one is does not count; null: they are moved, with every
  /// bit.
  bool (*makes_values)(const tmajit::Move& move) = nullptr;
  /// How far each element of that part, in row-major order, may lie from compute()'s; null or an empty
  /// list: not at all.
  std::vector<double> (*allowed_errors)(const tmajit::Move& move, const Part& part) = nullptr;
  /// How many elements compute() reads for that part; null: one of each source for each of its elements.
  std::uint64_t (*reads)(const tmajit::Move& move, const Part& part) = nullptr;
};

/// The `understands` of an operation whose reference computes every move.
[[nodiscard]] inline bool computes(const tmajit::Move& /*move*/) {
  return true;
}

// One function an operation, found by its descriptor. A descriptor without one does not compile.

[[nodiscard]] const OperationReference& reference_of(const tmajit::Copy&) noexcept;
[[nodiscard]] const OperationReference& reference_of(const tmajit::Padding&) noexcept;
[[nodiscard]] const OperationReference& reference_of(const tmajit::Map&) noexcept;
[[nodiscard]] const OperationReference& reference_of(const tmajit::Stencil&) noexcept;
[[nodiscard]] const OperationReference& reference_of(const tmajit::Reduction&) noexcept;
[[nodiscard]] const OperationReference& reference_of(const tmajit::Scan&) noexcept;
[[nodiscard]] const OperationReference& reference_of(const tmajit::ReduceInto&) noexcept;
[[nodiscard]] const OperationReference& reference_of(const tmajit::Im2col&) noexcept;
[[nodiscard]] const OperationReference& reference_of(const tmajit::Convolution&) noexcept;
[[nodiscard]] const OperationReference& reference_of(const tmajit::Tiles&) noexcept;

/// Whether compute() understands the move: it evaluates no expression but those that `understands` names.
[[nodiscard]] bool understands(const tmajit::Move& move);
/// Computes a move, or a part of its destination, in host memory.
void compute(const tmajit::Move& move);
void compute(const tmajit::Move& move, const Part& part);
[[nodiscard]] bool makes_values(const tmajit::Move& move);
[[nodiscard]] std::vector<double> allowed_errors(const tmajit::Move& move, const Part& part);
[[nodiscard]] std::uint64_t reads_of(const tmajit::Move& move, const Part& part);

/// Whether an element that a kernel wrote is as good as the one that compute() made. `allowed_error` is the
/// element's of allowed_errors(), or 0.
[[nodiscard]] bool is_right(tmajit::ElementType type, bool makes_values, double allowed_error,
                            const std::byte* wanted, const std::byte* found);

/// Whether an expression is its source's value: "x", or empty.
[[nodiscard]] bool is_identity(const std::string& expression);

}  // namespace reference
