#pragma once

#include <tmajit/device.hpp>

#include <cstdint>
#include <optional>
#include <span>

TMAJIT_BEGIN

/// A tensor in memory: its layout, and the address of its element with all indices 0.
struct PlacedView {
  const TensorView& view;
  DevicePtr address;
};

/// The addresses of a tensor's first and last byte.
struct ByteRange {
  DevicePtr first = 0;
  DevicePtr last = 0;
};

/// The most bytes from the first to the last of a tensor. The equations of two tensors then have sums below
/// 2^63, as solvable() requires.
inline constexpr std::uint64_t max_span_bytes = 1ULL << 62;

/// The byte range of a tensor. Nothing if the tensor is empty or a number, spans more than max_span_bytes, or
/// leaves the address space.
[[nodiscard]] std::optional<ByteRange> byte_range(const PlacedView& tensor) noexcept;

/// Whether two ranges have a byte in common.
[[nodiscard]] constexpr bool meet(const ByteRange& a, const ByteRange& b) noexcept {
  return a.first <= b.last && b.first <= a.last;
}

enum class Overlap : std::uint8_t {
  none,
  some,
  undecided,  ///< strides so irregular that a bounded search cannot decide
};

/// Whether an element of one tensor shares a byte with an element of the other. `range_a` and `range_b` are
/// their byte ranges. Exact unless `undecided`.
[[nodiscard]] Overlap overlap(const PlacedView& a, const ByteRange& range_a, const PlacedView& b,
                              const ByteRange& range_b) noexcept;

/// Whether two different indices of the tensor are the same element.
[[nodiscard]] Overlap self_overlap(const PlacedView& tensor) noexcept;

// The arithmetic that decides overlaps.

/// coefficient · x for any integer x from 0 to `most`.
struct BoundedTerm {
  std::uint64_t coefficient = 0;
  std::uint64_t most = 0;
};

enum class Solvable : std::uint8_t {
  no,
  yes,
  undecided,  ///< the search would have taken too long
};

/// Most terms that solvable() accepts.
inline constexpr std::size_t max_bounded_terms = 32;

/// Whether some values of the terms add up to `target`. The largest sum must be below 2^63. The problem is
/// NP-complete, but strides of real tensors need few steps. After `max_steps` the search ends undecided.
/// Modifies `terms`.
[[nodiscard]] Solvable solvable(std::span<BoundedTerm> terms, std::uint64_t target,
                                std::uint32_t max_steps = 10'000) noexcept;

TMAJIT_END
