#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

namespace tests {

using Words = std::vector<std::uint64_t>;

/// Runs `body` once for each index of `a`, and returns the values of %rd9. %rd1, %rd2 and %rd3 are the
/// elements of a, b and c, or 0 where b or c is shorter. %r, %f, %fd and %h with the numbers 1 to 3 hold the
/// same bits, truncated to their sizes. All these registers, and %p, exist up to number 9.
Words evaluate(const std::string& body, const Words& a, const Words& b = {}, const Words& c = {});

/// Like evaluate(), for one triple of operands: `body` computes the result in %r9.
inline std::uint32_t result32(const std::string& body, std::uint64_t a, std::uint64_t b = 0,
                              std::uint64_t c = 0) {
  return static_cast<std::uint32_t>(evaluate(body + "\nmov.b64 %rd9, {%r9, %r9};", {a}, {b}, {c})[0]);
}
/// Like evaluate(), for one triple of operands: `body` computes the result in %rd9.
inline std::uint64_t result64(const std::string& body, std::uint64_t a, std::uint64_t b = 0,
                              std::uint64_t c = 0) {
  return evaluate(body, {a}, {b}, {c})[0];
}
inline std::uint32_t bits(float value) {
  return std::bit_cast<std::uint32_t>(value);
}
inline std::uint64_t bits(double value) {
  return std::bit_cast<std::uint64_t>(value);
}

}  // namespace tests
