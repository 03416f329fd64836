#pragma once

#include "problem.hpp"

#include <tmajit/operation.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace jitc {

/// Does a move on the CPU, element by element: the tensors' addresses are host memory. Takes bits, casts and
/// paddings; throws Error{unsupported} for an expression.
void move_plainly(const tmajit::Move& move);

/// How an output differs from what it should be.
struct Difference {
  std::uint64_t elements = 0;        ///< of the output
  std::uint64_t wrong = 0;           ///< elements
  std::uint64_t stray_bytes = 0;     ///< changed between or beside the elements
  std::vector<std::uint64_t> index;  ///< of the first wrong element
  std::string expected;              ///< its bits, "0x3f800000"
  std::string found;
  [[nodiscard]] bool none() const noexcept { return wrong == 0 && stray_bytes == 0; }
};

/// Compares the memory of an output, whole. NaNs are equal to each other where values were converted, since
/// which one an operation makes differs between processors.
[[nodiscard]] Difference compare(const Array& array, std::span<const std::byte> expected,
                                 std::span<const std::byte> found, bool converted);

/// "3 of 12 elements are wrong, first [0, 1]: 0x00000000 instead of 0x3f800000"
[[nodiscard]] std::string describe(const Array& array, const Difference& difference);

}  // namespace jitc
