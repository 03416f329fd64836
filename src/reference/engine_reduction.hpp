#pragma once

#include <tmajit/element_type.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace reference {

/// The operations by which the copy engine combines elements (PTX ISA, "cp.reduce.async.bulk").
enum class EngineReduction : std::uint8_t { add, min, max, inc, dec, bit_and, bit_or, bit_xor };
inline constexpr std::array all_engine_reductions{
    EngineReduction::add, EngineReduction::min,     EngineReduction::max,    EngineReduction::inc,
    EngineReduction::dec, EngineReduction::bit_and, EngineReduction::bit_or, EngineReduction::bit_xor};
/// PTX's word: "add", "and".
[[nodiscard]] std::string_view name(EngineReduction operation) noexcept;

/// The destination of a reduction: a tensor, by its map; global memory; shared memory of a peer in the
/// cluster.
enum class ReductionTarget : std::uint8_t { tensor, global, peer };
/// Whether the ISA's tables list the reduction. They list bit-wise operations for .b32 and .b64: here, for
/// the integer types of that size. Through maps of i64 these operations are illegal on an H200 (docs/tma.md).
[[nodiscard]] bool engine_reduces(EngineReduction operation, tmajit::ElementType type,
                                  ReductionTarget target) noexcept;

/// Combines the element at `element` with the element at `operand`, as measured on an H200 (docs/tma.md).
/// Sums keep subnormals; sums of f16 and bf16 are rounded once. A NaN sum is 0x7fffffff in f32 and 0x7fff in
/// 16 bits; in f64 it has all bits of the operand's NaN or, if that is a number, of the element's. In min and
/// max a number wins over a NaN, and −0 is below +0.
void combine(EngineReduction operation, tmajit::ElementType type, std::byte* element,
             const std::byte* operand);

}  // namespace reference
