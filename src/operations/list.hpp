#pragma once

#include "operations/operation_rules.hpp"

#include <tmajit/operation.hpp>

#include <span>
#include <vector>

TMAJIT_BEGIN

// One function for each operation, selected by the descriptor's type. A descriptor without one does not
// compile.

[[nodiscard]] const OperationRules& rules_of(const Copy&) noexcept;
[[nodiscard]] const OperationRules& rules_of(const Padding&) noexcept;
[[nodiscard]] const OperationRules& rules_of(const Map&) noexcept;
[[nodiscard]] const OperationRules& rules_of(const Stencil&) noexcept;
[[nodiscard]] const OperationRules& rules_of(const Reduction&) noexcept;
[[nodiscard]] const OperationRules& rules_of(const Scan&) noexcept;
[[nodiscard]] const OperationRules& rules_of(const Rowwise&) noexcept;
[[nodiscard]] const OperationRules& rules_of(const CastTranspose&) noexcept;
[[nodiscard]] const OperationRules& rules_of(const TopK&) noexcept;
[[nodiscard]] const OperationRules& rules_of(const Gather&) noexcept;
[[nodiscard]] const OperationRules& rules_of(const Scatter&) noexcept;
[[nodiscard]] const OperationRules& rules_of(const ScatterAdd&) noexcept;
[[nodiscard]] const OperationRules& rules_of(const MoePermute&) noexcept;
[[nodiscard]] const OperationRules& rules_of(const GatherSum&) noexcept;
[[nodiscard]] const OperationRules& rules_of(const ReduceInto&) noexcept;
[[nodiscard]] const OperationRules& rules_of(const Im2col&) noexcept;
[[nodiscard]] const OperationRules& rules_of(const Convolution&) noexcept;
[[nodiscard]] const OperationRules& rules_of(const Tiles&) noexcept;

/// Throws SpecError with every rule that the moves break. The rules are those of the operations, and:
/// addresses are multiples of the element size, each element is written once, no destination overlaps another
/// tensor.
void check_operation(std::span<const Move> moves);

/// The moves of each kernel, in order: one move, or all destinations of the same rows.
[[nodiscard]] std::vector<std::span<const Move>> kernels_of(std::span<const Move> moves);

/// Whether any of a kernel's moves writes an element. If none does, there is no kernel.
[[nodiscard]] bool writes_elements(std::span<const Move> moves) noexcept;

/// Whether every kernel that can do the moves of one kernel stores the same bits.
[[nodiscard]] bool same_bits(std::span<const Move> moves) noexcept;

/// The canonical problem of the moves of one kernel, which check_operation() has found legal. Where it helps,
/// several elements are merged into a wider one.
[[nodiscard]] Problem make_problem(std::span<const Move> moves);
[[nodiscard]] inline Problem make_problem(const Move& move) {
  return make_problem({&move, 1});
}

TMAJIT_END
