#include "memory_image.hpp"

#include "strided_copy.hpp"

#include <tmajit/error.hpp>

#include <spdlog/fmt/fmt.h>

namespace jitc {
namespace {

using tmajit::TensorView;

constexpr std::uint64_t most_bytes = std::uint64_t{1} << 48U;

std::span<const std::uint64_t> extents(const TensorView& view) {
  return std::span(view.shape).first(view.rank);
}
std::span<const std::int64_t> strides(const TensorView& view) {
  return std::span(view.strides).first(view.rank);
}

}  // namespace

MemorySpan MemorySpan::of(const TensorView& view, std::uint64_t offset) {
  if (view.elements() == 0) return {};
  const std::uint64_t most = most_bytes / tmajit::size_of(view.type);
  std::uint64_t before = 0;
  std::uint64_t after = 1;
  for (std::uint32_t d = 0; d < view.rank; ++d) {
    const std::int64_t stride = view.strides[d];
    const std::uint64_t step =
        stride < 0 ? -static_cast<std::uint64_t>(stride) : static_cast<std::uint64_t>(stride);
    const std::uint64_t steps = view.shape[d] - 1;
    auto& side = stride < 0 ? before : after;
    if (steps != 0 && step > most / steps) side = most + 1;
    if (side <= most) side += steps * step;
    if (side > most) {
      throw tmajit::Error(
          tmajit::ErrorCode::unsupported,
          fmt::format(
              "shape {} with strides {} reaches over more than {} elements, which no device's memory holds",
              fmt::join(extents(view), "x"), fmt::join(strides(view), ","), most));
    }
  }
  if (offset > most) {
    throw tmajit::Error(tmajit::ErrorCode::unsupported,
                        fmt::format("an offset of {} elements; the most is {}", offset, most));
  }
  const std::uint64_t size = tmajit::size_of(view.type);
  return {.first = (before + offset) * size, .bytes = (before + offset + after) * size};
}

void scatter(std::span<std::byte> memory, const MemorySpan& span, const TensorView& view,
             std::span<const std::byte> array, const HostLayout& layout) {
  if (span.bytes == 0) return;
  copy_strided(tmajit::size_of(view.type), memory.data() + span.first, strides(view), array.data(),
               layout.strides, extents(view), layout.swapped);
}

void gather(std::span<std::byte> array, std::span<const std::byte> memory, const MemorySpan& span,
            const TensorView& view) {
  if (span.bytes == 0) return;
  copy_strided(tmajit::size_of(view.type), array.data(), c_order(extents(view)), memory.data() + span.first,
               strides(view), extents(view));
}

bool is_dense(const TensorView& view) {
  return view == TensorView::contiguous(view.type, extents(view));
}

}  // namespace jitc
