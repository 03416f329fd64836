#pragma once

#include "array_file.hpp"

#include <tmajit/device.hpp>
#include <tmajit/tensor_view.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace jitc {

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

/// Whether the elements fill the memory of the view in C order, without a gap.
[[nodiscard]] bool is_dense(const tmajit::TensorView& view);

}  // namespace jitc
