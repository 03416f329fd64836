#pragma once

#include <tmajit/device_memory.hpp>
#include <tmajit/list.hpp>
#include <tmajit/tensor_view.hpp>

#include <cstdint>
#include <optional>
#include <variant>

TMAJIT_BEGIN

/// A view at an address of a device's memory. A TensorView is a tensor at address 0, without memory yet. The
/// functions below give other views of the same memory; they move nothing.
struct Tensor {
  TensorView view;
  DevicePtr address = 0;  ///< address of the element with all indices 0; negative strides reach before it

  constexpr Tensor() noexcept = default;
  constexpr Tensor(const TensorView& as, DevicePtr at = 0) noexcept  // NOLINT: converts implicitly
      : view(as), address(at) {}
  /// TensorView::contiguous() and TensorView::strided() at an address. They throw the same errors.
  [[nodiscard]] static Tensor contiguous(ElementType type, const Dims& shape, DevicePtr address = 0) {
    return {TensorView::contiguous(type, shape), address};
  }
  [[nodiscard]] static Tensor strided(ElementType type, const Dims& shape, const Dims& strides,
                                      DevicePtr address = 0) {
    return {TensorView::strided(type, shape, strides), address};
  }
  friend bool operator==(const Tensor&, const Tensor&) = default;
};

/// A number in place of a source: an expression reads the k-th number as pk, and a kernel is made once for
/// all its values. Its address holds the value's bits, so `number(2.0f).address` is what a plan's launch
/// takes. Numbers follow the sources that are tensors.
[[nodiscard]] TMAJIT_API Tensor number(float value) noexcept;
[[nodiscard]] TMAJIT_API Tensor number(double value) noexcept;
[[nodiscard]] TMAJIT_API Tensor number(std::int32_t value) noexcept;
[[nodiscard]] TMAJIT_API Tensor number(std::int64_t value) noexcept;
/// The value as a number of `type`: f32, f64, i32 or i64. Throws Error{invalid_argument} for another type,
/// for a double as an integer type, and for an integer that i32 cannot hold.
[[nodiscard]] TMAJIT_API Tensor number(const std::variant<std::int64_t, double>& value, ElementType type);
/// The type for a number of Python or of a command line in an expression of these tensors: f64 if one of them
/// is f64; else f32 for a floating-point number or beside a floating-point tensor; else i64 beside 64-bit
/// integers, and i32.
[[nodiscard]] TMAJIT_API ElementType number_type(const std::variant<std::int64_t, double>& value,
                                                 List<TensorView> tensors) noexcept;

/// The part taken of one dimension: Python's start:stop:step. Negative positions count from the end,
/// positions outside are moved to the nearest end, a negative step walks backwards.
struct Slice {
  std::optional<std::int64_t> start = std::nullopt;
  std::optional<std::int64_t> stop = std::nullopt;
  std::int64_t step = 1;
  friend bool operator==(const Slice&, const Slice&) = default;
};

/// Dimension d of the result is dimension axes[d] of `tensor`. Here and everywhere a negative axis counts
/// from the end: -1 is the last dimension.
/// Throws Error{invalid_argument} unless `axes` names every dimension once.
[[nodiscard]] TMAJIT_API Tensor permuted(const Tensor& tensor, const Dims& axes);

/// Takes `slices[d]` of dimension d; dimensions after the last slice stay whole.
/// Throws Error{invalid_argument} for more slices than dimensions or a step of 0.
[[nodiscard]] TMAJIT_API Tensor sliced(const Tensor& tensor, List<Slice> slices);

/// Dimension `axis` walked backwards. Throws Error{invalid_argument} if there is no such dimension.
[[nodiscard]] TMAJIT_API Tensor flipped(const Tensor& tensor, std::int64_t axis);

/// Repeats a tensor to `shape` by NumPy's rules: dimensions are matched from the last, those of extent 1 and
/// those that are missing in front repeat (stride 0). Throws Error{invalid_argument} if extents disagree or
/// one is negative.
[[nodiscard]] TMAJIT_API Tensor broadcast(const Tensor& tensor, const Dims& shape);

/// The same elements, in row-major order, as another shape. Throws Error{invalid_argument} if the counts
/// differ, an extent is negative, or no strides describe the result, so that a copy would be needed.
[[nodiscard]] TMAJIT_API Tensor reshaped(const Tensor& tensor, const Dims& shape);

/// The same bits as elements of another type of the same size.
/// Throws Error{invalid_argument} if the sizes differ.
[[nodiscard]] TMAJIT_API Tensor reinterpreted(const Tensor& tensor, ElementType type);

TMAJIT_END
