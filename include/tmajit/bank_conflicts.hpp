#pragma once

#include <tmajit/box_layout.hpp>
#include <tmajit/names.hpp>

#include <array>
#include <cstdint>
#include <string_view>

TMAJIT_BEGIN

inline constexpr std::uint32_t warp_lanes = 32;

/// The shared memory that the lanes of a warp access in one instruction.
struct WarpAccess {
  std::uint32_t width = 4;                          ///< bytes that each lane accesses: 1, 2, 4, 8 or 16
  std::uint32_t lanes = 0;                          ///< lanes that take part, from lane 0 on
  std::array<std::uint32_t, warp_lanes> offsets{};  ///< each lane's first byte, a multiple of `width`
};

/// The cost of one access to shared memory. A wavefront serves up to 128 bytes: all lanes if each accesses at
/// most 4 bytes, half a warp at 8 bytes, a quarter at 16. In a wavefront each bank delivers one word, to
/// every lane that accesses it.
struct Wavefronts {
  std::uint32_t needed = 0;
  std::uint32_t ideal = 0;  ///< without conflicts
  /// The largest number of different words that lanes access in one bank, among lanes that one wavefront
  /// could serve together; 1 without conflicts.
  std::uint32_t ways = 0;
  friend bool operator==(const Wavefronts&, const Wavefronts&) = default;
};

/// Throws Error{invalid_argument} if the access is not as WarpAccess says.
[[nodiscard]] TMAJIT_API Wavefronts wavefronts(const WarpAccess& access);
/// Number of different words that lanes access in each bank, for the group of lanes that needs most
/// wavefronts. Throws as wavefronts() does.
[[nodiscard]] TMAJIT_API std::array<std::uint32_t, shared_banks> words_of_banks(const WarpAccess& access);

/// The order in which warps access a tile. Instructions follow each other until each element was accessed
/// once.
enum class AccessPattern : std::uint8_t {
  row,     ///< lanes side by side along a row, then along the next
  column,  ///< lanes one below the other down a column, then down the next
  /// ldmatrix and stmatrix, up to four 8×8 matrices of 2-byte elements side by side: lane 8·m + r names row r
  /// of matrix m, 16 bytes (PTX ISA, "ldmatrix").
  matrix,
  /// ldmatrix and stmatrix with `.trans`, for an operand whose rows are needed as columns: the matrices are
  /// stacked vertically. Lanes access the same rows of 16 bytes; `.trans` changes which lane gets an element.
  matrix_transposed,
};
inline constexpr std::array all_access_patterns{AccessPattern::row, AccessPattern::column,
                                                AccessPattern::matrix, AccessPattern::matrix_transposed};

/// "row", "column", "matrix", "matrix-transposed".
[[nodiscard]] TMAJIT_API std::string_view name(AccessPattern) noexcept;
/// The inverse of name(); throws Error{invalid_argument} that lists the legal names.
template <>
[[nodiscard]] TMAJIT_API AccessPattern parse<AccessPattern>(std::string_view name);

/// Number of instructions in which `pattern` covers the tile with `width` bytes a lane; 0 if it cannot. A
/// lane accesses whole elements; a matrix has 8 rows of 16 bytes, and `matrix_transposed` needs elements of 2
/// bytes. Rows beyond the last whole matrix are skipped. An instruction accesses 4, 2 or 1 matrices, the
/// largest of these that divides the number of matrices.
[[nodiscard]] TMAJIT_API std::uint32_t instructions(const BoxLayout& box, AccessPattern pattern,
                                                    std::uint32_t width) noexcept;
/// Instruction `number` of the pattern, from 0. Throws Error{invalid_argument} for a number out of range.
[[nodiscard]] TMAJIT_API WarpAccess warp_access(const BoxLayout& box, AccessPattern pattern,
                                                std::uint32_t width, std::uint32_t number);

/// The total cost of all instructions of a pattern.
struct Conflicts {
  std::uint32_t instructions = 0;  ///< 0: the pattern cannot cover this tile
  std::uint32_t conflicting = 0;   ///< instructions that need more wavefronts than without conflicts
  std::uint64_t wavefronts = 0;
  std::uint64_t ideal = 0;
  std::uint32_t ways = 0;   ///< ways of the worst instruction
  std::uint32_t worst = 0;  ///< number of the first instruction with so many ways
  friend bool operator==(const Conflicts&, const Conflicts&) = default;
};
[[nodiscard]] TMAJIT_API Conflicts conflicts(const BoxLayout& box, AccessPattern pattern,
                                             std::uint32_t width);

TMAJIT_END
