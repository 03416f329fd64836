#include "conformance/random_pixels.hpp"

#include <tmajit/validate.hpp>

#include <algorithm>
#include <array>

namespace conformance {

using namespace tmajit;
using reference::between;
using reference::one_in;
using reference::one_of;
using reference::Random;

namespace {

constexpr std::uint32_t max_pixels = 200;

std::int64_t signed_between(Random& random, std::int64_t least, std::int64_t most) {
  return least + static_cast<std::int64_t>(between(random, 0, static_cast<std::uint64_t>(most - least)));
}

/// Chooses the number of slices of an interleaved image, and the slice that the copy moves.
void choose_slices(Random& random, TileCopy& copy, const PixelFeatures& features) {
  copy.map.shape[1] = between(random, 1, 4);
  const auto last = static_cast<std::int64_t>(copy.map.shape[1]) - (features.channels ? 0 : 1);
  copy.at[1] = signed_between(random, features.channels && copy.kind == TileCopy::Kind::load ? -1 : 0, last);
}

void choose_channels(Random& random, TileCopy& copy, const PixelFeatures& features) {
  TensorMapSpec& map = copy.map;
  const std::uint32_t unit = 16 / size_of(map.type);  // elements in 16 bytes
  const bool limited = map.swizzle != Swizzle::none && map.interleave == Interleave::none;
  const std::uint32_t most = limited ? span_bytes(map.swizzle) / size_of(map.type) : 16 * unit;
  map.pixel_box.channels = unit * static_cast<std::uint32_t>(between(random, 1, std::min(most, 64U) / unit));
  if (map.interleave != Interleave::none) return choose_slices(random, copy, features);
  std::uint64_t channels = map.pixel_box.channels;
  if (features.channels) channels = between(random, 1, 2 * channels);
  // "settle: reductions that end within 16 bytes" tests rows of reductions that end within a chunk.
  if (copy.kind == TileCopy::Kind::reduce) channels = (channels + unit - 1) / unit * unit;
  const std::uint32_t inner = map.rank - 1U;
  map.shape[inner] = channels;
  if (!features.channels) return;
  const std::int64_t step = unit;
  const std::int64_t beyond = static_cast<std::int64_t>(channels) / step + 1;
  copy.at[inner] =
      step *
      (one_in(random, 2) ? 0 : signed_between(random, copy.kind == TileCopy::Kind::load ? -1 : 0, beyond));
}

/// Chooses the corners of the bounding box in one dimension of the image, such that at least one position
/// lies between them.
void choose_corners(Random& random, TileCopy& copy, const PixelFeatures& features, std::uint32_t i) {
  TensorMapSpec& map = copy.map;
  const bool store = copy.kind != TileCopy::Kind::load;
  const auto extent = static_cast<std::int64_t>(map.shape[first_image_dimension(map.interleave) + i]);
  // A store is illegal if the bounding box reaches beyond the image (docs/tma.md).
  const std::int64_t most = store ? std::min<std::int64_t>(3, extent - 1) : 3;
  const std::int64_t lower = features.corners ? signed_between(random, store ? 0 : -4, most) : store ? 0 : -1;
  const std::int64_t upper = features.corners ? signed_between(random, -5, store ? 0 : 4) : -1;
  map.pixel_box.lower[i] = static_cast<std::int32_t>(lower);
  map.pixel_box.upper[i] = static_cast<std::int32_t>(std::max(upper, lower - extent + 1));
}

/// Chooses a reduction's operation and element type: a sum of u32, unless `features` have more.
void choose_operation(Random& random, TileCopy& copy, const PixelFeatures& features) {
  copy.map.type = ElementType::u32;
  if (features.operations) copy.operation = one_of(random, reference::all_engine_reductions);
  if (!features.types) return;
  do {
    copy.map.type = one_of(random, all_element_types);
  } while (!reference::engine_reduces(copy.operation, copy.map.type, reference::ReductionTarget::tensor));
}

void choose_image(Random& random, TileCopy& copy, const PixelFeatures& features) {
  TensorMapSpec& map = copy.map;
  constexpr std::array<std::uint64_t, 3> max_extents{40, 9, 5};
  const bool store = copy.kind != TileCopy::Kind::load;
  std::uint64_t positions = 1;
  const std::uint32_t first = first_image_dimension(map.interleave);
  for (std::uint32_t i = 0; i + 2U < map.rank; ++i)
    map.shape[first + i] = between(random, 1, max_extents.at(map.rank - 3U));
  for (std::uint32_t i = 0; i + 2U < map.rank; ++i) {
    choose_corners(random, copy, features, i);
    const std::uint32_t d = first + i;
    const std::int64_t lower = map.pixel_box.lower[i];
    if (features.strides && one_in(random, 2))
      map.element_strides[d] = static_cast<std::uint32_t>(between(random, 1, 4));
    const std::int64_t last = static_cast<std::int64_t>(map.shape[d]) - 1 + map.pixel_box.upper[i];
    copy.at[d] = signed_between(random, lower, last);
    if (!features.between || one_in(random, 2))
      copy.at[d] = lower + (copy.at[d] - lower) / map.element_strides[d] * map.element_strides[d];
    if (one_in(random, 3)) copy.at[d] = lower;
    // The offset of a tap of a dilated filter.
    if (!store && features.offsets)
      copy.offsets[i] = static_cast<std::int64_t>(between(random, 0, 3) * between(random, 1, 4));
    positions *= static_cast<std::uint64_t>((last - lower) / map.element_strides[d] + 1);
  }
  map.shape[0] = between(random, 1, 3);
  positions *= map.shape[0];
  const auto last = static_cast<std::int64_t>(map.shape[0]) - (features.images ? 0 : 1);
  copy.at[0] = one_in(random, 2) ? 0 : signed_between(random, 0, last);
  map.pixel_box.pixels =
      static_cast<std::uint32_t>(between(random, 1, std::min<std::uint64_t>(positions + 5, max_pixels)));
}

void choose_pixel_strides(Random& random, TensorMapSpec& map, bool padding) {
  const std::uint64_t unit = map.interleave == Interleave::b32 ? 32 : 16;
  const std::uint32_t inner = map.rank - 1U;
  map.strides[inner] = inner_bytes(map);
  std::uint64_t stride = map.shape[inner] * map.strides[inner];
  for (auto d = inner; d-- > 0;) {
    stride =
        (stride + unit - 1) / unit * unit + (padding && one_in(random, 3) ? unit * between(random, 0, 2) : 0);
    map.strides[d] = stride;
    stride *= map.shape[d];
  }
}

}  // namespace

TileCopy random_pixels(Random& random, TileCopy::Kind kind, const PixelFeatures& features) {
  while (true) {
    TileCopy copy{.kind = kind,
                  .map = {.rank = static_cast<std::uint8_t>(between(random, 3, max_map_rank)),
                          .mode = MapMode::im2col}};
    TensorMapSpec& map = copy.map;
    if (kind == TileCopy::Kind::reduce) {
      choose_operation(random, copy, features);
    } else {
      map.type = features.types ? one_of(random, all_element_types) : ElementType::u32;
    }
    if (features.swizzles) map.swizzle = static_cast<Swizzle>(between(random, 0, 3));
    map.l2_promotion = static_cast<L2Promotion>(between(random, 0, 3));
    if (can_fill_nan(map.type) && one_in(random, 3)) map.oob_fill = OobFill::nan;
    if (features.interleaved) map.interleave = one_in(random, 2) ? Interleave::b16 : Interleave::b32;
    std::fill_n(map.element_strides.begin(), map.rank, 1U);
    choose_channels(random, copy, features);
    choose_image(random, copy, features);
    choose_pixel_strides(random, map, features.padding);
    copy.moved = features.moved && one_in(random, 3);
    copy.prefetch = features.prefetch && kind == TileCopy::Kind::load && one_in(random, 2);
    if (features.hints) copy.hint = static_cast<std::uint32_t>(between(random, 1, hint_count - 1));
    if (validate(map).empty()) return copy;
  }
}

}  // namespace conformance
