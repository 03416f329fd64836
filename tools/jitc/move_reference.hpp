#pragma once

#include "problem.hpp"

#include <tmajit/operation.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace jitc {

/// Does a move on the CPU, element by element: the tensors' addresses are host memory. Takes bits, casts,
/// paddings, combinations, windows, and stencils whose expression is arithmetic alone: those of which
/// can_move_plainly() is true.
void move_plainly(const tmajit::Move& move);
[[nodiscard]] bool can_move_plainly(const tmajit::Move& move);

/// What elements may differ in that were computed elsewhere.
enum class Rounding : std::uint8_t {
  never,   ///< in nothing
  once,    ///< values that were converted: which NaN it is
  in_f32,  ///< sums of products in f32: in their last bits, too
  in_f64,  ///< likewise in f64
};

/// How far each element of a move's destination, in C order, may lie from what move_plainly() makes of it;
/// none where it may not. Sums of floating point depend on their order.
[[nodiscard]] std::vector<double> allowed_errors(const tmajit::Move& move);

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

/// Compares the memory of an output, whole. `allowed` are allowed_errors().
[[nodiscard]] Difference compare(const Array& array, std::span<const std::byte> expected,
                                 std::span<const std::byte> found, Rounding rounding,
                                 std::span<const double> allowed = {});

/// "3 of 12 elements are wrong, first [0, 1]: 0x00000000 instead of 0x3f800000"
[[nodiscard]] std::string describe(const Array& array, const Difference& difference);

}  // namespace jitc
