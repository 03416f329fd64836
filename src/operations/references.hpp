#pragma once

#include <tmajit/operation.hpp>

#include <cstdint>
#include <vector>

namespace reference {

/// How a kernel's elements may differ from the reference's.
enum class Rounding : std::uint8_t {
  never,   ///< not at all
  once,    ///< values that were converted: in which NaN it is
  in_f32,  ///< sums of products in f32: in their last bits, too
  in_f64,  ///< sums of products in f64: in their last bits, too
};

/// How one operation is computed on the CPU, element by element, by its definition alone. It shares no code
/// with the kernels. Tensors of moves are in host memory: `address` is a host pointer.
struct OperationReference {
  void (*compute)(const tmajit::Move& move) = nullptr;
  /// Whether compute() understands a move's expressions; null: it has none.
  bool (*understands)(const tmajit::Move& move) = nullptr;
  /// Null: Rounding::never.
  Rounding (*rounding)(const tmajit::Move& move) = nullptr;
  /// How far each element of the destination, in row-major order, may lie from compute()'s; null or an empty
  /// list: `rounding` alone says.
  std::vector<double> (*allowed_errors)(const tmajit::Move& move) = nullptr;
};

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

/// Whether compute() understands the move: it evaluates no expression but those that `understands` names.
[[nodiscard]] bool understands(const tmajit::Move& move);
/// Computes a move in host memory.
void compute(const tmajit::Move& move);
[[nodiscard]] Rounding rounding_of(const tmajit::Move& move);
[[nodiscard]] std::vector<double> allowed_errors(const tmajit::Move& move);

/// Whether an expression is its source's value: "x", or empty.
[[nodiscard]] bool is_identity(const std::string& expression);

}  // namespace reference
