#pragma once

#include "kernel/family.hpp"

#include <array>
#include <cstdint>

TMAJIT_BEGIN

inline constexpr std::uint32_t linear_threads = 256;
inline constexpr double max_memory_lines = 16;  // that an access of a warp may touch

/// How words of several lines are moved.
enum class LineMove : std::uint32_t {
  gather,   ///< from lines of the source to a contiguous destination whose last dimension is short
  scatter,  ///< from a contiguous source whose last dimension is short to lines of the destination
  spread,   ///< from short runs of the source to lines of a contiguous destination
};

/// The facts that a `linear` kernel is specialised for. In kernels that move bits unchanged, each type is the
/// unsigned integer of its size.
struct LinearFacts {
  std::uint32_t type = 0;  ///< type of the destination, an ElementType
  std::uint32_t rank = 1;
  std::uint32_t word_elements = 1;  ///< elements of a word, which one store writes
  std::uint32_t turns = 1;          ///< words of a thread
  std::uint32_t lines = 1;  ///< elements of a column, each in another line (word_lines.hpp); 1: no lines
  std::uint32_t piece_bytes = 0;  ///< bytes of a word that a thread accesses at once in shared memory
  Flag vectors = 0;               ///< the elements of a word, or those in one line, are one vector
  LineMove line_move = LineMove::gather;
  std::uint32_t run_bytes = 0;  ///< bytes of a load from a run; 0: its elements are loaded one by one
  Flag short_rows = 0;          ///< a row has fewer columns than a word
  Flag wraps = 0;               ///< a word may continue in the next row
  Flag wide_offsets = 0;
  Flag computes = 0;
  Flag padded = 0;
  std::uint32_t sources = 1;
  std::uint32_t numbers = 0;                       ///< the last of the sources, which the launch passes
  std::array<std::uint32_t, max_inputs> source{};  ///< type of each source, an ElementType

  [[nodiscard]] ElementType element_type() const noexcept { return static_cast<ElementType>(type); }
  [[nodiscard]] std::uint32_t element_bytes() const noexcept { return size_of(element_type()); }
  [[nodiscard]] std::uint32_t word_bytes() const noexcept { return word_elements * element_bytes(); }
  [[nodiscard]] std::uint32_t columns() const noexcept { return word_elements / lines; }  ///< of a word
  /// Sets whether words end with rows. `row`: columns of a row; `rows_rank`: number of dimensions that
  /// columns have; `begins_with_word`: whether the first word begins with the first column.
  void set_ends(std::uint64_t row, std::uint32_t rows_rank, bool begins_with_word) noexcept {
    short_rows = rows_rank > 1 && row < columns() ? 1 : 0;
    const bool whole = begins_with_word && columns() > 0 && row % columns() == 0;
    wraps = rows_rank > 1 && short_rows == 0 && columns() > 1 && !whole ? 1 : 0;
  }
};

TMAJIT_END
