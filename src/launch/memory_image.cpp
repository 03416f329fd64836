#include "launch/strided.hpp"
#include "spec/refuse.hpp"

#include <tmajit/launch/memory_image.hpp>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <optional>
#include <utility>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

/// Limit of a tensor's span: more than any GPU's memory, and so small that no offset overflows.
constexpr std::uint64_t max_bytes = std::uint64_t{1} << 48U;

/// Large copies are made in pieces, so that a caller can show progress.
constexpr std::size_t piece_bytes = std::size_t{64} << 20U;

/// Calls copy(piece, offset) for consecutive pieces of `bytes`.
template <class Byte, class Copy>
void in_pieces(Device& device, std::span<Byte> bytes, const std::function<void(std::uint64_t)>& copied,
               const Copy& copy) {
  for (std::size_t at = 0; at < bytes.size(); at += piece_bytes) {
    const auto piece = bytes.subspan(at, std::min(piece_bytes, bytes.size() - at));
    copy(piece, at);
    device.streams().synchronize(nullptr);
    if (copied) copied(piece.size());
  }
}

/// Copies elements from one strided array to another, whatever their type.
template <std::size_t bytes>
void copy_elements(std::byte* to, std::span<const std::int64_t> to_strides, const std::byte* from,
                   std::span<const std::int64_t> from_strides, std::span<const std::uint64_t> shape,
                   bool swap) {
  constexpr auto size = static_cast<std::int64_t>(bytes);
  for_each_row<2>(shape, {to_strides, from_strides},
                  [&](const auto& offsets, std::uint64_t count, const auto& steps) {
                    auto* out = to + offsets[0] * size;
                    const auto* in = from + offsets[1] * size;
                    if (!swap && steps[0] == 1 && steps[1] == 1) {
                      std::memcpy(out, in, count * bytes);
                      return;
                    }
                    for (std::uint64_t i = 0; i < count; ++i, out += steps[0] * size, in += steps[1] * size) {
                      std::array<std::byte, bytes> element;
                      std::memcpy(element.data(), in, bytes);
                      if (swap) std::ranges::reverse(element);
                      std::memcpy(out, element.data(), bytes);
                    }
                  });
}

/// Copies elements of `size` bytes (1, 2, 4 or 8) from one strided array in host memory to another of the
/// same shape, in C order. `swap` reverses the bytes of each element. Strides count elements and may be of
/// any sign; a source stride of 0 repeats an element.
void copy_strided(std::uint32_t size, std::byte* to, std::span<const std::int64_t> to_strides,
                  const std::byte* from, std::span<const std::int64_t> from_strides,
                  std::span<const std::uint64_t> shape, bool swap = false) {
  switch (size) {
    case 1: return copy_elements<1>(to, to_strides, from, from_strides, shape, swap);
    case 2: return copy_elements<2>(to, to_strides, from, from_strides, shape, swap);
    case 4: return copy_elements<4>(to, to_strides, from, from_strides, shape, swap);
    default: return copy_elements<8>(to, to_strides, from, from_strides, shape, swap);
  }
}

/// Whether the strides show easily that no two elements share an address: each stride is larger than the
/// reach of all smaller ones.
bool has_distinct_addresses(const TensorView& view) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> steps;  // stride, extent − 1
  for (std::uint32_t d = 0; d < view.rank; ++d) {
    if (view.shape[d] > 1) steps.emplace_back(std::abs(view.strides[d]), view.shape[d] - 1);
  }
  std::ranges::sort(steps);
  std::uint64_t reach = 0;
  for (const auto& [step, count] : steps) {
    if (step <= reach) return false;
    reach += step * count;
  }
  return true;
}

}  // namespace

MemorySpan MemorySpan::of(const TensorView& view, std::uint64_t offset) {
  if (view.elements() == 0) return {};
  const std::uint64_t most = max_bytes / size_of(view.type);
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
      throw SpecError({{.rule = "view.reach",
                        .subject = fmt::format("strides of shape {}", fmt::join(extents(view), "x")),
                        .found = fmt::format("{}", fmt::join(strides(view), ",")),
                        .need = fmt::format("at most {} elements from the first one to the last", most),
                        .legal = "smaller strides",
                        .source = "tmajit, memory of a device"}});
    }
  }
  if (offset > most) {
    throw SpecError({{.rule = "view.reach",
                      .subject = "offset",
                      .found = fmt::format("{} elements", offset),
                      .need = fmt::format("at most {}", most),
                      .legal = fmt::format("{}", most),
                      .source = "tmajit, memory of a device"}});
  }
  const std::uint64_t size = size_of(view.type);
  return {.first = (before + offset) * size, .bytes = (before + offset + after) * size};
}

void scatter(std::span<std::byte> memory, const MemorySpan& span, const TensorView& view,
             std::span<const std::byte> array, const HostLayout& layout) {
  if (span.bytes == 0) return;
  copy_strided(size_of(view.type), memory.data() + span.first, strides(view), array.data(), layout.strides,
               extents(view), layout.swapped);
}

void gather(std::span<std::byte> array, std::span<const std::byte> memory, const MemorySpan& span,
            const TensorView& view) {
  if (span.bytes == 0) return;
  copy_strided(size_of(view.type), array.data(), c_order(extents(view)), memory.data() + span.first,
               strides(view), extents(view));
}

std::vector<std::uint64_t> first_lost_element(const MemorySpan& span, const TensorView& view,
                                              std::span<const std::byte> array, const HostLayout& layout) {
  if (span.bytes == 0 || has_distinct_addresses(view)) return {};
  const std::int64_t size = size_of(view.type);
  std::vector<std::byte> memory(span.bytes);
  scatter(memory, span, view, array, layout);
  std::optional<std::uint64_t> lost;
  std::uint64_t number = 0;  // index of the element in C order
  for_each_row<2>(extents(view), {strides(view), layout.strides},
                  [&](const auto& offsets, std::uint64_t count, const auto& steps) {
                    const auto* stored = memory.data() + span.first + offsets[0] * size;
                    const auto* given = array.data() + offsets[1] * size;
                    for (std::uint64_t i = 0; i < count; ++i, ++number) {
                      const bool same = layout.swapped ? std::equal(stored, stored + size,
                                                                    std::make_reverse_iterator(given + size))
                                                       : std::equal(stored, stored + size, given);
                      if (!same && !lost) lost = number;
                      stored += steps[0] * size;
                      given += steps[1] * size;
                    }
                  });
  if (!lost) return {};
  std::vector<std::uint64_t> index(view.rank);
  for (std::size_t d = view.rank; d-- > 0; *lost /= view.shape[d]) index[d] = *lost % view.shape[d];
  return index;
}

MemoryImage MemoryImage::of(const MemorySpan& span, const TensorView& view, std::span<const std::byte> array,
                            const HostLayout& layout) {
  if (is_dense(view) && span.first == 0 && !layout.swapped && layout.strides == c_order(extents(view)))
    return {.own = {}, .bytes = array};
  MemoryImage image;
  image.own.resize(span.bytes);
  scatter(image.own, span, view, array, layout);
  image.bytes = image.own;
  return image;
}

void copy_in(Device& device, DevicePtr to, std::span<const std::byte> bytes,
             const std::function<void(std::uint64_t bytes)>& copied) {
  in_pieces(device, bytes, copied,
            [&](auto piece, std::size_t at) { device.memory().copy_in(to + at, piece, nullptr); });
}

void copy_out(Device& device, std::span<std::byte> bytes, DevicePtr from,
              const std::function<void(std::uint64_t bytes)>& copied) {
  in_pieces(device, bytes, copied,
            [&](auto piece, std::size_t at) { device.memory().copy_out(piece, from + at, nullptr); });
}

TMAJIT_END
