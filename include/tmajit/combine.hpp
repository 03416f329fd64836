#pragma once

#include <tmajit/element_type.hpp>
#include <tmajit/names.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

TMAJIT_BEGIN

/// How the copy engine combines an element in global memory with a new one: the PTX ISA's
/// "cp.reduce.async.bulk.tensor".
enum class CombineOp : std::uint8_t {
  add,      ///< integers wrap; subnormals are kept, except in f32 if threads combine instead of the engine
  min,      ///< the lesser; NaN is ignored unless both are NaN
  max,      ///< the greater; NaN is ignored unless both are NaN
  inc,      ///< 0 where the old element is at least the new one, else the old one plus 1
  dec,      ///< the new one where the old one is 0 or above the new one, else the old one minus 1
  bit_and,  ///< bits set in both
  bit_or,   ///< bits set in either
  bit_xor,  ///< bits set in exactly one
};
inline constexpr std::array all_combine_ops{CombineOp::add,    CombineOp::min,    CombineOp::max,
                                            CombineOp::inc,    CombineOp::dec,    CombineOp::bit_and,
                                            CombineOp::bit_or, CombineOp::bit_xor};
/// "add", "min", "max", "inc", "dec", "and", "or", "xor".
[[nodiscard]] TMAJIT_API std::string_view name(CombineOp op) noexcept;
/// The inverse of name(); throws Error{invalid_argument} that lists the legal names.
template <>
[[nodiscard]] TMAJIT_API CombineOp parse<CombineOp>(std::string_view name);

/// The type of the tensor map through which the engine combines elements of `type` by `op`: the type itself,
/// or a type that gives the same bits. So i64 is added as u64, and bitwise operations on elements of four or
/// eight bytes are done as u32 or u64. Returns nullopt if the engine does not support the combination. The
/// engine adds integers of four and eight bytes, f32, f16 and bf16; takes min and max of those integers, f16
/// and bf16; does inc and dec of u32; and combines the bits of elements of four and eight bytes.
[[nodiscard]] TMAJIT_API std::optional<ElementType> combined_as(CombineOp op, ElementType type) noexcept;

TMAJIT_END
