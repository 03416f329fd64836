/// The rules of one copy through a tensor map: of its box, or in mode im2col of its pixels.
#include "spec/counted.hpp"
#include "spec/limits.hpp"
#include "spec/map_rules.hpp"
#include "spec/saturate.hpp"

#include <tmajit/validate.hpp>

#include <algorithm>
#include <string>
#include <utility>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

/// The extent of the innermost dimension that a copy moves, and the field and driver parameter that
/// violations name for it.
struct Row {
  std::uint32_t extent = 0;
  std::string subject;
  std::string source;
};

Row row_of(const TensorMapSpec& map, const Violations& violations) {
  if (map.mode == MapMode::im2col)
    return {map.pixel_box.channels, "pixel_box.channels", driver_source(map, "channelsPerPixel")};
  const auto d = map.rank - 1U;
  return {map.box[d], violations.entry("box", d), driver_source(map, "boxDim")};
}

/// Whether the swizzle limits the bytes of a row. In interleaved layouts, whose rows are slices, it does not.
bool swizzle_limits_rows(const TensorMapSpec& map) noexcept {
  return map.swizzle != Swizzle::none && map.swizzle <= Swizzle::b128 && map.interleave == Interleave::none;
}

/// The most bytes that a row may have, as the driver counts them.
std::uint64_t max_row_bytes(const TensorMapSpec& map) noexcept {
  return swizzle_limits_rows(map) ? span_bytes(map.swizzle) : std::uint64_t{max_box} * size_of(map.type);
}

/// The legal extent of a row that is nearest to `extent`.
std::uint64_t nearest_row(const TensorMapSpec& map, std::uint32_t extent) noexcept {
  const auto bytes = round_up(sat_mul(extent, size_of(map.type)), bulk_bytes);
  return std::clamp<std::uint64_t>(bytes, bulk_bytes, max_row_bytes(map)) / size_of(map.type);
}

void check_box_range(const TensorMapSpec& map, std::uint32_t d, Violations& violations) {
  if (map.box[d] >= 1 && map.box[d] <= max_box) return;
  const bool inner = d + 1U == map.rank && is_known(map.type);
  const auto nearest = inner ? nearest_row(map, map.box[d]) : std::clamp(map.box[d], 1U, max_box);
  const auto subject = violations.entry("box", d);
  violations.add({.rule = "box.range",
                  .subject = subject,
                  .found = fmt::format("{}", map.box[d]),
                  .need = fmt::format("1 to {} elements", max_box),
                  .legal = fmt::format("{} = {}", subject, nearest),
                  .source = driver_source(map, "boxDim")});
}

void check_element_stride(const TensorMapSpec& map, std::uint32_t d, Violations& violations) {
  const auto stride = map.element_strides[d];
  if (stride == 1) return;
  const auto subject = violations.entry("element_strides", d);
  const bool innermost = d + 1U == map.rank;
  const bool ignored = innermost && map.interleave == Interleave::none;
  const auto first = first_image_dimension(map.interleave);
  const bool in_image = d >= first && d - first < image_dimensions(map);
  if (stride < 1 || stride > max_element_stride) {
    const bool may_exceed_1 = !ignored && (map.mode != MapMode::im2col || in_image);
    violations.add(
        {.rule = "element-strides.range",
         .subject = subject,
         .found = fmt::format("{}", stride),
         .need = fmt::format("1 to {}", max_element_stride),
         .legal = fmt::format("{} = {}", subject, stride != 0 && may_exceed_1 ? max_element_stride : 1),
         .source = driver_source(map, "elementStrides")});
  } else if (ignored) {
    violations.add(
        {.rule = "element-strides.innermost",
         .subject = subject,
         .found = fmt::format("{}", stride),
         .need = "1 in the innermost dimension, where the copy engine ignores it",
         .legal = fmt::format("{} = 1; view the tensor with a further dimension to skip elements", subject),
         .source = driver_source(map, "elementStrides")});
  } else if (map.mode == MapMode::im2col && !in_image) {
    violations.add(
        {.rule = "element-strides.image",
         .subject = subject,
         .found = fmt::format("{}", stride),
         .need = "1, except in the dimensions of an image, the only ones that the filter walks over",
         .legal = fmt::format("{} = 1; view the tensor with larger strides instead", subject),
         .source = "PTX ISA, Im2col mode, Traversal Stride"});
  }
}

/// Checks that a tensor map can encode the corners in dimension d of an image.
void check_corners(const TensorMapSpec& map, std::uint32_t d, Violations& violations) {
  const auto least = -(1 << pixel_offset_bits(map.rank)) / 2;
  const auto check = [&](std::int32_t corner, std::string_view field, std::string_view parameter) {
    const auto nearest = std::clamp(corner, least, -least - 1);
    if (corner == nearest) return;
    violations.add({.rule = "pixel-box.corner",
                    .subject = fmt::format("pixel_box.{}[{}]", field, d),
                    .found = fmt::format("{}", corner),
                    .need = fmt::format("{} to {} in a map of rank {}", least, -least - 1, map.rank),
                    .legal = fmt::format("pixel_box.{}[{}] = {}", field, d, nearest),
                    .source = driver_source(map, parameter)});
  };
  check(map.pixel_box.lower[d], "lower", "pixelBoxLowerCorner");
  check(map.pixel_box.upper[d], "upper", "pixelBoxUpperCorner");
}

void check_pixel_counts(const TensorMapSpec& map, Violations& violations) {
  const auto check = [&](std::uint32_t count, std::uint32_t most, std::uint64_t nearest,
                         std::string_view field, std::string_view parameter) {
    if (count >= 1 && count <= most) return;
    violations.add({.rule = fmt::format("pixel-box.{}", field),
                    .subject = fmt::format("pixel_box.{}", field),
                    .found = fmt::format("{}", count),
                    .need = fmt::format("1 to {}", most),
                    .legal = fmt::format("pixel_box.{} = {}", field, nearest),
                    .source = driver_source(map, parameter)});
  };
  const auto [channels, pixels] = std::pair(map.pixel_box.channels, map.pixel_box.pixels);
  check(channels, max_box,
        is_known(map.type) ? nearest_row(map, channels) : std::clamp(channels, 1U, max_box), "channels",
        "channelsPerPixel");
  check(pixels, max_pixels, std::clamp(pixels, 1U, max_pixels), "pixels", "pixelsPerColumn");
}

void check_inner_bytes(const TensorMapSpec& map, Violations& violations) {
  if (!is_known(map.type)) return;
  const Row row = row_of(map, violations);
  const auto size = size_of(map.type);
  const auto bytes = sat_mul(row.extent, size);
  const auto most = max_row_bytes(map);
  const bool too_wide = swizzle_limits_rows(map) && bytes > most;
  if (bytes % bulk_bytes == 0 && !too_wide) return;
  const auto found = fmt::format("{} ({} × {})", counted(bytes, "byte"), row.extent, name(map.type));
  if (bytes % bulk_bytes != 0) {
    violations.add({.rule = "box.inner-bytes",
                    .subject = row.subject,
                    .found = found,
                    .need = "a multiple of 16 bytes in the innermost dimension",
                    .legal = fmt::format("{} = {}", row.subject, nearest_row(map, row.extent)),
                    .source = row.source});
  }
  if (too_wide) {
    const auto wider_swizzle = bytes <= 64 ? "64B" : "128B";
    violations.add({.rule = "box.swizzle",
                    .subject = row.subject,
                    .found = found,
                    .need = fmt::format("at most {} bytes under swizzle {}", most, name(map.swizzle)),
                    .legal = bytes <= 128 ? fmt::format("{} = {}, or swizzle {}", row.subject, most / size,
                                                        wider_swizzle)
                                          : fmt::format("{} = {}, or swizzle none", row.subject, most / size),
                    .source = driver_source(map, "interleave")});
  }
}

/// Bytes of a tile as the driver counts them. It ignores padding, and counts elements even where the copy
/// engine moves slices of channels. It rounds box / element stride down in every dimension; the copy engine
/// rounds up, and ignores the innermost element stride (tile_extent).
std::uint64_t encoded_bytes(const TensorMapSpec& map) {
  std::uint64_t bytes = size_of(map.type);
  if (map.mode == MapMode::im2col)
    return sat_mul(sat_mul(bytes, map.pixel_box.channels), map.pixel_box.pixels);
  for (std::uint32_t d = 0; d < map.rank; ++d) {
    if (map.element_strides[d] > 0) bytes = sat_mul(bytes, map.box[d] / map.element_strides[d]);
  }
  return bytes;
}

void check_tile_bytes(const TensorMapSpec& map, Violations& violations) {
  const auto tile = tile_layout(map);
  const auto rows = max_shared_bytes_per_cta / std::max(tile.pitch_bytes, 1U);
  const bool tiled = map.mode != MapMode::im2col;
  // For an interleaved layout the driver counts all channels, although a copy moves one slice of them.
  const auto pixels = std::min<std::uint64_t>(
      rows, max_encoded_tile_bytes /
                std::max<std::uint64_t>(sat_mul(size_of(map.type), map.pixel_box.channels), 1));
  const auto legal = rows == 0 ? std::string("fewer columns")
                     : tiled ? fmt::format("at most {}, all outer dimensions together", counted(rows, "row"))
                             : fmt::format("pixel_box.pixels = {}", pixels);
  if (const auto bytes = encoded_bytes(map); bytes > max_encoded_tile_bytes) {
    violations.add(
        {.rule = "box.bytes",
         .subject = tiled ? "box" : "pixel_box",
         .found = fmt::format("{} bytes a tile", bytes),
         .need = fmt::format("at most the {} bytes of shared memory that an SM has", max_encoded_tile_bytes),
         .legal = legal,
         .source = tiled ? "cuTensorMapEncodeTiled, measured (docs/tma.md)"
                         : "measured: cuTensorMapEncodeIm2col of driver 580 on an H200"});
  } else if (tile.bytes > max_shared_bytes_per_cta) {
    violations.add({.rule = "box.shared-bytes",
                    .subject = tiled ? "box" : "pixel_box",
                    .found = fmt::format("{} bytes a tile ({} of {})", tile.bytes, counted(tile.rows, "row"),
                                         tile.pitch_bytes),
                    .need = fmt::format("at most the {} bytes of shared memory that a CTA has",
                                        max_shared_bytes_per_cta),
                    .legal = legal,
                    .source = "CUDA C++ Programming Guide, Technical Specifications per Compute Capability"});
  }
}

}  // namespace

void check_box(const TensorMapSpec& map, Violations& violations) {
  for (std::uint32_t d = 0; d < described_dims(map); ++d) {
    if (map.mode == MapMode::tiled) check_box_range(map, d, violations);
    check_element_stride(map, d, violations);
  }
  for (std::uint32_t d = 0; d < image_dimensions(map); ++d) check_corners(map, d, violations);
  if (map.mode == MapMode::im2col) check_pixel_counts(map, violations);
  // In an unknown mode neither box nor pixel_box can be checked.
  if (!has_legal_rank(map) || map.mode > MapMode::im2col) return;
  check_inner_bytes(map, violations);
  check_tile_bytes(map, violations);
}

TMAJIT_END
