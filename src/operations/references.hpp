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
  /// Computes a part of the destination, and writes nothing else.
  void (*compute)(const tmajit::Move& move, const Part& part) = nullptr;
  /// Whether compute() can evaluate a move's expressions; null: the operation has no expressions.
  bool (*understands)(const tmajit::Move& move) = nullptr;
  /// Whether elements are computed, so that any NaN matches any other; null: all bits are copied.
  bool (*makes_values)(const tmajit::Move& move) = nullptr;
  /// The allowed absolute error of each element of a part, in row-major order; null or an empty list: 0.
  std::vector<double> (*allowed_errors)(const tmajit::Move& move, const Part& part) = nullptr;
  /// Number of elements that compute() reads for a part; null: one of each source for each of its elements.
  std::uint64_t (*reads)(const tmajit::Move& move, const Part& part) = nullptr;
};

/// The `makes_values` of an operation that computes the elements of every move.
[[nodiscard]] inline bool computes(const tmajit::Move& /*move*/) {
  return true;
}

// One function for each operation, selected by the descriptor's type. A descriptor without one does not
// compile.

[[nodiscard]] const OperationReference& reference_of(const tmajit::Copy&) noexcept;
[[nodiscard]] const OperationReference& reference_of(const tmajit::Padding&) noexcept;
[[nodiscard]] const OperationReference& reference_of(const tmajit::Map&) noexcept;
[[nodiscard]] const OperationReference& reference_of(const tmajit::Stencil&) noexcept;
[[nodiscard]] const OperationReference& reference_of(const tmajit::Reduction&) noexcept;
[[nodiscard]] const OperationReference& reference_of(const tmajit::Scan&) noexcept;
[[nodiscard]] const OperationReference& reference_of(const tmajit::Rowwise&) noexcept;
[[nodiscard]] const OperationReference& reference_of(const tmajit::CastTranspose&) noexcept;
[[nodiscard]] const OperationReference& reference_of(const tmajit::TopK&) noexcept;
[[nodiscard]] const OperationReference& reference_of(const tmajit::Gather&) noexcept;
[[nodiscard]] const OperationReference& reference_of(const tmajit::Scatter&) noexcept;
[[nodiscard]] const OperationReference& reference_of(const tmajit::ScatterAdd&) noexcept;
[[nodiscard]] const OperationReference& reference_of(const tmajit::MoePermute&) noexcept;
[[nodiscard]] const OperationReference& reference_of(const tmajit::GatherSum&) noexcept;
[[nodiscard]] const OperationReference& reference_of(const tmajit::ReduceInto&) noexcept;
[[nodiscard]] const OperationReference& reference_of(const tmajit::Im2col&) noexcept;
[[nodiscard]] const OperationReference& reference_of(const tmajit::Convolution&) noexcept;
[[nodiscard]] const OperationReference& reference_of(const tmajit::Tiles&) noexcept;

/// Whether compute() can evaluate the move's expressions.
[[nodiscard]] bool understands(const tmajit::Move& move);
/// Computes a move, or a part of its destination, in host memory.
void compute(const tmajit::Move& move);
void compute(const tmajit::Move& move, const Part& part);
[[nodiscard]] bool makes_values(const tmajit::Move& move);
[[nodiscard]] std::vector<double> allowed_errors(const tmajit::Move& move, const Part& part);
[[nodiscard]] std::uint64_t reads_of(const tmajit::Move& move, const Part& part);

/// Whether an element that a kernel wrote, `found`, matches that of compute(), `wanted`. `allowed_error` is
/// the element's entry of allowed_errors(), or 0.
[[nodiscard]] bool is_right(tmajit::ElementType type, bool makes_values, double allowed_error,
                            const std::byte* wanted, const std::byte* found);

/// Whether an expression is its source's value: "x", or empty.
[[nodiscard]] bool is_identity(const std::string& expression);

}  // namespace reference
