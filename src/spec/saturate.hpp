#pragma once

#include <tmajit/version.hpp>

#include <concepts>
#include <cstdint>
#include <limits>
#include <span>

TMAJIT_BEGIN

// Arithmetic on arbitrary sizes from a caller: it saturates at 2^64 − 1 instead of wrapping, so that rules
// reject an absurdly large spec.

[[nodiscard]] constexpr std::uint64_t sat_mul(std::uint64_t a, std::uint64_t b) noexcept {
  std::uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<std::uint64_t>::max() : product;
}

/// The product of all extents of a shape; 1 for a shape without dimensions.
[[nodiscard]] constexpr std::uint64_t sat_product(std::span<const std::uint64_t> shape) noexcept {
  std::uint64_t product = 1;
  for (const std::uint64_t extent : shape) product = sat_mul(product, extent);
  return product;
}

[[nodiscard]] constexpr std::uint64_t sat_add(std::uint64_t a, std::uint64_t b) noexcept {
  std::uint64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<std::uint64_t>::max() : sum;
}

/// ceil(a / b); b = 0 counts as 1.
[[nodiscard]] constexpr std::uint64_t ceil_div(std::uint64_t a, std::uint64_t b) noexcept {
  if (b <= 1) return a;
  return a / b + (a % b != 0 ? 1 : 0);
}

[[nodiscard]] constexpr std::uint64_t round_down(std::uint64_t a, std::uint64_t multiple) noexcept {
  return multiple <= 1 ? a : a - a % multiple;
}

/// The next multiple, or 2^64 − 1 if it does not fit.
[[nodiscard]] constexpr std::uint64_t round_up(std::uint64_t a, std::uint64_t multiple) noexcept {
  return sat_mul(ceil_div(a, multiple), multiple <= 1 ? 1 : multiple);
}

/// `value`, or the largest T if it does not fit.
template <std::unsigned_integral T>
[[nodiscard]] constexpr T sat_cast(std::uint64_t value) noexcept {
  constexpr auto most = std::numeric_limits<T>::max();
  return value > most ? most : static_cast<T>(value);
}

TMAJIT_END
