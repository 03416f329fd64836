#include "values.hpp"

#include <tmajit/error.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include <spdlog/fmt/fmt.h>

namespace movement {
namespace {

using tmajit::ElementType;

/// The value of an e4m3 byte without its sign: OCP 8-bit floating point, 4 bits of exponent, bias 7.
double e4m3_magnitude(unsigned code) {
  const unsigned exponent = code >> 3;
  const unsigned mantissa = code & 7;
  return exponent == 0 ? std::ldexp(mantissa, -9) : std::ldexp(8 + mantissa, static_cast<int>(exponent) - 10);
}

std::uint8_t encode_e4m3(double value) {
  constexpr unsigned largest = 0x7E;  // 448; 0x7F is NaN
  const double magnitude = std::fabs(value);
  unsigned code = 0;
  while (code < largest && e4m3_magnitude(code + 1) <= magnitude) ++code;
  if (code < largest) {
    const double below = magnitude - e4m3_magnitude(code);
    const double above = e4m3_magnitude(code + 1) - magnitude;
    if (above < below || (above == below && code % 2 == 1)) ++code;
  }
  return static_cast<std::uint8_t>(code | (std::signbit(value) ? 0x80U : 0U));
}

std::uint16_t encode_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (std::isnan(value)) return 0x7FFF;
  return static_cast<std::uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

template <class T>
T load(const std::byte* element) {
  T value;
  std::memcpy(&value, element, sizeof(T));
  return value;
}

template <class T>
void store(std::byte* element, T value) {
  std::memcpy(element, &value, sizeof(T));
}

[[noreturn]] void refuse(ElementType type) {
  throw tmajit::Error(tmajit::ErrorCode::unsupported,
                      fmt::format("the benchmark has no values of type {}", tmajit::name(type)));
}

}  // namespace

double decode(ElementType type, const std::byte* element) {
  switch (type) {
    case ElementType::u8: return load<std::uint8_t>(element);
    case ElementType::i32: return load<std::int32_t>(element);
    case ElementType::f32: return static_cast<double>(load<float>(element));
    case ElementType::f64: return load<double>(element);
    case ElementType::bf16:
      return static_cast<double>(std::bit_cast<float>(std::uint32_t{load<std::uint16_t>(element)} << 16));
    case ElementType::e4m3: {
      const unsigned code = load<std::uint8_t>(element);
      return std::copysign(e4m3_magnitude(code & 0x7F), code > 0x7F ? -1.0 : 1.0);
    }
    default: refuse(type);
  }
}

void encode(ElementType type, double value, std::byte* element) {
  switch (type) {
    case ElementType::u8: return store(element, static_cast<std::uint8_t>(std::llround(value)));
    case ElementType::i32: return store(element, static_cast<std::int32_t>(std::llround(value)));
    case ElementType::f32: return store(element, static_cast<float>(value));
    case ElementType::f64: return store(element, value);
    case ElementType::bf16: return store(element, encode_bf16(static_cast<float>(value)));
    case ElementType::e4m3: return store(element, encode_e4m3(value));
    default: refuse(type);
  }
}

}  // namespace movement
