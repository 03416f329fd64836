#include "spec/map_rules.hpp"

#include "spec/limits.hpp"
#include "spec/saturate.hpp"

#include <tmajit/validate.hpp>

#include <algorithm>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

bool has_legal_rank(const TensorMapSpec& map) noexcept {
  return map.rank >= 1 && map.rank <= max_map_rank;
}

/// Dimensions that can be looked at. Of more than five the spec holds the first, all of them outer ones.
std::uint32_t held_dimensions(const TensorMapSpec& map) noexcept {
  return std::min<std::uint32_t>(map.rank, max_map_rank);
}

template <typename Enum>
void check_known(Enum value, Enum last, std::string_view field, std::string_view legal,
                 std::string_view parameter, Violations& violations) {
  if (value <= last) return;
  violations.add({.rule = fmt::format("{}.known", field),
                  .subject = std::string(field),
                  .found = fmt::format("{}", static_cast<unsigned>(value)),
                  .need = "one of the enumerators",
                  .legal = std::string(legal),
                  .source = fmt::format("cuTensorMapEncodeTiled, {}", parameter)});
}

void check_enumerators(const TensorMapSpec& map, Violations& violations) {
  check_known(map.type, all_element_types.back(), "type", "an ElementType: u8 … e5m2", "tensorDataType",
              violations);
  check_known(map.interleave, Interleave::b32, "interleave", "none, 16B or 32B", "interleave", violations);
  check_known(map.swizzle, Swizzle::b128, "swizzle", "none, 32B, 64B or 128B", "swizzle", violations);
  check_known(map.l2_promotion, L2Promotion::b256, "l2-promotion", "none, 64B, 128B or 256B", "l2Promotion",
              violations);
  check_known(map.oob_fill, OobFill::nan, "oob-fill", "zero or nan", "oobFill", violations);
}

void check_combinations(const TensorMapSpec& map, Violations& violations) {
  if (map.interleave != Interleave::none && (map.rank == 1 || map.rank == 2)) {
    violations.add({.rule = "rank.interleave",
                    .subject = "rank",
                    .found = fmt::format("{} with interleave {}", map.rank, name(map.interleave)),
                    .need = "at least 3 with an interleaved layout",
                    .legal = "rank 3 with outer dimensions of extent 1, or interleave none",
                    .source = "cuTensorMapEncodeTiled, tensorRank"});
  }
  if (map.oob_fill == OobFill::nan && is_known(map.type) && !can_fill_nan(map.type)) {
    violations.add({.rule = "oob-fill.type",
                    .subject = "oob-fill",
                    .found = fmt::format("nan for {}", name(map.type)),
                    .need = "zero unless the tensor map's type is floating point (fp8 travels as an integer)",
                    .legal = "oob-fill zero",
                    .source = "cuTensorMapEncodeTiled, oobFill"});
  }
}

void check_rank(const TensorMapSpec& map, Violations& violations) {
  if (has_legal_rank(map)) return;
  violations.add({.rule = "rank.range",
                  .subject = "rank",
                  .found = fmt::format("{}", map.rank),
                  .need = fmt::format("1 to {}", max_map_rank),
                  .legal = map.rank == 0
                               ? "rank 1 with shape[0] = 1"
                               : "rank 5; merge dimensions that lie densely, or loop over the outermost",
                  .source = "cuTensorMapEncodeTiled, tensorRank"});
}

template <typename Array>
void check_tail(const Array& values, std::uint32_t rank, std::string_view field, Violations& violations) {
  for (std::uint32_t d = rank; d < values.size(); ++d) {
    if (values[d] == 0) continue;
    violations.add({.rule = "tail.zero",
                    .subject = fmt::format("{}[{}]", field, d),
                    .found = fmt::format("{} beyond rank {}", values[d], rank),
                    .need = "0 beyond the rank, so that equal tensor maps are equal bytes",
                    .legal = fmt::format("{}[{}] = 0", field, d),
                    .source = "tmajit, TensorMapSpec"});
  }
}

void check_unused_bytes(const TensorMapSpec& map, Violations& violations) {
  if (std::ranges::any_of(map.reserved, [](auto byte) { return byte != 0; })) {
    violations.add({.rule = "reserved.zero",
                    .subject = "reserved",
                    .found = fmt::format("{}, {}", map.reserved[0], map.reserved[1]),
                    .need = "0",
                    .legal = "reserved = {0, 0}",
                    .source = "tmajit, TensorMapSpec"});
  }
  if (!has_legal_rank(map)) return;  // where the tail begins is unknown
  check_tail(map.shape, map.rank, "shape", violations);
  check_tail(map.strides, map.rank, "strides", violations);
  check_tail(map.box, map.rank, "box", violations);
  check_tail(map.element_strides, map.rank, "element_strides", violations);
}

constexpr auto box_source = "cuTensorMapEncodeTiled, boxDim";
constexpr auto element_stride_source = "cuTensorMapEncodeTiled, elementStrides";

/// Slices are permuted whatever their number, so that only rows of elements have to fit a swizzle.
bool limits_rows(const TensorMapSpec& map) noexcept {
  return map.swizzle != Swizzle::none && map.swizzle <= Swizzle::b128 && map.interleave == Interleave::none;
}

/// The most bytes of a row, as the driver counts it.
std::uint64_t most_row_bytes(const TensorMapSpec& map) noexcept {
  return limits_rows(map) ? span_bytes(map.swizzle) : std::uint64_t{max_box} * size_of(map.type);
}

/// The legal extent of the innermost dimension of a box that is nearest to what it is.
std::uint64_t nearest_row(const TensorMapSpec& map) noexcept {
  const auto bytes = round_up(sat_mul(map.box[map.rank - 1U], size_of(map.type)), bulk_bytes);
  return std::clamp<std::uint64_t>(bytes, bulk_bytes, most_row_bytes(map)) / size_of(map.type);
}

void check_box_range(const TensorMapSpec& map, std::uint32_t d, Violations& violations) {
  if (map.box[d] >= 1 && map.box[d] <= max_box) return;
  const bool inner = d + 1U == map.rank && is_known(map.type);
  const auto nearest = inner ? nearest_row(map) : std::clamp(map.box[d], 1U, max_box);
  const auto subject = violations.entry("box", d);
  violations.add({.rule = "box.range",
                  .subject = subject,
                  .found = fmt::format("{}", map.box[d]),
                  .need = fmt::format("1 to {} elements", max_box),
                  .legal = fmt::format("{} = {}", subject, nearest),
                  .source = box_source});
}

void check_element_stride(const TensorMapSpec& map, std::uint32_t d, Violations& violations) {
  const auto stride = map.element_strides[d];
  if (stride == 1) return;
  const auto subject = violations.entry("element_strides", d);
  const bool ignored = d + 1U == map.rank && map.interleave == Interleave::none;
  if (stride < 1 || stride > max_element_stride) {
    violations.add({.rule = "element-strides.range",
                    .subject = subject,
                    .found = fmt::format("{}", stride),
                    .need = fmt::format("1 to {}", max_element_stride),
                    .legal = fmt::format("{} = {}", subject, stride == 0 || ignored ? 1 : max_element_stride),
                    .source = element_stride_source});
  } else if (ignored) {
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
  const auto most = most_row_bytes(map);
  const bool too_wide = limits_rows(map) && bytes > most;
  if (bytes % bulk_bytes == 0 && !too_wide) return;
  const auto found = fmt::format("{} bytes ({} × {})", bytes, map.box[d], name(map.type));
  const auto subject = violations.entry("box", d);
  if (bytes % bulk_bytes != 0) {
    violations.add({.rule = "box.inner-bytes",
                    .subject = subject,
                    .found = found,
                    .need = "a multiple of 16 bytes in the innermost dimension",
                    .legal = fmt::format("{} = {}", subject, nearest_row(map)),
                    .source = box_source});
  }
  if (too_wide) {
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

constexpr auto shape_source = "cuTensorMapEncodeTiled, globalDim";
constexpr auto stride_source = "cuTensorMapEncodeTiled, globalStrides";

void check_extent(const TensorMapSpec& map, std::uint32_t d, Violations& violations) {
  const auto extent = map.shape[d];
  const auto subject = violations.entry("shape", d);
  if (extent == 0 || extent > max_extent) {
    violations.add({.rule = "shape.range",
                    .subject = subject,
                    .found = fmt::format("{}", extent),
                    .need = "1 to 2^32 elements",
                    .legal = extent == 0 ? fmt::format("{} = 1; an empty tensor needs no tensor map", subject)
                                         : fmt::format("{} = {}; split the dimension in two", subject,
                                                       max_coordinate_extent),
                    .source = shape_source});
  } else if (extent > max_coordinate_extent) {
    violations.add(
        {.rule = "shape.coordinates",
         .subject = subject,
         .found = fmt::format("{}", extent),
         .need = "at most 2^31 elements: coordinates are 32-bit signed, and loads from a larger tensor fault",
         .legal = fmt::format("{} = {}; split the dimension in two", subject, max_coordinate_extent),
         .source = "PTX ISA, cp.async.bulk.tensor, tensorCoords; measured (docs/tma.md)"});
  }
}

/// The number of elements if the tensor lies densely, so that it can be viewed as 1-D; else 0.
std::uint64_t dense_elements(const TensorMapSpec& map) {
  if (!has_legal_rank(map)) return 0;
  std::uint64_t elements = 1;
  for (auto d = map.rank; d-- > 0;) {
    if (map.shape[d] != 1 && map.strides[d] != sat_mul(elements, size_of(map.type))) return 0;
    elements = sat_mul(elements, map.shape[d]);
  }
  return elements;
}

void check_stride_multiple(const TensorMapSpec& map, std::uint32_t d, Violations& violations) {
  const std::uint64_t unit = stride_unit(map.interleave);
  if (map.strides[d] % unit == 0) return;
  const auto padded = std::min(round_up(map.strides[d], unit), max_stride_bytes - unit);
  const auto subject = violations.entry("strides", d);
  auto legal = fmt::format("{} = {} bytes", subject, padded);
  if (is_known(map.type)) {
    const auto elements = padded / size_of(map.type);
    legal = d + 2U == map.rank ? fmt::format("pad rows to {} elements ({} bytes)", elements, padded)
                               : fmt::format("{} = {} elements ({} bytes)", subject, elements, padded);
    const auto dense = dense_elements(map);
    // An interleaved map needs its dimensions.
    if (map.interleave == Interleave::none && dense > 0 && dense <= max_coordinate_extent) {
      legal += fmt::format(", or view it as 1-D of {} elements", dense);
    }
  }
  violations.add(
      {.rule = "strides.multiple",
       .subject = subject,
       .found = fmt::format("{} bytes", map.strides[d]),
       .need = fmt::format("a multiple of {} bytes{}", unit, unit == 32 ? " with interleave 32B" : ""),
       .legal = std::move(legal),
       .source = stride_source});
}

void check_stride(const TensorMapSpec& map, std::uint32_t d, Violations& violations) {
  check_stride_multiple(map, d, violations);
  if (map.strides[d] >= max_stride_bytes) {
    const auto most = max_stride_bytes - stride_unit(map.interleave);
    const auto subject = violations.entry("strides", d);
    violations.add(
        {.rule = "strides.range",
         .subject = subject,
         .found = fmt::format("{} bytes", map.strides[d]),
         .need = "less than 2^40 bytes",
         .legal = fmt::format("{} = {} bytes at most; loop over the dimension instead", subject, most),
         .source = stride_source});
  }
}

void check_innermost_stride(const TensorMapSpec& map, Violations& violations) {
  if (!is_known(map.type)) return;
  const auto d = map.rank - 1U;
  const auto unit = inner_unit(map.type, map.interleave);
  if (map.strides[d] == unit) return;
  const auto subject = violations.entry("strides", d);
  violations.add({.rule = "strides.innermost",
                  .subject = subject,
                  .found = fmt::format("{} bytes", map.strides[d]),
                  .need = fmt::format("{} bytes: {} of the innermost dimension lie side by side", unit,
                                      map.interleave == Interleave::none ? "elements" : "slices"),
                  .legal = fmt::format("{} = {} bytes; view a strided innermost dimension as an outer one "
                                       "above a dimension of extent 1",
                                       subject, unit),
                  .source = stride_source});
}

}  // namespace

void check_kind(const TensorMapSpec& map, Violations& violations) {
  check_enumerators(map, violations);
  check_combinations(map, violations);
}

void check_form(const TensorMapSpec& map, Violations& violations) {
  check_rank(map, violations);
  check_unused_bytes(map, violations);
}

void check_address(const TensorMapSpec& map, std::uint64_t address, Violations& violations) {
  const std::uint64_t unit = stride_unit(map.interleave);
  if (address % unit == 0) return;
  violations.add(
      {.rule = "address.alignment",
       .subject = "address",
       .found = fmt::format("{:#x}, {} bytes past a multiple of {}", address, address % unit, unit),
       .need = map.interleave == Interleave::b32 ? "a multiple of 32 bytes with interleave 32B"
                                                 : "a multiple of 16 bytes",
       .legal = fmt::format("{:#x}: begin the view there and move the coordinates",
                            nearest_aligned(address, unit)),
       .source = "cuTensorMapEncodeTiled, globalAddress"});
}

void check_box(const TensorMapSpec& map, Violations& violations) {
  for (std::uint32_t d = 0; d < held_dimensions(map); ++d) {
    check_box_range(map, d, violations);
    check_element_stride(map, d, violations);
  }
  if (!has_legal_rank(map)) return;
  check_inner_bytes(map, violations);
  check_tile_bytes(map, violations);
}

void check_extents(const TensorMapSpec& map, Violations& violations) {
  for (std::uint32_t d = 0; d < held_dimensions(map); ++d) {
    check_extent(map, d, violations);
    if (d + 1U < map.rank) check_stride(map, d, violations);
  }
  if (has_legal_rank(map)) check_innermost_stride(map, violations);
}

std::vector<Violation> validate(const TensorMapSpec& spec, std::optional<std::uint64_t> address) {
  Violations violations;
  check_form(spec, violations);
  check_kind(spec, violations);
  check_extents(spec, violations);
  check_box(spec, violations);
  if (address) check_address(spec, *address, violations);
  return violations.take();
}

TMAJIT_END
