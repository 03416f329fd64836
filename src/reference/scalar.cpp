#include "reference/scalar.hpp"

#include "numbers/small_float.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string_view>

namespace reference {

using namespace numbers;

using tmajit::ElementType;

namespace {

template <typename T>
T read_scalar(const std::byte* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

template <typename T>
void write(std::byte* bytes, T value) {
  std::memcpy(bytes, &value, sizeof(T));
}

template <typename To, typename From>
To to_integer(From value) {
  if constexpr (std::is_integral_v<From>) {
    return static_cast<To>(value);
  } else {
    if (std::isnan(value)) return 0;
    // 2^digits is exact in both float types, unlike the largest integer.
    const From above = std::ldexp(From{1}, std::numeric_limits<To>::digits);
    if (value >= above) return std::numeric_limits<To>::max();
    const From below = std::is_signed_v<To> ? -above : From{0};
    if (value <= below) return std::numeric_limits<To>::min();
    return static_cast<To>(value);
  }
}

template <typename To>
void encode_as(const Scalar& value, std::byte* bytes) {
  std::visit(
      [bytes](auto v) {
        if constexpr (std::is_integral_v<To>)
          write(bytes, to_integer<To>(v));
        else
          write(bytes, static_cast<To>(v));
      },
      value);
}

float float_of(const Scalar& value) {
  return std::visit([](auto v) { return static_cast<float>(v); }, value);
}

/// `f` of both values in C++'s common type. Integers are computed as unsigned, so that they wrap.
template <typename F>
Scalar combine(const Scalar& a, const Scalar& b, const F& f) {
  return std::visit(
      [&f](auto x, auto y) -> Scalar {
        using C = decltype(x + y);
        if constexpr (std::is_integral_v<C>) {
          using U = std::make_unsigned_t<C>;
          return scalar(static_cast<C>(f(static_cast<U>(x), static_cast<U>(y))));
        } else {
          return scalar(f(static_cast<C>(x), static_cast<C>(y)));
        }
      },
      a, b);
}

}  // namespace

bool is_nan(const Scalar& value) {
  return std::visit(
      [](auto number) {
        if constexpr (std::is_floating_point_v<decltype(number)>) return std::isnan(number);
        return false;
      },
      value);
}

double as_double(const Scalar& value) {
  return std::visit([](auto v) { return static_cast<double>(v); }, value);
}

Scalar widened(const Scalar& value) {
  return std::visit(
      [](auto v) -> Scalar {
        using T = decltype(v);
        if constexpr (std::is_floating_point_v<T>) {
          return static_cast<double>(v);
        } else if constexpr (std::is_signed_v<T>) {
          return static_cast<std::int64_t>(v);
        } else {
          return static_cast<std::uint64_t>(v);
        }
      },
      value);
}

Scalar add(const Scalar& a, const Scalar& b) {
  // A shortcut for long sums, which avoids the dispatch over all pairs of types.
  if (const auto* const x = std::get_if<double>(&a)) {
    if (const auto* const y = std::get_if<double>(&b)) return *x + *y;
  }
  return combine(a, b, [](auto x, auto y) { return x + y; });
}

Scalar subtract(const Scalar& a, const Scalar& b) {
  return combine(a, b, [](auto x, auto y) { return x - y; });
}

Scalar multiply(const Scalar& a, const Scalar& b) {
  return combine(a, b, [](auto x, auto y) { return x * y; });
}

Scalar decode(ElementType type, const std::byte* bytes) {
  switch (type) {
    case ElementType::u8: return read_scalar<std::uint8_t>(bytes);
    case ElementType::i8: return read_scalar<std::int8_t>(bytes);
    case ElementType::u16: return read_scalar<std::uint16_t>(bytes);
    case ElementType::i16: return read_scalar<std::int16_t>(bytes);
    case ElementType::u32: return read_scalar<std::uint32_t>(bytes);
    case ElementType::i32: return read_scalar<std::int32_t>(bytes);
    case ElementType::u64: return read_scalar<std::uint64_t>(bytes);
    case ElementType::i64: return read_scalar<std::int64_t>(bytes);
    case ElementType::f64: return read_scalar<double>(bytes);
    case ElementType::f16: return decode(f16_format, read_scalar<std::uint16_t>(bytes));
    case ElementType::bf16: return decode(bf16_format, read_scalar<std::uint16_t>(bytes));
    case ElementType::e4m3: return decode(e4m3_format, read_scalar<std::uint8_t>(bytes));
    case ElementType::e5m2: return decode(e5m2_format, read_scalar<std::uint8_t>(bytes));
    default: return read_scalar<float>(bytes);
  }
}

void encode(ElementType type, const Scalar& value, std::byte* bytes) {
  switch (type) {
    case ElementType::u8: return encode_as<std::uint8_t>(value, bytes);
    case ElementType::i8: return encode_as<std::int8_t>(value, bytes);
    case ElementType::u16: return encode_as<std::uint16_t>(value, bytes);
    case ElementType::i16: return encode_as<std::int16_t>(value, bytes);
    case ElementType::u32: return encode_as<std::uint32_t>(value, bytes);
    case ElementType::i32: return encode_as<std::int32_t>(value, bytes);
    case ElementType::u64: return encode_as<std::uint64_t>(value, bytes);
    case ElementType::i64: return encode_as<std::int64_t>(value, bytes);
    case ElementType::f64: return encode_as<double>(value, bytes);
    case ElementType::f16: return write(bytes, encode(f16_format, float_of(value)));
    case ElementType::bf16: return write(bytes, encode(bf16_format, float_of(value)));
    case ElementType::e4m3:
      return write(bytes, static_cast<std::uint8_t>(encode(e4m3_format, float_of(value))));
    case ElementType::e5m2:
      return write(bytes, static_cast<std::uint8_t>(encode(e5m2_format, float_of(value))));
    case ElementType::tf32:
    case ElementType::tf32_ftz:
      return write(bytes, round_to_tf32(std::bit_cast<std::uint32_t>(float_of(value))));
    default: return encode_as<float>(value, bytes);
  }
}

// As measured on an H200 (docs/tma.md): loads flush no subnormals, and every NaN of tf32 becomes the same
// NaN.
void convert_on_load(ElementType type, std::byte* element) {
  switch (type) {
    case ElementType::tf32:
    case ElementType::tf32_ftz: {
      constexpr std::uint32_t nan = 0x7fffe000U;
      const auto bits = read_scalar<std::uint32_t>(element);
      return write(element, (bits & 0x7fffffffU) > 0x7f800000U ? nan : round_to_tf32(bits));
    }
    default: return;
  }
}

bool same_value(ElementType type, const std::byte* a, const std::byte* b) {
  if (std::memcmp(a, b, size_of(type)) == 0) return true;
  if (!is_float(type)) return false;
  return is_nan(decode(type, a)) && is_nan(decode(type, b));
}

std::string bits_text(ElementType type, const std::byte* element) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text = "0x";
  for (std::uint32_t i = size_of(type); i-- > 0;) {
    const auto byte = std::to_integer<unsigned>(element[i]);
    text += {digits[byte >> 4U], digits[byte & 15U]};
  }
  return text;
}

}  // namespace reference
