#include "memory_image.hpp"

#include "walk.hpp"

#include <tmajit/error.hpp>

#include <algorithm>
#include <array>
#include <cstring>

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

template <class Element>
Element swapped(Element element) {
  std::array<std::byte, sizeof(Element)> bytes{};
  std::memcpy(bytes.data(), &element, sizeof(Element));
  std::reverse(bytes.begin(), bytes.end());
  std::memcpy(&element, bytes.data(), sizeof(Element));
  return element;
}

/// Copies elements of one strided array to another; what they are is of no concern.
template <class Element>
void copy_elements(std::byte* to, std::span<const std::int64_t> to_strides, const std::byte* from,
                   std::span<const std::int64_t> from_strides, std::span<const std::uint64_t> shape, bool swap) {
  constexpr auto size = static_cast<std::int64_t>(sizeof(Element));
  for_each_row<2>(shape, {to_strides, from_strides}, [&](const auto& offsets, std::uint64_t count, const auto& steps) {
    auto* out = to + offsets[0] * size;
    const auto* in = from + offsets[1] * size;
    if (!swap && steps[0] == 1 && steps[1] == 1) {
      std::memcpy(out, in, count * sizeof(Element));
      return;
    }
    for (std::uint64_t i = 0; i < count; ++i, out += steps[0] * size, in += steps[1] * size) {
      Element element;
      std::memcpy(&element, in, sizeof element);
      if (swap) element = swapped(element);
      std::memcpy(out, &element, sizeof element);
    }
  });
}

void copy_strided(std::uint32_t size, std::byte* to, std::span<const std::int64_t> to_strides, const std::byte* from,
                  std::span<const std::int64_t> from_strides, std::span<const std::uint64_t> shape, bool swap) {
  switch (size) {
    case 1: return copy_elements<std::uint8_t>(to, to_strides, from, from_strides, shape, swap);
    case 2: return copy_elements<std::uint16_t>(to, to_strides, from, from_strides, shape, swap);
    case 4: return copy_elements<std::uint32_t>(to, to_strides, from, from_strides, shape, swap);
    default: return copy_elements<std::uint64_t>(to, to_strides, from, from_strides, shape, swap);
  }
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
          fmt::format("shape {} with strides {} reaches over more than {} elements, which no device's memory holds",
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
  copy_strided(tmajit::size_of(view.type), memory.data() + span.first, strides(view), array.data(), layout.strides,
               extents(view), layout.swapped);
}

void gather(std::span<std::byte> array, std::span<const std::byte> memory, const MemorySpan& span,
            const TensorView& view) {
  if (span.bytes == 0) return;
  copy_strided(tmajit::size_of(view.type), array.data(), c_order(extents(view)), memory.data() + span.first,
               strides(view), extents(view), false);
}

bool is_dense(const TensorView& view) {
  return view == TensorView::contiguous(view.type, extents(view));
}

}  // namespace jitc
