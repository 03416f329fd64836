#pragma once

#include <tmajit/runtime.hpp>

#include <cstdint>
#include <span>

TMAJIT_BEGIN

/// Whether operand `index` (inputs, then the output) of a kernel goes through a tensor map; else the kernel
/// takes its address.
[[nodiscard]] bool has_map(const KernelSpec& spec, std::uint32_t index) noexcept;

/// Everything that must hold of operands before a kernel may be launched on them: their number, the rules of
/// the spec and of each tensor map with its address, alignment, overlap.
/// Throws SpecError with every broken rule, or Error{invalid_argument}.
void require_operands(const KernelSpec& spec, std::span<const Operand> inputs, const Operand& output);

TMAJIT_END
