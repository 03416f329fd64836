#include "spec/limits.hpp"
#include "spec/map_rules.hpp"
#include "spec/saturate.hpp"

#include <algorithm>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

constexpr auto box_source = "cuTensorMapEncodeTiled, boxDim";
constexpr auto element_stride_source = "cuTensorMapEncodeTiled, elementStrides";

void check_box_range(const TensorMapSpec& map, std::uint32_t d, Violations& violations) {
  if (map.box[d] >= 1 && map.box[d] <= max_box) return;
  // The least that would be legal: 16 bytes in the innermost dimension.
  const bool inner = d + 1U == map.rank && is_known(map.type);
  const auto least = inner ? bulk_bytes / size_of(map.type) : 1U;
  violations.add({.rule = "box.range",
                  .subject = fmt::format("box[{}]", d),
                  .found = fmt::format("{}", map.box[d]),
                  .need = fmt::format("1 to {} elements", max_box),
                  .legal = fmt::format("box[{}] = {}", d, map.box[d] == 0 ? least : max_box),
                  .source = box_source});
}

void check_element_stride(const TensorMapSpec& map, std::uint32_t d, Violations& violations) {
  const auto stride = map.element_strides[d];
  if (stride == 1) return;
  const auto subject = fmt::format("element_strides[{}]", d);
  if (stride < 1 || stride > max_element_stride) {
    violations.add({.rule = "element-strides.range",
                    .subject = subject,
                    .found = fmt::format("{}", stride),
                    .need = fmt::format("1 to {}", max_element_stride),
                    .legal = fmt::format("{} = {}", subject, stride == 0 ? 1 : max_element_stride),
                    .source = element_stride_source});
  } else if (d + 1U == map.rank && map.interleave == Interleave::none) {
    violations.add(
        {.rule = "element-strides.innermost",
         .subject = subject,
         .found = fmt::format("{}", stride),
         .need = "1 in the innermost dimension, where the copy engine ignores it",
         .legal = fmt::format("{} = 1; view the tensor with a further dimension to skip elements", subject),
         .source = element_stride_source});
  }
}

void check_inner_bytes(const TensorMapSpec& map, Violations& violations) {
  if (!is_known(map.type)) return;
  const auto d = map.rank - 1U;
  const auto size = size_of(map.type);
  const auto bytes = sat_mul(map.box[d], size);
  // Slices are permuted whatever their number.
  const bool swizzled =
      map.swizzle != Swizzle::none && map.swizzle <= Swizzle::b128 && map.interleave == Interleave::none;
  const auto most = swizzled ? span_bytes(map.swizzle) : max_box * size;
  if (bytes % bulk_bytes == 0 && !(swizzled && bytes > most)) return;
  const auto found = fmt::format("{} bytes ({} × {})", bytes, map.box[d], name(map.type));
  const auto subject = fmt::format("box[{}]", d);
  if (bytes % bulk_bytes != 0) {
    const auto nearest = std::clamp<std::uint64_t>(round_up(bytes, bulk_bytes), bulk_bytes, most);
    violations.add({.rule = "box.inner-bytes",
                    .subject = subject,
                    .found = found,
                    .need = "a multiple of 16 bytes in the innermost dimension",
                    .legal = fmt::format("{} = {}", subject, nearest / size),
                    .source = box_source});
  }
  if (swizzled && bytes > most) {
    const auto wider = bytes <= 64 ? "64B" : "128B";
    violations.add({.rule = "box.swizzle",
                    .subject = subject,
                    .found = found,
                    .need = fmt::format("at most {} bytes under swizzle {}", most, name(map.swizzle)),
                    .legal = bytes <= 128 ? fmt::format("{} = {}, or swizzle {}", subject, most / size, wider)
                                          : fmt::format("{} = {}, or swizzle none", subject, most / size),
                    .source = "cuTensorMapEncodeTiled, interleave"});
  }
}

/// Bytes of a tile as the driver counts them: elements also where the copy engine moves slices, no padding,
/// and box / element stride rounded down where the engine rounds up, in the innermost dimension too.
std::uint64_t encoded_bytes(const TensorMapSpec& map) {
  std::uint64_t bytes = size_of(map.type);
  for (std::uint32_t d = 0; d < map.rank; ++d) {
    if (map.element_strides[d] > 0) bytes = sat_mul(bytes, map.box[d] / map.element_strides[d]);
  }
  return bytes;
}

void check_tile_bytes(const TensorMapSpec& map, Violations& violations) {
  const auto tile = tile_layout(map);
  const auto rows = max_shared_bytes_per_cta / std::max(tile.pitch_bytes, 1U);
  const auto legal = rows == 0 ? std::string("fewer columns")
                               : fmt::format("at most {} rows, all outer dimensions together", rows);
  if (const auto bytes = encoded_bytes(map); bytes > max_encoded_tile_bytes) {
    violations.add(
        {.rule = "box.bytes",
         .subject = "box",
         .found = fmt::format("{} bytes a tile", bytes),
         .need = fmt::format("at most the {} bytes of shared memory that an SM has", max_encoded_tile_bytes),
         .legal = legal,
         .source = "cuTensorMapEncodeTiled, measured (docs/tma.md)"});
  } else if (tile.bytes > max_shared_bytes_per_cta) {
    violations.add(
        {.rule = "box.shared-bytes",
         .subject = "box",
         .found = fmt::format("{} bytes a tile ({} rows of {})", tile.bytes, tile.rows, tile.pitch_bytes),
         .need =
             fmt::format("at most the {} bytes of shared memory that a CTA has", max_shared_bytes_per_cta),
         .legal = legal,
         .source = "CUDA C++ Programming Guide, Technical Specifications per Compute Capability"});
  }
}

}  // namespace

void check_box(const TensorMapSpec& map, Violations& violations) {
  if (map.rank < 1 || map.rank > max_map_rank) return;
  for (std::uint32_t d = 0; d < map.rank; ++d) {
    check_box_range(map, d, violations);
    check_element_stride(map, d, violations);
  }
  check_inner_bytes(map, violations);
  check_tile_bytes(map, violations);
}

TMAJIT_END
