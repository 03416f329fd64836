#include "transfer.hpp"

#include "terminal.hpp"

#include <tmajit/error.hpp>

#include <algorithm>
#include <cstring>
#include <type_traits>

#include <spdlog/fmt/fmt.h>

namespace jitc {
namespace {

using tmajit::Device;
using tmajit::DevicePtr;
using tmajit::TensorView;

constexpr std::uint64_t staging_bytes = std::uint64_t{64} << 20U;

struct Dimension {
  std::uint64_t extent = 1;
  std::int64_t device = 1;
  std::int64_t host = 1;
};

/// The dimensions by falling device stride, neighbours that are one run on both sides merged. Never empty.
std::vector<Dimension> normalise(const TensorView& view, std::span<const std::int64_t> host) {
  std::vector<Dimension> dimensions;
  for (std::uint32_t d = 0; d < view.rank; ++d) {
    if (view.shape[d] != 1) dimensions.push_back({view.shape[d], view.strides[d], host[d]});
  }
  std::stable_sort(dimensions.begin(), dimensions.end(),
                   [](const Dimension& a, const Dimension& b) { return a.device > b.device; });
  std::uint64_t span = 1;  // elements from the first to one past the last of the inner dimensions
  for (std::size_t d = dimensions.size(); d-- > 0;) {
    const auto& dimension = dimensions[d];
    if (dimension.device <= 0 || static_cast<std::uint64_t>(dimension.device) < span) {
      throw tmajit::Error(
          tmajit::ErrorCode::unsupported,
          fmt::format(
              "strides {}: elements share or interleave memory, but a .npy file holds every element once; "
              "legal are strides of at least the elements that the inner dimensions span",
              fmt::join(view.strides.begin(), view.strides.begin() + view.rank, ",")));
    }
    span += (dimension.extent - 1) * static_cast<std::uint64_t>(dimension.device);
  }
  std::vector<Dimension> merged;
  for (const auto& inner : dimensions) {
    const auto extent = static_cast<std::int64_t>(inner.extent);
    if (!merged.empty() && merged.back().device == inner.device * extent &&
        merged.back().host == inner.host * extent) {
      merged.back() = {merged.back().extent * inner.extent, inner.device, inner.host};
    } else {
      merged.push_back(inner);
    }
  }
  if (merged.empty()) merged.emplace_back();
  return merged;
}

/// The host's array: only read on the way to the device.
template <bool to_device>
using HostByte = std::conditional_t<to_device, const std::byte, std::byte>;

template <class Element, bool to_device>
void move_elements(std::byte* staged, HostByte<to_device>* host, const Segment& segment) {
  for (std::uint64_t i = 0; i < segment.count; ++i) {
    const auto step = static_cast<std::int64_t>(i);
    auto* const a = staged + step * segment.device_step * static_cast<std::int64_t>(sizeof(Element));
    auto* const b = host + step * segment.host_step * static_cast<std::int64_t>(sizeof(Element));
    if constexpr (to_device) {
      std::memcpy(a, b, sizeof(Element));
    } else {
      std::memcpy(b, a, sizeof(Element));
    }
  }
}

/// Moves a segment between the staging buffer and the host's array.
template <bool to_device>
void move_segment(std::uint32_t size, std::byte* staged, HostByte<to_device>* host, const Segment& segment) {
  if (segment.device_step == 1 && segment.host_step == 1) {
    if constexpr (to_device) {
      std::memcpy(staged, host, segment.count * size);
    } else {
      std::memcpy(host, staged, segment.count * size);
    }
    return;
  }
  switch (size) {
    case 1: return move_elements<std::uint8_t, to_device>(staged, host, segment);
    case 2: return move_elements<std::uint16_t, to_device>(staged, host, segment);
    case 4: return move_elements<std::uint32_t, to_device>(staged, host, segment);
    default: return move_elements<std::uint64_t, to_device>(staged, host, segment);
  }
}

void swap_bytes(std::span<std::byte> bytes, std::uint32_t size) {
  for (std::size_t at = 0; at + size <= bytes.size(); at += size) {
    std::reverse(bytes.data() + at, bytes.data() + at + size);
  }
}

/// Device addresses a segment covers, from its first element to one past its last.
std::uint64_t extent_of(const Segment& segment) {
  return (segment.count - 1) * static_cast<std::uint64_t>(segment.device_step) + 1;
}

/// Segments that lie within one staging buffer.
struct Batch {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::vector<Segment> segments;
};

void for_each_batch(const TensorView& view, std::span<const std::int64_t> host,
                    const std::function<void(const Batch&)>& take) {
  const std::uint64_t most = staging_bytes / tmajit::size_of(view.type);
  // A row of one element takes a segment of its own; their list must stay small beside the buffer.
  constexpr std::size_t most_segments = std::size_t{1} << 20U;
  Batch batch;
  const auto flush = [&] {
    if (!batch.segments.empty()) take(batch);
    batch.segments.clear();
  };
  for_each_segment(view, host, [&](Segment segment) {
    while (segment.count > 0) {
      Segment part = segment;
      part.count = std::min(segment.count, (most - 1) / static_cast<std::uint64_t>(segment.device_step) + 1);
      const std::uint64_t end = part.device + extent_of(part);
      if (!batch.segments.empty() && (end - batch.begin > most || batch.segments.size() == most_segments))
        flush();
      if (batch.segments.empty()) batch.begin = part.device;
      batch.end = end;
      batch.segments.push_back(part);
      segment.count -= part.count;
      segment.device += part.count * static_cast<std::uint64_t>(segment.device_step);
      segment.host += static_cast<std::uint64_t>(static_cast<std::int64_t>(part.count) * segment.host_step);
    }
  });
  flush();
}

}  // namespace

void for_each_segment(const TensorView& view, std::span<const std::int64_t> host,
                      const std::function<void(const Segment&)>& take) {
  if (view.elements() == 0) return;
  const auto dimensions = normalise(view, host);
  const std::span<const Dimension> outer(dimensions.data(), dimensions.size() - 1);
  const Dimension& inner = dimensions.back();
  std::vector<std::uint64_t> index(outer.size(), 0);
  for (;;) {
    Segment segment{0, 0, inner.extent, inner.device, inner.host};
    for (std::size_t d = 0; d < outer.size(); ++d) {
      segment.device += index[d] * static_cast<std::uint64_t>(outer[d].device);
      segment.host += index[d] * static_cast<std::uint64_t>(outer[d].host);
    }
    take(segment);
    std::size_t d = outer.size();
    while (d > 0 && ++index[d - 1] == outer[d - 1].extent) index[--d] = 0;
    if (d == 0) return;
  }
}

void upload(Device& device, DevicePtr destination, const TensorView& view, std::span<const std::byte> source,
            const HostLayout& layout) {
  const std::uint32_t size = tmajit::size_of(view.type);
  if (view.span_bytes() > source.size()) device.fill(destination, std::byte{0}, view.span_bytes(), nullptr);
  Progress progress("copying to the device", source.size());
  std::vector<std::byte> staging;
  for_each_batch(view, layout.strides, [&](const Batch& batch) {
    const auto target = destination + batch.begin * size;
    const std::uint64_t bytes = (batch.end - batch.begin) * size;
    const Segment& first = batch.segments.front();
    if (batch.segments.size() == 1 && first.device_step == 1 && first.host_step == 1 && !layout.swapped) {
      device.copy_in(target, source.subspan(first.host * size, bytes), nullptr);
    } else {
      staging.assign(bytes, std::byte{0});
      for (const auto& segment : batch.segments) {
        move_segment<true>(size, staging.data() + (segment.device - batch.begin) * size,
                           source.data() + segment.host * size, segment);
      }
      if (layout.swapped) swap_bytes(staging, size);
      device.copy_in(target, staging, nullptr);
      device.synchronize(nullptr);
    }
    progress.advance(bytes);
  });
  device.synchronize(nullptr);
}

void download(Device& device, std::span<std::byte> destination, DevicePtr source, const TensorView& view) {
  const std::uint32_t size = tmajit::size_of(view.type);
  const auto host = c_order(std::span(view.shape).first(view.rank));
  Progress progress("copying from the device", destination.size());
  std::vector<std::byte> staging;
  for_each_batch(view, host, [&](const Batch& batch) {
    const auto from = source + batch.begin * size;
    const std::uint64_t bytes = (batch.end - batch.begin) * size;
    const Segment& first = batch.segments.front();
    if (batch.segments.size() == 1 && first.device_step == 1 && first.host_step == 1) {
      device.copy_out(destination.subspan(first.host * size, bytes), from, nullptr);
      device.synchronize(nullptr);
    } else {
      staging.resize(bytes);
      device.copy_out(staging, from, nullptr);
      device.synchronize(nullptr);
      for (const auto& segment : batch.segments) {
        move_segment<false>(size, staging.data() + (segment.device - batch.begin) * size,
                            destination.data() + segment.host * size, segment);
      }
    }
    progress.advance(bytes);
  });
}

}  // namespace jitc
