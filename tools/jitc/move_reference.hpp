#pragma once

#include "operations/references.hpp"
#include "problem.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace jitc {

/// How an output differs from the expected output.
struct Difference {
  std::uint64_t elements = 0;        ///< elements of the output
  std::uint64_t wrong = 0;           ///< wrong elements
  std::uint64_t stray_bytes = 0;     ///< bytes changed between or beside the elements
  std::vector<std::uint64_t> index;  ///< index of the first wrong element
  std::string expected;              ///< bits of the expected element, "0x3f800000"
  std::string found;
  [[nodiscard]] bool none() const noexcept { return wrong == 0 && stray_bytes == 0; }
};

/// Compares an output's whole memory, bytes between elements included. `allowed` are
/// reference::allowed_errors().
[[nodiscard]] Difference compare(const Array& array, std::span<const std::byte> expected,
                                 std::span<const std::byte> found, bool makes_values,
                                 std::span<const double> allowed = {});

/// "3 of 12 elements are wrong, first [0, 1]: 0x00000000 instead of 0x3f800000"
[[nodiscard]] std::string describe(const Array& array, const Difference& difference);

}  // namespace jitc
