#include "reference/conversion.hpp"

#include <algorithm>
#include <bit>

namespace reference {

using tmajit::ElementType;
using Rounding = Conversion::Rounding;

namespace {

/// The fields of a floating-point format.
struct Layout {
  int exponent_bits;
  int mantissa_bits;
  bool has_infinity = true;
  int unused = 0;  ///< number of low bits without meaning

  /// The smallest exponent of normal values.
  [[nodiscard]] int min_exponent() const { return 2 - (1 << (exponent_bits - 1)); }
  [[nodiscard]] std::uint64_t sign() const { return std::uint64_t{1} << (exponent_bits + mantissa_bits); }
  [[nodiscard]] std::uint64_t hidden_bit() const { return std::uint64_t{1} << mantissa_bits; }
  [[nodiscard]] std::uint64_t infinity() const { return sign() - hidden_bit(); }
  [[nodiscard]] std::uint64_t largest() const { return has_infinity ? infinity() - 1 : sign() - 2; }
};

Layout layout_of(ElementType type) {
  switch (type) {
    case ElementType::e4m3: return {4, 3, false};
    case ElementType::e5m2: return {5, 2};
    case ElementType::f16: return {5, 10};
    case ElementType::bf16: return {8, 7};
    case ElementType::tf32: return {8, 10, true, 13};
    case ElementType::f32: return {8, 23};
    default: return {11, 52};
  }
}

int bits_of(ElementType type) {
  return 8 * static_cast<int>(tmajit::size_of(type));
}

bool is_signed(ElementType type) {
  return type == ElementType::i8 || type == ElementType::i16 || type == ElementType::i32 ||
         type == ElementType::i64;
}

/// The number (-1)^negative · m · 2^e, an infinity, or a NaN.
struct Exact {
  enum class Kind : std::uint8_t { number, infinity, nan };
  Kind kind = Kind::number;
  bool negative = false;
  std::uint64_t m = 0;  ///< for a NaN: its mantissa field
  int e = 0;
};

Exact decode_float(const Layout& format, std::uint64_t bits, bool flushes) {
  bits >>= format.unused;
  Exact x{.negative = (bits & format.sign()) != 0};
  const std::uint64_t magnitude = bits & (format.sign() - 1);
  const std::uint64_t mantissa = magnitude & (format.hidden_bit() - 1);
  if (magnitude > format.largest()) {
    x.kind = format.has_infinity && mantissa == 0 ? Exact::Kind::infinity : Exact::Kind::nan;
    x.m = mantissa;
    return x;
  }
  const auto exponent = static_cast<int>(magnitude >> format.mantissa_bits);
  x.m = exponent == 0 ? (flushes ? 0 : mantissa) : mantissa | format.hidden_bit();
  x.e = format.min_exponent() + std::max(exponent - 1, 0) - format.mantissa_bits;
  return x;
}

Exact decode_integer(ElementType type, std::uint64_t bits) {
  const int unused = 64 - bits_of(type);
  if (!is_signed(type)) return {.m = bits << unused >> unused};
  const std::int64_t value = static_cast<std::int64_t>(bits << unused) >> unused;
  const auto low = static_cast<std::uint64_t>(value);
  return {.negative = value < 0, .m = value < 0 ? 0 - low : low};
}

/// m / 2^places, rounded to an integer.
std::uint64_t shift_out(std::uint64_t m, int places, bool negative, Rounding rounding) {
  if (places <= 0) return m << -places;
  const std::uint64_t whole = places < 64 ? m >> places : 0;
  const std::uint64_t rest = places < 64 ? m - (whole << places) : m;
  if (rest == 0) return whole;
  const auto beyond_half = [&] {
    if (places > 64) return -1;
    const std::uint64_t half = std::uint64_t{1} << (places - 1);
    return rest > half ? 1 : rest == half ? 0 : -1;
  };
  switch (rounding) {
    case Rounding::zero: return whole;
    case Rounding::down: return whole + (negative ? 1 : 0);
    case Rounding::up: return whole + (negative ? 0 : 1);
    case Rounding::away: return whole + (beyond_half() >= 0 ? 1 : 0);
    default: return whole + (beyond_half() + static_cast<int>(whole & 1) > 0 ? 1 : 0);
  }
}

std::uint64_t low_bits(std::uint64_t value, ElementType type) {
  const int unused = 64 - bits_of(type);
  return value << unused >> unused;
}

std::uint64_t to_integer(const Conversion& conversion, const Exact& x) {
  const int bits = bits_of(conversion.to);
  const bool from_float = is_float(conversion.from);
  if (x.kind == Exact::Kind::nan) {
    // Measured: 0 if both types have at most 32 bits, else only the highest bit.
    const bool has_64_bits = bits == 64 || conversion.from == ElementType::f64;
    return has_64_bits ? std::uint64_t{1} << (bits - 1) : 0;
  }
  const std::uint64_t most =
      is_signed(conversion.to) ? (std::uint64_t{1} << (bits - 1)) - 1 : ~std::uint64_t{0} >> (64 - bits);
  const std::uint64_t least = is_signed(conversion.to) ? most + 1 : 0;  // its magnitude
  const std::uint64_t end = x.negative ? least : most;
  std::uint64_t magnitude = end;
  if (x.kind == Exact::Kind::number && static_cast<int>(std::bit_width(x.m)) + x.e <= 64) {
    magnitude = shift_out(x.m, -x.e, x.negative, conversion.rounding);
    if (from_float || conversion.saturates) magnitude = std::min(magnitude, end);
  }
  return low_bits(x.negative ? 0 - magnitude : magnitude, conversion.to);
}

/// The bits of a NaN result, as on an H200 (docs/tma.md, "NaNs in cvt"). Conversions that only widen a
/// number, and those from or to f64, keep sign and payload; all others give one fixed NaN.
std::uint64_t nan_of(const Conversion& conversion, const Exact& x) {
  using enum ElementType;
  const Layout format = layout_of(conversion.to);
  const int added = format.mantissa_bits - layout_of(conversion.from).mantissa_bits;
  const std::uint64_t sign = x.negative ? format.sign() : 0;
  const std::uint64_t payload = format.infinity() | (added >= 0 ? x.m << added : x.m >> -added);
  if (conversion.to == tf32 && conversion.rounding == Rounding::away)
    return (sign | (payload - (conversion.ends_finite ? 1 : 0))) << format.unused;
  const bool keeps_bits =
      (conversion.to == conversion.from && (conversion.to == f32 || conversion.to == f64)) ||
      (conversion.to == f32 && conversion.from == bf16);
  if (keeps_bits && !conversion.to_integral && !conversion.flushes) return sign | payload;
  if (conversion.to == f64 && conversion.flushes)
    return format.sign() - (std::uint64_t{1} << added);  // the fixed NaN of f32
  if (conversion.to == f64 || conversion.from == f64) return sign | payload | format.hidden_bit() / 2;
  return (format.sign() - 1) << format.unused;
}

/// Whether a nonzero number, rounded as if exponents were unbounded, is smaller than all normal numbers.
bool is_tiny(const Layout& format, const Exact& x, Rounding rounding) {
  const int exponent = static_cast<int>(std::bit_width(x.m)) - 1 + x.e;
  if (exponent != format.min_exponent() - 1) return exponent < format.min_exponent();
  return shift_out(x.m, exponent - format.mantissa_bits - x.e, x.negative, rounding) <
         2 * format.hidden_bit();
}

std::uint64_t to_float(const Conversion& conversion, Exact x) {
  const Layout format = layout_of(conversion.to);
  if (x.kind == Exact::Kind::nan) return conversion.saturates ? 0 : nan_of(conversion, x);
  if (conversion.rectifies && x.negative) x = {};
  if (conversion.to_integral && x.kind == Exact::Kind::number && x.e < 0)
    x = {.negative = x.negative, .m = shift_out(x.m, -x.e, x.negative, conversion.rounding)};
  if (conversion.saturates && x.negative) x = {};
  const std::uint64_t sign = x.negative ? format.sign() : 0;
  const bool ends_finite =
      conversion.ends_finite || conversion.to == ElementType::e4m3 || conversion.to == ElementType::e5m2;
  const auto result = [&](std::uint64_t magnitude) {
    if (conversion.saturates)
      magnitude =
          std::min(magnitude, format.hidden_bit() * static_cast<std::uint64_t>(1 - format.min_exponent()));
    return (sign | magnitude) << format.unused;
  };
  if (x.kind == Exact::Kind::infinity) return result(ends_finite ? format.largest() : format.infinity());
  if (x.m == 0 ||
      (conversion.flushes && conversion.to == ElementType::f32 && is_tiny(format, x, conversion.rounding)))
    return result(0);
  const int exponent = std::max(static_cast<int>(std::bit_width(x.m)) - 1 + x.e, format.min_exponent());
  // In e4m3 the highest exponent field also holds finite numbers.
  if (exponent <= 2 - format.min_exponent()) {
    const std::uint64_t steps =
        shift_out(x.m, exponent - format.mantissa_bits - x.e, x.negative, conversion.rounding);
    // A carry out of the mantissa increments the exponent.
    const auto biased = static_cast<std::uint64_t>(exponent - format.min_exponent());
    const std::uint64_t magnitude = steps + biased * format.hidden_bit();
    if (magnitude <= format.largest()) return result(magnitude);
  }
  const bool inwards = conversion.rounding == Rounding::zero ||
                       (conversion.rounding == Rounding::down && !x.negative) ||
                       (conversion.rounding == Rounding::up && x.negative);
  return result(inwards || ends_finite ? format.largest() : format.infinity());
}

}  // namespace

std::uint64_t convert(const Conversion& conversion, std::uint64_t bits) {
  const bool flushes =
      conversion.flushes && conversion.from == ElementType::f32 && conversion.to != ElementType::f16;
  const Exact x = is_float(conversion.from) ? decode_float(layout_of(conversion.from), bits, flushes)
                                            : decode_integer(conversion.from, bits);
  return is_float(conversion.to) ? to_float(conversion, x) : to_integer(conversion, x);
}

}  // namespace reference
