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
  int unused = 0;  ///< low bits

  [[nodiscard]] int least() const { return 2 - (1 << (exponent_bits - 1)); }  ///< exponent of normal values
  [[nodiscard]] std::uint64_t sign() const { return std::uint64_t{1} << (exponent_bits + mantissa_bits); }
  [[nodiscard]] std::uint64_t hidden() const { return std::uint64_t{1} << mantissa_bits; }
  [[nodiscard]] std::uint64_t infinity() const { return sign() - hidden(); }
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
  std::uint64_t m = 0;  ///< of a NaN: its mantissa field
  int e = 0;
};

Exact decode_float(const Layout& f, std::uint64_t bits, bool flushes) {
  bits >>= f.unused;
  Exact x{.negative = (bits & f.sign()) != 0};
  const std::uint64_t magnitude = bits & (f.sign() - 1);
  const std::uint64_t mantissa = magnitude & (f.hidden() - 1);
  if (magnitude > f.largest()) {
    x.kind = f.has_infinity && mantissa == 0 ? Exact::Kind::infinity : Exact::Kind::nan;
    x.m = mantissa;
    return x;
  }
  const auto exponent = static_cast<int>(magnitude >> f.mantissa_bits);
  x.m = exponent == 0 ? (flushes ? 0 : mantissa) : mantissa | f.hidden();
  x.e = f.least() + std::max(exponent - 1, 0) - f.mantissa_bits;
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

std::uint64_t to_integer(const Conversion& how, const Exact& x) {
  const int bits = bits_of(how.to);
  const bool from_float = is_float(how.from);
  if (x.kind == Exact::Kind::nan) {
    const bool wide = bits == 64 || how.from == ElementType::f64;
    return wide ? std::uint64_t{1} << (bits - 1) : 0;
  }
  const std::uint64_t most =
      is_signed(how.to) ? (std::uint64_t{1} << (bits - 1)) - 1 : ~std::uint64_t{0} >> (64 - bits);
  const std::uint64_t least = is_signed(how.to) ? most + 1 : 0;  // its magnitude
  const std::uint64_t end = x.negative ? least : most;
  std::uint64_t magnitude = end;
  if (x.kind == Exact::Kind::number && static_cast<int>(std::bit_width(x.m)) + x.e <= 64) {
    magnitude = shift_out(x.m, -x.e, x.negative, how.rounding);
    if (from_float || how.saturates) magnitude = std::min(magnitude, end);
  }
  return low_bits(x.negative ? 0 - magnitude : magnitude, how.to);
}

/// The bits of a NaN result, as on an H200 (docs/tma.md, "NaNs in cvt"). Conversions that only widen a
/// number, and those from or to f64, keep sign and payload; all others give one fixed NaN.
std::uint64_t nan_of(const Conversion& how, const Exact& x) {
  using enum ElementType;
  const Layout f = layout_of(how.to);
  const int added = f.mantissa_bits - layout_of(how.from).mantissa_bits;
  const std::uint64_t sign = x.negative ? f.sign() : 0;
  const std::uint64_t payload = f.infinity() | (added >= 0 ? x.m << added : x.m >> -added);
  if (how.to == tf32 && how.rounding == Rounding::away)
    return (sign | (payload - (how.ends_finite ? 1 : 0))) << f.unused;
  const bool moves =
      (how.to == how.from && (how.to == f32 || how.to == f64)) || (how.to == f32 && how.from == bf16);
  if (moves && !how.to_integral && !how.flushes) return sign | payload;
  if (how.to == f64 && how.flushes) return f.sign() - (std::uint64_t{1} << added);  // the fixed NaN of f32
  if (how.to == f64 || how.from == f64) return sign | payload | f.hidden() / 2;
  return (f.sign() - 1) << f.unused;
}

/// Whether a nonzero number, rounded as if exponents were unbounded, is smaller than all normal numbers.
bool is_tiny(const Layout& f, const Exact& x, Rounding rounding) {
  const int exponent = static_cast<int>(std::bit_width(x.m)) - 1 + x.e;
  if (exponent != f.least() - 1) return exponent < f.least();
  return shift_out(x.m, exponent - f.mantissa_bits - x.e, x.negative, rounding) < 2 * f.hidden();
}

std::uint64_t to_float(const Conversion& how, Exact x) {
  const Layout f = layout_of(how.to);
  if (x.kind == Exact::Kind::nan) return how.saturates ? 0 : nan_of(how, x);
  if (how.rectifies && x.negative) x = {};
  if (how.to_integral && x.kind == Exact::Kind::number && x.e < 0)
    x = {.negative = x.negative, .m = shift_out(x.m, -x.e, x.negative, how.rounding)};
  if (how.saturates && x.negative) x = {};
  const std::uint64_t sign = x.negative ? f.sign() : 0;
  const bool ends_finite = how.ends_finite || how.to == ElementType::e4m3 || how.to == ElementType::e5m2;
  const auto result = [&](std::uint64_t magnitude) {
    if (how.saturates)
      magnitude = std::min(magnitude, f.hidden() * static_cast<std::uint64_t>(1 - f.least()));
    return (sign | magnitude) << f.unused;
  };
  if (x.kind == Exact::Kind::infinity) return result(ends_finite ? f.largest() : f.infinity());
  if (x.m == 0 || (how.flushes && how.to == ElementType::f32 && is_tiny(f, x, how.rounding)))
    return result(0);
  const int exponent = std::max(static_cast<int>(std::bit_width(x.m)) - 1 + x.e, f.least());
  if (exponent <= 2 - f.least()) {  // in e4m3 the highest exponent field also holds finite numbers
    const std::uint64_t steps = shift_out(x.m, exponent - f.mantissa_bits - x.e, x.negative, how.rounding);
    // A carry out of the mantissa increments the exponent.
    const auto biased = static_cast<std::uint64_t>(exponent - f.least());
    const std::uint64_t magnitude = steps + biased * f.hidden();
    if (magnitude <= f.largest()) return result(magnitude);
  }
  const bool inwards = how.rounding == Rounding::zero || (how.rounding == Rounding::down && !x.negative) ||
                       (how.rounding == Rounding::up && x.negative);
  return result(inwards || ends_finite ? f.largest() : f.infinity());
}

}  // namespace

std::uint64_t convert(const Conversion& how, std::uint64_t bits) {
  const bool flushes = how.flushes && how.from == ElementType::f32 && how.to != ElementType::f16;
  const Exact x =
      is_float(how.from) ? decode_float(layout_of(how.from), bits, flushes) : decode_integer(how.from, bits);
  return is_float(how.to) ? to_float(how, x) : to_integer(how, x);
}

}  // namespace reference
