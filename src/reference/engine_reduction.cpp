#include "reference/engine_reduction.hpp"

#include "numbers/small_float.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

namespace reference {

using namespace numbers;

using tmajit::ElementType;

namespace {

template <typename T>
T read(const std::byte* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

template <typename T>
T combined(EngineReduction operation, T old, T operand) {
  using Bits = std::make_unsigned_t<T>;
  const auto a = static_cast<Bits>(old);
  const auto b = static_cast<Bits>(operand);
  switch (operation) {
    case EngineReduction::add: return static_cast<T>(a + b);
    case EngineReduction::min: return std::min(old, operand);
    case EngineReduction::max: return std::max(old, operand);
    case EngineReduction::inc: return old >= operand ? T{0} : static_cast<T>(old + 1);
    case EngineReduction::dec: return old == 0 || old > operand ? operand : static_cast<T>(old - 1);
    case EngineReduction::bit_and: return static_cast<T>(a & b);
    case EngineReduction::bit_or: return static_cast<T>(a | b);
    default: return static_cast<T>(a ^ b);
  }
}

template <typename T>
void combine_integers(EngineReduction operation, std::byte* element, const std::byte* operand) {
  const T result = combined(operation, read<T>(element), read<T>(operand));
  std::memcpy(element, &result, sizeof result);
}

/// The sum, rounded to odd: an inexact sum becomes the neighbouring double whose last bit is set. Rounding
/// this double to a narrower type gives the same result as rounding the exact sum once.
double sum_to_odd(double a, double b) {
  const double sum = a + b;
  if (!std::isfinite(sum)) return sum;
  const double part = sum - a;
  const double error = (a - (sum - part)) + (b - part);
  if (error == 0 || std::bit_cast<std::uint64_t>(sum) % 2 == 1) return sum;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  return std::nextafter(sum, error > 0 ? infinity : -infinity);
}

/// The maximum if `greatest`, else the minimum. A number wins over a NaN, and −0 is below +0.
double extreme(bool greatest, double a, double b) {
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  const bool less = a < b || (a == b && std::signbit(a) && !std::signbit(b));
  return less == greatest ? b : a;
}

void combine_small(const SmallFloat& format, EngineReduction operation, std::byte* element,
                   const std::byte* operand) {
  const double a = decode(format, read<std::uint16_t>(element));
  const double b = decode(format, read<std::uint16_t>(operand));
  const double value =
      operation == EngineReduction::add ? sum_to_odd(a, b) : extreme(operation == EngineReduction::max, a, b);
  const std::uint16_t result = encode(format, value);
  std::memcpy(element, &result, sizeof result);
}

void add_floats(std::byte* element, const std::byte* operand) {
  const float sum = read<float>(element) + read<float>(operand);
  const std::uint32_t bits = std::isnan(sum) ? 0x7fff'ffffU : std::bit_cast<std::uint32_t>(sum);
  std::memcpy(element, &bits, sizeof bits);
}

/// A NaN propagates with all its bits; if both are NaN, the operand's. NaNs are copied as bytes, because the
/// host may make a signalling NaN quiet when it loads it into a register.
void add_doubles(std::byte* element, const std::byte* operand) {
  if (std::isnan(read<double>(operand))) {
    std::memcpy(element, operand, sizeof(double));
  } else if (!std::isnan(read<double>(element))) {
    const double sum = read<double>(element) + read<double>(operand);
    std::memcpy(element, &sum, sizeof sum);
  }
}

}  // namespace

std::string_view name(EngineReduction operation) noexcept {
  constexpr std::array<std::string_view, 8> names{"add", "min", "max", "inc", "dec", "and", "or", "xor"};
  return names.at(static_cast<std::size_t>(operation));
}

bool engine_reduces(EngineReduction operation, ElementType type, ReductionTarget target) noexcept {
  const bool peer = target == ReductionTarget::peer;
  const bool word = type == ElementType::u32 || type == ElementType::i32;
  const bool wide = type == ElementType::u64 || type == ElementType::i64;
  const bool half = !peer && (type == ElementType::f16 || type == ElementType::bf16);
  switch (operation) {
    case EngineReduction::add:
      return word || type == ElementType::u64 || half || (!peer && type == ElementType::f32) ||
             (target == ReductionTarget::global && type == ElementType::f64);
    case EngineReduction::min:
    case EngineReduction::max: return word || half || (!peer && wide);
    case EngineReduction::inc:
    case EngineReduction::dec: return type == ElementType::u32;
    default:
      return word || (!peer && type == ElementType::u64) ||
             (target == ReductionTarget::global && type == ElementType::i64);
  }
}

void combine(EngineReduction operation, ElementType type, std::byte* element, const std::byte* operand) {
  switch (type) {
    case ElementType::u32: return combine_integers<std::uint32_t>(operation, element, operand);
    case ElementType::i32: return combine_integers<std::int32_t>(operation, element, operand);
    case ElementType::u64: return combine_integers<std::uint64_t>(operation, element, operand);
    case ElementType::i64: return combine_integers<std::int64_t>(operation, element, operand);
    case ElementType::f16: return combine_small(f16_format, operation, element, operand);
    case ElementType::bf16: return combine_small(bf16_format, operation, element, operand);
    case ElementType::f32: return add_floats(element, operand);
    default: return add_doubles(element, operand);
  }
}

}  // namespace reference
