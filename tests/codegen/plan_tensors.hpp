#pragma once

#include <tmajit/tensor.hpp>

#include <cstdint>
#include <vector>

// Tensors at arbitrary addresses, for plans that are not launched.

namespace tests {

using Shape = std::vector<std::uint64_t>;
using Strides = std::vector<std::int64_t>;

inline constexpr tmajit::DevicePtr to_address = 0x7f00'0000'0000;
inline constexpr tmajit::DevicePtr from_address = 0x7e00'0000'0000;

/// Sources; `shift` is in bytes.
inline tmajit::Tensor from(tmajit::ElementType type, const Shape& shape, tmajit::DevicePtr shift = 0) {
  return {tmajit::TensorView::contiguous(type, shape), from_address + shift};
}
inline tmajit::Tensor from(tmajit::ElementType type, const Shape& shape, const Strides& strides,
                           tmajit::DevicePtr shift = 0) {
  return {tmajit::TensorView::strided(type, shape, strides), from_address + shift};
}
/// Destinations.
inline tmajit::Tensor to(tmajit::ElementType type, const Shape& shape, tmajit::DevicePtr shift = 0) {
  return {tmajit::TensorView::contiguous(type, shape), to_address + shift};
}

/// Index tensors, in memory of their own.
inline tmajit::Tensor places(tmajit::ElementType type, const Shape& shape) {
  return {tmajit::TensorView::contiguous(type, shape), from_address + (tmajit::DevicePtr{1} << 36)};
}

}  // namespace tests
