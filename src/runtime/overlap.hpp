#pragma once

#include <tmajit/device.hpp>

TMAJIT_BEGIN

/// A tensor in memory: where it starts and how it lies.
struct PlacedView {
  const TensorView& view;
  DevicePtr address;
};

/// Whether an element of one tensor may share a byte with an element of the other. Exact where the tensors'
/// bytes are apart, or are different columns, rows or blocks of one larger array; else it says yes.
/// Strides must not be negative.
[[nodiscard]] bool may_overlap(const PlacedView& a, const PlacedView& b) noexcept;

TMAJIT_END
