#pragma once

#include <tmajit/names.hpp>
#include <tmajit/version.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

TMAJIT_BEGIN

/// The type of one tensor element.
///
/// `cuTensorMapEncodeTiled` has no signed 8- and 16-bit types and no fp8: those travel as unsigned integers
/// of the same size. The `_ftz` forms and `tf32` change values on the way through the copy engine
/// (subnormals to zero, f32 rounded to 10 mantissa bits).
enum class ElementType : std::uint8_t {
  u8,
  i8,
  u16,
  i16,
  u32,
  i32,
  u64,
  i64,
  f16,
  bf16,
  f32,
  f32_ftz,
  f64,
  tf32,
  tf32_ftz,
  e4m3,
  e5m2,
};

inline constexpr std::array all_element_types{
    ElementType::u8,   ElementType::i8,      ElementType::u16, ElementType::i16,  ElementType::u32,
    ElementType::i32,  ElementType::u64,     ElementType::i64, ElementType::f16,  ElementType::bf16,
    ElementType::f32,  ElementType::f32_ftz, ElementType::f64, ElementType::tf32, ElementType::tf32_ftz,
    ElementType::e4m3, ElementType::e5m2,
};

/// Bytes of one element: 1, 2, 4 or 8. `type` must be one of the enumerators; validate() reports others.
[[nodiscard]] constexpr std::uint32_t size_of(ElementType type) noexcept {
  switch (type) {
    case ElementType::u8:
    case ElementType::i8:
    case ElementType::e4m3:
    case ElementType::e5m2: return 1;
    case ElementType::u16:
    case ElementType::i16:
    case ElementType::f16:
    case ElementType::bf16: return 2;
    case ElementType::u64:
    case ElementType::i64:
    case ElementType::f64: return 8;
    default: return 4;
  }
}

[[nodiscard]] constexpr bool is_known(ElementType type) noexcept {
  return static_cast<std::uint8_t>(type) < all_element_types.size();
}

/// Whether the type is a floating-point type, fp8 included.
[[nodiscard]] constexpr bool is_float(ElementType type) noexcept {
  return type >= ElementType::f16 && type <= ElementType::e5m2;
}

/// Whether a tensor map of this type may fill out-of-bounds elements with NaN. The driver allows it for its
/// own floating-point types; the map of an fp8 tensor has the type U8.
[[nodiscard]] constexpr bool can_fill_nan(ElementType type) noexcept {
  return is_float(type) && size_of(type) > 1;
}

/// "f32", "bf16", "e4m3" …
[[nodiscard]] TMAJIT_API std::string_view name(ElementType type) noexcept;

/// The type that `name` spells. NumPy's spellings ("float32", "int8") are taken too.
/// Throws Error{invalid_argument} that lists the legal names.
template <>
[[nodiscard]] TMAJIT_API ElementType parse<ElementType>(std::string_view name);

TMAJIT_END
