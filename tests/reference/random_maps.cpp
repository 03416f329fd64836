#include "reference/random_maps.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace reference {

using namespace tmajit;

namespace {

constexpr std::uint64_t two_to_31 = 1ULL << 31;
constexpr std::uint64_t two_to_32 = 1ULL << 32;
constexpr std::uint64_t two_to_40 = 1ULL << 40;
constexpr std::uint64_t shared_bytes = 227ULL * 1024;

std::uint64_t random_extent(Random& random) {
  switch (between(random, 0, 9)) {
    case 0: return 1;
    case 1: return between(random, 1, two_to_31);
    case 2: return one_of(random, std::array{two_to_31, two_to_31 - 1});
    default: return between(random, 1, 1ULL << between(random, 1, 14));
  }
}

void choose_modes(Random& random, TensorMapSpec& map) {
  static constexpr std::array swizzles{Swizzle::none, Swizzle::b32, Swizzle::b64, Swizzle::b128};
  static constexpr std::array promotions{L2Promotion::none, L2Promotion::b64, L2Promotion::b128,
                                         L2Promotion::b256};
  map.swizzle = one_of(random, swizzles);
  map.l2_promotion = one_of(random, promotions);
  if (can_fill_nan(map.type) && one_in(random, 2)) map.oob_fill = OobFill::nan;
  if (map.rank >= 3 && one_in(random, 5)) {
    map.interleave = one_in(random, 2) ? Interleave::b16 : Interleave::b32;
  }
}

/// Bytes of an element of the innermost dimension.
std::uint32_t inner_unit(const TensorMapSpec& map) {
  switch (map.interleave) {
    case Interleave::b16: return 16;
    case Interleave::b32: return 32;
    default: return size_of(map.type);
  }
}

/// The innermost extent of the box: a multiple of 16 bytes, within the swizzle's span unless interleaved.
std::uint32_t random_inner_box(Random& random, const TensorMapSpec& map) {
  const auto size = size_of(map.type);
  const auto unit = 16 / size;
  auto max_inner_extent = 256U;
  if (map.swizzle != Swizzle::none && map.interleave == Interleave::none) {
    max_inner_extent = std::min(max_inner_extent, span_bytes(map.swizzle) / size);
  }
  return unit * static_cast<std::uint32_t>(between(random, 1, max_inner_extent / unit));
}

/// Boxes and element strides of a tile that fits shared memory.
void choose_box(Random& random, TensorMapSpec& map) {
  const auto inner = map.rank - 1U;
  map.box[inner] = random_inner_box(random, map);
  map.element_strides[inner] = 1;
  auto rows = shared_bytes / std::max<std::uint64_t>(std::uint64_t{map.box[inner]} * inner_unit(map),
                                                     span_bytes(map.swizzle));
  for (std::uint32_t i = 0; i < inner; ++i) {
    const auto d = inner - 1 - i;
    const auto stride = one_in(random, 4) ? between(random, 1, 8) : 1;
    auto extent = std::min<std::uint64_t>(rows, 256 / stride);
    if (!one_in(random, 4)) extent = std::min<std::uint64_t>(extent, 16);
    extent = one_in(random, 8) ? extent : between(random, 1, extent);
    map.element_strides[d] = static_cast<std::uint32_t>(stride);
    map.box[d] = static_cast<std::uint32_t>(extent * stride);
    rows = std::max<std::uint64_t>(rows / extent, 1);
  }
}

/// Channels, pixels and element strides of an im2col map's tile that fits shared memory.
void choose_pixels(Random& random, TensorMapSpec& map) {
  PixelBox& box = map.pixel_box;
  box.channels = random_inner_box(random, map);
  const auto row =
      std::max<std::uint64_t>(std::uint64_t{box.channels} * inner_unit(map), span_bytes(map.swizzle));
  const auto max_pixel_count = std::min<std::uint64_t>(shared_bytes / row, 1024);
  box.pixels =
      static_cast<std::uint32_t>(one_in(random, 8) ? max_pixel_count : between(random, 1, max_pixel_count));
  for (std::uint32_t d = 0; d < map.rank; ++d) {
    const bool is_image = map.interleave == Interleave::none ? d > 0 && d + 1U < map.rank : d > 1;
    const bool has_stride = is_image && one_in(random, 3);
    map.element_strides[d] = static_cast<std::uint32_t>(has_stride ? between(random, 1, 8) : 1);
  }
}

/// Corners that leave at least one position in each dimension. Half of the lower corners are between -4 and
/// 0, the others have any legal value.
void choose_corners(Random& random, TensorMapSpec& map) {
  const auto min_corner = -(std::int64_t{1} << (map.rank == 3 ? 15 : map.rank == 4 ? 7 : 4));
  for (std::uint32_t d = 0; d + 2U < map.rank; ++d) {
    // A corner from `least` to the largest legal one.
    const auto corner = [&](std::int64_t least) {
      const auto span = static_cast<std::uint64_t>(-min_corner - 1 - least);
      const auto beyond = one_in(random, 4) ? 0 : between(random, 0, one_in(random, 2) ? span : span / 8);
      return static_cast<std::int32_t>(least + static_cast<std::int64_t>(beyond));
    };
    const bool small = one_in(random, 2);
    const auto lower = small ? -static_cast<std::int64_t>(between(random, 0, 4)) : corner(min_corner);
    const bool interleaved = map.interleave != Interleave::none;
    const auto extent = static_cast<std::int64_t>(map.shape[d + (interleaved ? 2U : 1U)]);
    map.pixel_box.lower[d] = static_cast<std::int32_t>(lower);
    const auto max_upper = static_cast<std::int64_t>(two_to_31) - 1 - extent;
    const auto upper = corner(std::max(lower - extent + 1, min_corner));
    map.pixel_box.upper[d] = static_cast<std::int32_t>(std::min<std::int64_t>(upper, max_upper));
  }
}

void choose_shape_and_strides(Random& random, TensorMapSpec& map) {
  const auto inner = map.rank - 1U;
  const std::uint64_t unit = map.interleave == Interleave::b32 ? 32 : 16;
  std::uint64_t stride = inner_unit(map);
  for (std::uint32_t i = 0; i < map.rank; ++i) {
    const auto d = inner - i;
    map.shape[d] = random_extent(random);
    map.strides[d] = stride;
    const bool overflows = map.shape[d] > (two_to_40 - 64 * unit) / std::max<std::uint64_t>(stride, 1);
    stride *= overflows ? 0 : map.shape[d];
    const bool chooses_any = overflows || stride == 0 || one_in(random, 10);
    if (chooses_any) {
      // The driver accepts any stride: overlapping, descending or zero.
      stride = one_in(random, 4) ? one_of(random, std::array<std::uint64_t, 3>{0, unit, two_to_40 - unit})
                                 : unit * between(random, 1, (two_to_40 - 1) / unit);
    } else {
      stride = (stride + unit - 1) / unit * unit + (one_in(random, 3) ? unit * between(random, 0, 8) : 0);
    }
  }
}

/// Makes dimension `d` of the box so large that the tile takes about 227 or 228 KiB, if possible: the largest
/// tile up to this size, or one row more.
void fill_shared_memory(Random& random, TensorMapSpec& map, std::uint32_t d) {
  const auto tile_bytes = one_of(random, std::array<std::uint64_t, 2>{shared_bytes, shared_bytes + 1024});
  std::uint64_t bytes_per_index = inner_unit(map);
  for (std::uint32_t i = 0; i < std::min<std::uint32_t>(map.rank, max_map_rank); ++i) {
    const std::uint64_t step = std::max(map.element_strides[i], 1U);
    if (i != d) bytes_per_index *= std::clamp<std::uint64_t>((map.box[i] + step - 1) / step, 1, 256);
  }
  const auto extent = tile_bytes / bytes_per_index + between(random, 0, 1);
  map.box[d] = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(extent * map.element_strides[d], 1, 256));
}

template <typename Value, typename Values>
void set(Random& random, Value& field, const Values& values) {
  field = static_cast<Value>(one_of(random, values));
}

}  // namespace

TensorMapSpec legal_map(Random& random) {
  TensorMapSpec map{.type = one_of(random, all_element_types),
                    .rank = static_cast<std::uint8_t>(between(random, 1, max_map_rank))};
  choose_modes(random, map);
  choose_box(random, map);
  choose_shape_and_strides(random, map);
  return map;
}

TensorMapSpec legal_im2col_map(Random& random) {
  TensorMapSpec map{.type = one_of(random, all_element_types),
                    .rank = static_cast<std::uint8_t>(between(random, 3, max_map_rank)),
                    .mode = MapMode::im2col};
  choose_modes(random, map);
  choose_pixels(random, map);
  choose_shape_and_strides(random, map);
  choose_corners(random, map);
  return map;
}

namespace {

/// Changes one of the fields that only im2col maps have.
void mutate_pixels(Random& random, PixelBox& box) {
  static constexpr std::array corners{-32769, -32768, -129, -128, -17, -16,   -1,   0,
                                      1,      15,     16,   127,  128, 32767, 32768};
  const auto d = between(random, 0, 2);
  switch (between(random, 0, 5)) {
    case 0: set(random, box.lower.at(d), corners); break;
    case 1: set(random, box.upper.at(d), corners); break;
    case 2: set(random, box.channels, std::array<std::uint32_t, 6>{0, 1, 255, 256, 257, 512}); break;
    case 3: box.channels += one_in(random, 2) ? 1U : ~0U; break;
    case 4: set(random, box.pixels, std::array<std::uint32_t, 6>{0, 1, 1023, 1024, 1025, 1U << 31}); break;
    default: box.pixels = static_cast<std::uint32_t>(between(random, 1, 1024)); break;
  }
}

/// Changes the mode; half of the time also the fields that the new mode requires.
void change_mode(Random& random, TensorMapSpec& map) {
  if (map.mode == MapMode::tiled && map.rank > 0 && one_in(random, 2)) {
    map.mode = MapMode::im2col;
    map.pixel_box.channels = map.box.at(std::min<std::size_t>(map.rank, max_map_rank) - 1);
    map.pixel_box.pixels = 1;
    map.box.fill(0);
    return;
  }
  set(random, map.mode, std::array<std::uint8_t, 4>{0, 1, 2, 255});
}

}  // namespace

void mutate(Random& random, TensorMapSpec& map) {
  for (auto times = between(random, 1, 2); times > 0; --times) {
    const auto d =
        map.rank == 0 ? 0 : between(random, 0, std::min<std::uint64_t>(map.rank, max_map_rank) - 1);
    const auto inner = map.rank == 0 ? 0 : std::min<std::uint32_t>(map.rank, max_map_rank) - 1U;
    if (map.mode == MapMode::im2col && one_in(random, 2)) {
      mutate_pixels(random, map.pixel_box);
      continue;
    }
    switch (between(random, 0, 15)) {
      case 0:
        set(random, map.shape[d],
            std::array<std::uint64_t, 8>{0, 1, two_to_31, two_to_31 + 1, two_to_32, two_to_32 + 1,
                                         two_to_32 * 2, ~0ULL});
        break;
      case 1: map.strides[d] += one_of(random, std::array<std::uint64_t, 7>{1, 2, 4, 8, 16, 24, 32}); break;
      case 2:
        set(random, map.strides[d],
            std::array<std::uint64_t, 9>{0, 8, 16, 48, two_to_40 - 32, two_to_40 - 16, two_to_40,
                                         two_to_40 + 32, 1ULL << 63});
        break;
      case 3:
        set(random, map.box[d], std::array<std::uint32_t, 8>{0, 1, 2, 255, 256, 257, 512, 1U << 31});
        break;
      case 4: map.box[inner] += one_in(random, 2) ? 1U : ~0U; break;
      case 5: map.box[inner] *= 2; break;
      case 6:
        set(random, map.element_strides[d], std::array<std::uint32_t, 8>{0, 1, 2, 3, 7, 8, 9, 255});
        break;
      case 7:
        set(random, map.interleave, std::array<std::uint8_t, 4>{0, 1, 2, 3});
        map.strides[inner] = inner_unit(map);
        break;
      case 8: set(random, map.swizzle, std::array<std::uint8_t, 6>{0, 1, 2, 3, 4, 255}); break;
      case 9: set(random, map.oob_fill, std::array<std::uint8_t, 4>{0, 1, 1, 2}); break;
      case 10:
        map.type = one_of(random, all_element_types);
        map.strides[inner] = inner_unit(map);
        break;
      case 11: set(random, map.rank, std::array<std::uint8_t, 5>{0, 1, 2, 3, 6}); break;
      case 12: set(random, map.l2_promotion, std::array<std::uint8_t, 3>{0, 3, 4}); break;
      case 14: change_mode(random, map); break;
      case 13: fill_shared_memory(random, map, static_cast<std::uint32_t>(d)); break;
      default: map.type = static_cast<ElementType>(one_in(random, 2) ? all_element_types.size() : 255); break;
    }
  }
}

}  // namespace reference
