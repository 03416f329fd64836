#include "numbers/small_float.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace numbers {
namespace {

constexpr std::uint32_t magnitude_mask(const SmallFloat& f) {
  return (1U << (f.exponent_bits + f.mantissa_bits)) - 1;
}

constexpr std::uint32_t infinity_bits(const SmallFloat& f) {
  return ((1U << f.exponent_bits) - 1) << f.mantissa_bits;
}

constexpr std::uint32_t largest_finite(const SmallFloat& f) {
  return f.has_infinity ? infinity_bits(f) - 1 : magnitude_mask(f) - 1;
}

/// The exponent of the smallest normal number.
constexpr int min_exponent(const SmallFloat& f) {
  return 2 - (1 << (f.exponent_bits - 1));
}

}  // namespace

float decode(const SmallFloat& format, std::uint16_t bits) {
  const std::uint32_t magnitude = bits & magnitude_mask(format);
  const float sign = (bits >> (format.exponent_bits + format.mantissa_bits)) & 1U ? -1.0F : 1.0F;
  if (format.has_infinity && magnitude == infinity_bits(format)) {
    return sign * std::numeric_limits<float>::infinity();
  }
  if (magnitude > largest_finite(format)) return std::numeric_limits<float>::quiet_NaN();
  const auto exponent = static_cast<int>(magnitude >> format.mantissa_bits);
  const auto mantissa = magnitude & ((1U << format.mantissa_bits) - 1);
  const auto significand = exponent == 0 ? mantissa : mantissa | (1U << format.mantissa_bits);
  const int scale = min_exponent(format) + (exponent == 0 ? 0 : exponent - 1) - format.mantissa_bits;
  return sign * std::ldexp(static_cast<float>(significand), scale);
}

std::uint16_t encode(const SmallFloat& format, double value) {
  if (std::isnan(value)) return static_cast<std::uint16_t>(magnitude_mask(format));
  const auto sign = std::signbit(value) ? magnitude_mask(format) + 1 : 0U;
  const double magnitude = std::fabs(value);

  const auto end = format.saturates ? largest_finite(format) : infinity_bits(format);
  std::uint32_t bits = end;
  if (std::isfinite(value)) {
    // Scaling to units in the last place is exact in double, so that only nearbyint() rounds.
    const int least = min_exponent(format);
    const int exponent = magnitude == 0 ? least : std::max(std::ilogb(magnitude), least);
    const double units = std::nearbyint(std::ldexp(magnitude, format.mantissa_bits - exponent));
    // The hidden bit and a carry out of the mantissa both increment the exponent field, as intended.
    bits = (static_cast<std::uint32_t>(exponent - least) << format.mantissa_bits) +
           static_cast<std::uint32_t>(units);
    if (bits > largest_finite(format)) bits = end;
  }
  return static_cast<std::uint16_t>(sign | bits);
}

std::uint32_t round_to_tf32(std::uint32_t bits) {
  constexpr std::uint32_t dropped = 13;
  if ((bits & 0x7f800000U) == 0x7f800000U) return bits;
  const std::uint32_t odd = (bits >> dropped) & 1U;
  return (bits + (1U << (dropped - 1)) - 1 + odd) & ~((1U << dropped) - 1);
}

}  // namespace numbers
