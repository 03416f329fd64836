#pragma once

#include <tmajit/element_type.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <variant>

namespace reference {

/// An element in the type that expressions compute it in: 16- and 8-bit floats and tf32 as float.
using Scalar = std::variant<std::uint8_t, std::int8_t, std::uint16_t, std::int16_t, std::uint32_t,
                            std::int32_t, std::uint64_t, std::int64_t, float, double>;

/// The result of an expression as a Scalar: bool becomes int, `long long` the 64-bit type.
template <typename T>
[[nodiscard]] Scalar scalar(T value) {
  if constexpr (std::is_same_v<T, bool>) {
    return static_cast<std::int32_t>(value);
  } else if constexpr (std::is_integral_v<T> && sizeof(T) == 8) {
    if constexpr (std::is_signed_v<T>)
      return static_cast<std::int64_t>(value);
    else
      return static_cast<std::uint64_t>(value);
  } else {
    return value;
  }
}

/// The value as double, rounded if it is an integer of more than 53 bits.
[[nodiscard]] double as_double(const Scalar& value);
/// The value in the type in which exact sums accumulate: double for floating point, 64 bits for integers.
[[nodiscard]] Scalar widened(const Scalar& value);

[[nodiscard]] bool is_nan(const Scalar& value);

/// a + b in C++'s common type; integers wrap, as they do on the device.
[[nodiscard]] Scalar add(const Scalar& a, const Scalar& b);
/// a − b in C++'s common type; integers wrap.
[[nodiscard]] Scalar subtract(const Scalar& a, const Scalar& b);
/// a · b in C++'s common type; integers wrap.
[[nodiscard]] Scalar multiply(const Scalar& a, const Scalar& b);

/// Reads the element at `bytes` (little-endian, unaligned).
[[nodiscard]] Scalar decode(tmajit::ElementType type, const std::byte* bytes);

/// Converts `value` to `type` as kernels do, and writes it to `bytes`. Integer to integer wraps. Float to
/// integer truncates and saturates; NaN gives 0. Conversions to a float round to nearest even, through f32 if
/// the float is shorter or tf32. fp8 saturates to its largest finite value.
void encode(tmajit::ElementType type, const Scalar& value, std::byte* bytes);

/// Converts an element (`size_of(type)` bytes) as a load through a tensor map of `type` does: tf32 and
/// tf32_ftz are rounded; all other types, f32_ftz included, are unchanged.
void convert_on_load(tmajit::ElementType type, std::byte* element);

/// Whether two elements have equal bits, or both are NaN. The bits of a NaN result differ between processors.
[[nodiscard]] bool same_value(tmajit::ElementType type, const std::byte* a, const std::byte* b);

/// An element's bits, "0x3f800000".
[[nodiscard]] std::string bits_text(tmajit::ElementType type, const std::byte* element);

}  // namespace reference
