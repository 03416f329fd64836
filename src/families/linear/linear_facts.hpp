#pragma once

#include "kernel/family.hpp"

#include <array>
#include <cstdint>

TMAJIT_BEGIN

/// The facts that a `linear` kernel is specialised for. Types are those that kernels of chunks know, too:
/// only the size counts for bits that are moved unchanged.
struct LinearFacts {
  std::uint32_t type = 0;  ///< type of the destination, an ElementType
  std::uint32_t rank = 1;
  std::uint32_t in_word = 1;  ///< elements
  std::uint32_t turns = 1;    ///< words of a thread
  Flag short_rows = 0;        ///< the last dimension is shorter than a word
  Flag wraps = 0;             ///< a word may reach beyond its end
  Flag wide_offsets = 0;
  Flag computes = 0;
  Flag padded = 0;
  std::uint32_t sources = 1;
  std::array<std::uint32_t, max_inputs> source{};

  [[nodiscard]] ElementType element_type() const noexcept { return static_cast<ElementType>(type); }
  [[nodiscard]] std::uint32_t element_bytes() const noexcept { return size_of(element_type()); }
};

TMAJIT_END
