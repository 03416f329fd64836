#pragma once

/// Video instructions (PTX ISA 9.7.18): arithmetic on parts of registers.
#include <tmajit/version.hpp>

#include <array>
#include <cstdint>

TMAJIT_BEGIN
namespace sim {

/// Bit position of a part of a register, or of a pair of registers.
struct VideoPart {
  std::uint8_t shift = 0;
  std::uint8_t bits = 32;
};

/// A decoded video instruction: d = operation(a, b), on whole registers, two halves or four bytes. `second`
/// defines how the results are then combined with c.
struct Video {
  enum class Operation : std::uint8_t { add, sub, average, distance, min, max, shl, shr, mad, compare };
  enum class Comparison : std::uint8_t { eq, ne, lt, le, gt, ge };
  /// merge: the results replace parts of c. add, min, max: the results accumulate into c as a whole.
  enum class Second : std::uint8_t { merge, add, min, max };

  Operation operation = Operation::add;
  Comparison comparison = Comparison::eq;
  Second second = Second::merge;
  std::uint8_t count = 1;  ///< number of results: 1, 2 or 4
  // For each result: the parts of the 64-bit value b:a (b in the upper half) that are its operands, and the
  // part of d that it writes.
  std::array<VideoPart, 4> a{};
  std::array<VideoPart, 4> b{};
  std::array<VideoPart, 4> d{};
  std::uint8_t written = 15;  ///< mask of results that are written to d
  bool a_signed = false;
  bool b_signed = false;
  bool d_signed = false;
  bool saturates = false;
  bool wraps = false;      ///< vshl, vshr: the shift amount is taken modulo 32; else it is clamped to 32
  bool plus_one = false;   ///< vmad: adds 1 to the sum
  std::uint8_t scale = 0;  ///< vmad: right shift of the result, in bits
};

/// Returns d for the operands a, b and c.
[[nodiscard]] std::uint32_t compute(const Video& video, std::uint32_t a, std::uint32_t b, std::uint32_t c);

}  // namespace sim
TMAJIT_END
