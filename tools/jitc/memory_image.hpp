#pragma once

#include "npy.hpp"

#include <tmajit/device.hpp>
#include <tmajit/tensor_view.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace jitc {

[[nodiscard]] inline std::span<const std::uint64_t> extents(const tmajit::TensorView& view) {
  return std::span(view.shape).first(view.rank);
}
[[nodiscard]] inline std::span<const std::int64_t> strides(const tmajit::TensorView& view) {
  return std::span(view.strides).first(view.rank);
}
/// Whether the elements fill the memory of the view in C order, without a gap.
[[nodiscard]] inline bool is_dense(const tmajit::TensorView& view) {
  return view == tmajit::TensorView::contiguous(view.type, extents(view));
}

/// Walks N strided arrays of one shape side by side, in C order: `take(offsets, count, steps)` for each row
/// of the last dimension, with the element offsets of its first element and the steps from one to the next.
template <std::size_t N, class Take>
void for_each_row(std::span<const std::uint64_t> shape,
                  const std::array<std::span<const std::int64_t>, N>& strides, const Take& take) {
  for (const auto extent : shape) {
    if (extent == 0) return;
  }
  std::array<std::int64_t, N> offsets{};
  std::array<std::int64_t, N> steps{};
  if (shape.empty()) {
    take(offsets, std::uint64_t{1}, steps);
    return;
  }
  const std::size_t last = shape.size() - 1;
  for (std::size_t n = 0; n < N; ++n) steps[n] = strides[n][last];
  std::vector<std::uint64_t> index(last, 0);
  for (;;) {
    take(offsets, shape[last], steps);
    std::size_t d = last;
    for (; d > 0; --d) {
      const std::size_t at = d - 1;
      ++index[at];
      for (std::size_t n = 0; n < N; ++n) offsets[n] += strides[n][at];
      if (index[at] < shape[at]) break;
      for (std::size_t n = 0; n < N; ++n) {
        offsets[n] -= strides[n][at] * static_cast<std::int64_t>(shape[at]);
      }
      index[at] = 0;
    }
    if (d == 0) return;
  }
}

/// Copies elements of `size` bytes (1, 2, 4 or 8) from one strided array in host memory to another of the
/// same shape, in C order; `swap` reverses the bytes of each. Strides count elements and may be of any sign;
/// a source stride of 0 repeats.
void copy_strided(std::uint32_t size, std::byte* to, std::span<const std::int64_t> to_strides,
                  const std::byte* from, std::span<const std::int64_t> from_strides,
                  std::span<const std::uint64_t> shape, bool swap = false);

/// The stretch of memory that a view with any strides takes: negative ones reach before its first element,
/// zero and overlapping ones return to the same place.
struct MemorySpan {
  std::uint64_t first = 0;  ///< bytes before the element with all indices 0
  std::uint64_t bytes = 0;  ///< of all; 0 if the view has no element

  /// Of `view`, `offset` further elements in front. Throws Error{unsupported} beyond 2^48 bytes, more than
  /// any device has.
  [[nodiscard]] static MemorySpan of(const tmajit::TensorView& view, std::uint64_t offset);
};

/// Takes elements of a host array (in its own layout) to their places in `memory`, which is a MemorySpan of
/// the view. Where places coincide the last element in C order stays.
void scatter(std::span<std::byte> memory, const MemorySpan& span, const tmajit::TensorView& view,
             std::span<const std::byte> array, const HostLayout& layout);

/// The other way round, to a C-order array.
void gather(std::span<std::byte> array, std::span<const std::byte> memory, const MemorySpan& span,
            const tmajit::TensorView& view);

/// The index of an element that scatter() leaves out, because another one that differs lies at its place;
/// empty if there is none.
[[nodiscard]] std::vector<std::uint64_t> first_lost_element(const MemorySpan& span,
                                                            const tmajit::TensorView& view,
                                                            std::span<const std::byte> array,
                                                            const HostLayout& layout);

/// Memory of a device as it is to be: an array's own bytes where those will do.
struct MemoryImage {
  std::vector<std::byte> own;
  std::span<const std::byte> bytes;  ///< as long as the array is there

  /// What scatter() makes, with zeros between the elements.
  [[nodiscard]] static MemoryImage of(const MemorySpan& span, const tmajit::TensorView& view,
                                      std::span<const std::byte> array, const HostLayout& layout);
};

/// Copies in pieces, with progress, and waits for them.
void copy_in(tmajit::Device& device, tmajit::DevicePtr to, std::span<const std::byte> bytes);
void copy_out(tmajit::Device& device, std::span<std::byte> bytes, tmajit::DevicePtr from);

}  // namespace jitc
