#pragma once

#include "spec/violations.hpp"

#include <tmajit/kernel_spec.hpp>

#include <cstdint>
#include <span>
#include <string>

TMAJIT_BEGIN

// The rules of a kernel spec, in groups. Every group stands for any value of every field.

/// Counts, unused bytes and the expression.
void check_counts(const KernelSpec& spec, Violations& violations);
void check_expression(const KernelSpec& spec, Violations& violations);
/// Each operand's tile, and that the operands go together.
void check_operands(const KernelSpec& spec, Violations& violations);
/// Shared memory, threads and transaction bytes.
void check_budget(const KernelSpec& spec, Violations& violations);
/// Views against the spec and against each other, the output last.
void check_views(const KernelSpec& spec, std::span<const TensorView> views, Violations& violations);

/// Whether family, rank and inputs are in range, so that operands can be looked at.
[[nodiscard]] bool has_operands(const KernelSpec& spec) noexcept;
/// "input 2" or "output".
[[nodiscard]] std::string operand_name(const KernelSpec& spec, std::uint32_t index);

TMAJIT_END
