#pragma once

#include "operations/operation_rules.hpp"

#include <tmajit/operation.hpp>

#include <span>

TMAJIT_BEGIN

// One function an operation, found by its descriptor. A descriptor without one does not compile.

[[nodiscard]] const OperationRules& rules_of(const Copy&) noexcept;
[[nodiscard]] const OperationRules& rules_of(const Padding&) noexcept;
[[nodiscard]] const OperationRules& rules_of(const Map&) noexcept;
[[nodiscard]] const OperationRules& rules_of(const Stencil&) noexcept;
[[nodiscard]] const OperationRules& rules_of(const Reduction&) noexcept;
[[nodiscard]] const OperationRules& rules_of(const Scan&) noexcept;
[[nodiscard]] const OperationRules& rules_of(const ReduceInto&) noexcept;
[[nodiscard]] const OperationRules& rules_of(const Im2col&) noexcept;
[[nodiscard]] const OperationRules& rules_of(const Convolution&) noexcept;
[[nodiscard]] const OperationRules& rules_of(const Tiles&) noexcept;

/// Throws SpecError with every rule that the moves break: those of their operations, addresses that are
/// multiples of an element, every element written once, and nothing written where something else is read or
/// written.
void check_operation(std::span<const Move> moves);

/// The problem of a move that check_operation() has found legal, in the widest elements that help.
[[nodiscard]] Problem make_problem(const Move& move);

TMAJIT_END
