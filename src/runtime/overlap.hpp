#pragma once

#include <tmajit/device.hpp>

#include <optional>

TMAJIT_BEGIN

/// A tensor in memory: where its element with all indices 0 is, and how it lies.
struct PlacedView {
  const TensorView& view;
  DevicePtr address;
};

/// The addresses of a tensor's first and last byte.
struct ByteRange {
  DevicePtr first = 0;
  DevicePtr last = 0;
};

/// Nothing if the tensor is empty, or does not lie within 2^62 bytes of the address space.
[[nodiscard]] std::optional<ByteRange> byte_range(const PlacedView& tensor) noexcept;

enum class Overlap : std::uint8_t {
  none,
  some,
  undecided,  ///< strides so odd that no short search tells
};

/// Whether an element of one tensor shares a byte with an element of the other. `range_a` and `range_b` are
/// their byte ranges. Exact but for `undecided`.
[[nodiscard]] Overlap overlap(const PlacedView& a, const ByteRange& range_a, const PlacedView& b,
                              const ByteRange& range_b) noexcept;

/// Whether two different indices of the tensor are the same element.
[[nodiscard]] Overlap self_overlap(const PlacedView& tensor) noexcept;

/// Whether an element of one tensor may share a byte with an element of the other, undecided pairs and
/// tensors that no address space holds included.
[[nodiscard]] bool may_overlap(const PlacedView& a, const PlacedView& b) noexcept;

TMAJIT_END
