#pragma once

#include "kernel/family.hpp"

#include <array>
#include <cstdint>

TMAJIT_BEGIN

/// The facts that a `linear` kernel is specialised for. In kernels that move bits unchanged, each type is the
/// unsigned integer of its size.
struct LinearFacts {
  std::uint32_t type = 0;  ///< type of the destination, an ElementType
  std::uint32_t rank = 1;
  std::uint32_t word_elements = 1;  ///< elements of a word, which one store writes
  std::uint32_t turns = 1;          ///< words of a thread
  Flag short_rows = 0;              ///< the last dimension is shorter than a word
  Flag wraps = 0;                   ///< a word may continue in the next row
  Flag wide_offsets = 0;
  Flag computes = 0;
  Flag padded = 0;
  std::uint32_t sources = 1;
  std::uint32_t numbers = 0;                       ///< the last of the sources, which the launch passes
  std::array<std::uint32_t, max_inputs> source{};  ///< type of each source, an ElementType

  [[nodiscard]] ElementType element_type() const noexcept { return static_cast<ElementType>(type); }
  [[nodiscard]] std::uint32_t element_bytes() const noexcept { return size_of(element_type()); }
};

TMAJIT_END
