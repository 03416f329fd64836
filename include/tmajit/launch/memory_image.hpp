#pragma once

#include <tmajit/device.hpp>
#include <tmajit/launch/array_file.hpp>
#include <tmajit/tensor_view.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

TMAJIT_BEGIN

[[nodiscard]] inline std::span<const std::uint64_t> extents(const TensorView& view) {
  return std::span(view.shape).first(view.rank);
}
[[nodiscard]] inline std::span<const std::int64_t> strides(const TensorView& view) {
  return std::span(view.strides).first(view.rank);
}
/// Whether the elements fill the memory of the view in C order, without a gap.
[[nodiscard]] inline bool is_dense(const TensorView& view) {
  return view == TensorView::contiguous(view.type, extents(view));
}

/// The range of memory that a view with arbitrary strides touches. Negative strides reach before its first
/// element.
struct MemorySpan {
  std::uint64_t first = 0;  ///< bytes before the element with all indices 0
  std::uint64_t bytes = 0;  ///< size of the range; 0 if the view has no element

  /// The range of `view` with `offset` further elements in front. Throws SpecError beyond 2^48 bytes,
  /// more than any device has.
  [[nodiscard]] TMAJIT_API static MemorySpan of(const TensorView& view, std::uint64_t offset);
};

/// Copies the elements of a host array to their addresses in `memory`, a MemorySpan of the view. If several
/// elements have one address, the last in C order is kept.
TMAJIT_API void scatter(std::span<std::byte> memory, const MemorySpan& span, const TensorView& view,
                        std::span<const std::byte> array, const HostLayout& layout);

/// Copies the elements of a view in `memory` to a C-order array.
TMAJIT_API void gather(std::span<std::byte> array, std::span<const std::byte> memory, const MemorySpan& span,
                       const TensorView& view);

/// The index of the first element that scatter() overwrites with a different one of the same address; empty
/// if there is none.
[[nodiscard]] TMAJIT_API std::vector<std::uint64_t> first_lost_element(const MemorySpan& span,
                                                                       const TensorView& view,
                                                                       std::span<const std::byte> array,
                                                                       const HostLayout& layout);

/// The bytes to write to a view's memory: the array's own bytes if no element has to move, else a copy.
struct MemoryImage {
  std::vector<std::byte> own;
  std::span<const std::byte> bytes;  ///< view of `own`, or of the array, which must outlive it

  /// The bytes that scatter() makes, with zeros between the elements.
  [[nodiscard]] TMAJIT_API static MemoryImage of(const MemorySpan& span, const TensorView& view,
                                                 std::span<const std::byte> array, const HostLayout& layout);
};

/// Copies memory to a device in pieces and waits for each. `copied` is called with the size of each piece.
TMAJIT_API void copy_in(Device& device, DevicePtr to, std::span<const std::byte> bytes,
                        const std::function<void(std::uint64_t bytes)>& copied = {});
/// The same from a device.
TMAJIT_API void copy_out(Device& device, std::span<std::byte> bytes, DevicePtr from,
                         const std::function<void(std::uint64_t bytes)>& copied = {});

TMAJIT_END
