#include "conformance/random_tile.hpp"

#include <tmajit/validate.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <numeric>
#include <span>

namespace conformance {

using namespace tmajit;
using reference::between;
using reference::one_in;
using reference::one_of;
using reference::Random;

namespace {

constexpr std::uint64_t max_tile_bytes = 16 << 10;
constexpr std::uint64_t max_tensor_bytes = 128 << 10;

/// Elements in 16 bytes.
std::uint32_t granule(const TensorMapSpec& map) {
  return 16 / size_of(map.type);
}

void choose_modes(Random& random, TensorMapSpec& map, const TileFeatures& features) {
  map.type = features.type    ? *features.type
             : features.types ? one_of(random, all_element_types)
                              : ElementType::u32;
  map.rank = static_cast<std::uint8_t>(between(random, features.interleaved ? 3 : 1, max_map_rank));
  if (features.interleaved) map.interleave = one_in(random, 2) ? Interleave::b16 : Interleave::b32;
  if (features.swizzles) map.swizzle = static_cast<Swizzle>(between(random, 0, 3));
  // Interleave 32B is documented with SWIZZLE_32B only.
  if (features.swizzles && map.interleave == Interleave::b32) map.swizzle = Swizzle::b32;
  if (features.swizzles && map.interleave == Interleave::b16) map.swizzle = Swizzle::none;
  if (features.promotions) map.l2_promotion = static_cast<L2Promotion>(between(random, 0, 3));
  if (features.nan && can_fill_nan(map.type)) map.oob_fill = OobFill::nan;
}

void choose_box(Random& random, TensorMapSpec& map, const TileFeatures& features) {
  const std::uint32_t inner = map.rank - 1U;
  const bool limited = map.swizzle != Swizzle::none && map.interleave == Interleave::none;
  const std::uint32_t most =
      std::min(256U, limited ? span_bytes(map.swizzle) / size_of(map.type) : 8 * granule(map));
  const std::uint32_t max_granules = std::max(most / granule(map), 1U);
  map.box[inner] = granule(map) * static_cast<std::uint32_t>(limited && one_in(random, 2)
                                                                 ? max_granules
                                                                 : between(random, 1, max_granules));
  map.element_strides[inner] = features.strides ? static_cast<std::uint32_t>(between(random, 1, 8)) : 1;
  if (map.interleave != Interleave::none) map.element_strides[inner] = 1;
  std::uint64_t rows =
      max_tile_bytes / std::max<std::uint64_t>(std::uint64_t{map.box[inner]} * inner_bytes(map), 128);
  for (std::uint32_t d = inner; d-- > 0;) {
    const std::uint64_t stride = features.strides && one_in(random, 2) ? between(random, 1, 8) : 1;
    const std::uint64_t count = between(random, 1, std::min<std::uint64_t>(rows, one_in(random, 3) ? 24 : 5));
    map.element_strides[d] = static_cast<std::uint32_t>(stride);
    map.box[d] = static_cast<std::uint32_t>((count - 1) * stride + between(random, 1, stride));
    rows /= count;
  }
}

void choose_shape(Random& random, TensorMapSpec& map, const TileFeatures& features) {
  const std::uint32_t inner = map.rank - 1U;
  // In an interleaved layout, an element of the innermost dimension is a whole slice of 16 or 32 bytes.
  const std::uint64_t step = map.interleave == Interleave::none ? granule(map) : 1;
  const std::uint64_t box = map.box[inner];
  map.shape[inner] =
      features.chunks ? between(random, 1, 2 * box) : step * between(random, 1, 2 * box / step);
  if (!features.larger) map.shape[inner] = std::max(map.shape[inner], box);
  for (std::uint32_t d = 0; d < inner; ++d) {
    map.shape[d] = features.larger ? between(random, 1, map.box[d]) : map.box[d] + between(random, 0, 4);
    if (features.huge && one_in(random, 2))
      map.shape[d] = (1ULL << between(random, 20, 31)) - between(random, 0, 3);
  }
}

void choose_tile_strides(Random& random, TensorMapSpec& map, const TileFeatures& features) {
  const std::uint32_t inner = map.rank - 1U;
  const std::uint64_t unit = map.interleave == Interleave::b32 ? 32 : 16;
  map.strides[inner] = inner_bytes(map);
  std::array<std::uint32_t, max_map_rank> order{};
  std::iota(order.begin(), order.begin() + inner, 0U);
  std::reverse(order.begin(), order.begin() + inner);
  if (features.permuted) std::shuffle(order.begin(), order.begin() + inner, random);
  std::uint64_t stride = map.shape[inner] * inner_bytes(map);
  for (const std::uint32_t d : std::span(order).first(inner)) {
    stride = (stride + unit - 1) / unit * unit;
    if (features.padded) stride += unit * between(random, 0, 3);
    map.strides[d] = stride;
    if (map.shape[d] > (1U << 20) - 4) {
      map.strides[d] = 0;  // with any other stride, the tensor would exceed max_tensor_bytes
      continue;
    }
    if (features.overlapping && one_in(random, 2)) map.strides[d] = unit * between(random, 0, 3);
    stride = std::max(stride, map.strides[d] * map.shape[d]);
  }
}

void choose_coordinates(Random& random, TileCopy& copy, const TileFeatures& features) {
  const TensorMapSpec& map = copy.map;
  const std::uint32_t inner = map.rank - 1U;
  const bool loads = copy.kind == TileCopy::Kind::load;
  for (std::uint32_t d = 0; d < map.rank; ++d) {
    const auto step =
        static_cast<std::int64_t>(d == inner && map.interleave == Interleave::none ? granule(map) : 1);
    const auto shape = static_cast<std::int64_t>(map.shape[d]);
    const auto box = static_cast<std::int64_t>(map.box[d]);
    const std::int64_t least = features.outside && loads ? -box : 0;
    const std::int64_t most = features.outside ? shape + 1 : std::max<std::int64_t>(shape - box, 0);
    const auto positions = static_cast<std::uint64_t>((most - least) / step);
    copy.at[d] = least / step * step + step * static_cast<std::int64_t>(between(random, 0, positions));
    // In half of the cases, the box ends at the end of a huge extent.
    if (features.huge && shape > 1 << 19 && one_in(random, 2))
      copy.at[d] = std::max<std::int64_t>(shape - box, 0);
  }
}

}  // namespace

TileCopy random_tile(Random& random, TileCopy::Kind kind, const TileFeatures& features) {
  while (true) {
    TileCopy copy{.kind = kind, .map = {}};
    choose_modes(random, copy.map, features);
    choose_box(random, copy.map, features);
    choose_shape(random, copy.map, features);
    choose_tile_strides(random, copy.map, features);
    if (!validate(copy.map).empty() || tensor_bytes(copy.map) > max_tensor_bytes) continue;
    choose_coordinates(random, copy, features);
    if (features.shifted) copy.begin = static_cast<std::uint32_t>(128 * between(random, 1, 7));
    if (features.hints) copy.hint = static_cast<std::uint32_t>(between(random, 1, hint_count - 1));
    copy.prefetch = features.prefetch && kind == TileCopy::Kind::load;
    copy.moved = features.moved;
    return copy;
  }
}

}  // namespace conformance
