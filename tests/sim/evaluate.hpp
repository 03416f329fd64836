#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

namespace tests {

using Words = std::vector<std::uint64_t>;

/// Runs `body` for each triple of operands, %rd1, %rd2 and %rd3, and returns the values of %rd9. There are
/// also registers %r1 … %r9, %f, %fd, %h and %p.
Words evaluate(const std::string& body, const Words& a, const Words& b = {}, const Words& c = {});

/// Like evaluate(), for one triple of 32-bit operands: `body` computes %r9 from %r1, %r2, %r3.
inline std::uint32_t r(const std::string& body, std::uint64_t a, std::uint64_t b = 0, std::uint64_t c = 0) {
  return static_cast<std::uint32_t>(evaluate(body + "\nmov.b64 %rd9, {%r9, %r9};", {a}, {b}, {c})[0]);
}
inline std::uint64_t rd(const std::string& body, std::uint64_t a, std::uint64_t b = 0, std::uint64_t c = 0) {
  return evaluate(body, {a}, {b}, {c})[0];
}
inline std::uint32_t bits(float value) {
  return std::bit_cast<std::uint32_t>(value);
}
inline std::uint64_t bits(double value) {
  return std::bit_cast<std::uint64_t>(value);
}

}  // namespace tests
