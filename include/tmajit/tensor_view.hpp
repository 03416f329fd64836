#pragma once

#include <tmajit/dims.hpp>
#include <tmajit/element_type.hpp>

#include <array>
#include <cstdint>

TMAJIT_BEGIN

/// The layout of a tensor: element type, shape and strides, no pointer. Plain data.
/// Shape and strides are row-major, outermost dimension first, as in NumPy; strides count elements.
struct TensorView {
  ElementType type = ElementType::f32;
  std::uint32_t rank = 0;
  std::array<std::uint64_t, max_view_rank> shape{};
  std::array<std::int64_t, max_view_rank> strides{};
  bool is_number = false;  ///< a number in place of a source, without memory (number() in tensor.hpp)

  /// A dense row-major view. Throws Error{invalid_argument} for a negative extent.
  [[nodiscard]] TMAJIT_API static TensorView contiguous(ElementType type, const Dims& shape);
  /// A view with explicit strides, in elements. Throws Error{invalid_argument} for a negative extent, or if
  /// the lengths differ.
  [[nodiscard]] TMAJIT_API static TensorView strided(ElementType type, const Dims& shape,
                                                     const Dims& strides);

  /// Number of elements; 1 for rank 0. Saturates at 2^64 − 1.
  [[nodiscard]] TMAJIT_API std::uint64_t elements() const noexcept;
  /// Bytes from the first element to one past the last (non-negative strides). Saturates at 2^64 − 1.
  [[nodiscard]] TMAJIT_API std::uint64_t span_bytes() const noexcept;

  friend bool operator==(const TensorView&, const TensorView&) = default;
};

TMAJIT_END
