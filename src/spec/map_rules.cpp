#include "spec/map_rules.hpp"

#include "spec/counted.hpp"
#include "spec/limits.hpp"
#include "spec/saturate.hpp"

#include <tmajit/validate.hpp>

#include <algorithm>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

template <typename Enum>
void check_known(Enum value, Enum last, std::string_view field, std::string_view legal, std::string source,
                 Violations& violations) {
  if (value <= last) return;
  violations.add({.rule = fmt::format("{}.known", field),
                  .subject = std::string(field),
                  .found = fmt::format("{}", static_cast<unsigned>(value)),
                  .need = "one of the enumerators",
                  .legal = std::string(legal),
                  .source = std::move(source)});
}

void check_enumerators(const TensorMapSpec& map, Violations& violations) {
  check_known(map.mode, MapMode::im2col, "mode", "tiled or im2col",
              "PTX ISA, Tensor Access Modes: those of sm_90", violations);
  check_known(map.type, all_element_types.back(), "type", "an ElementType: u8 … e5m2",
              driver_source(map, "tensorDataType"), violations);
  check_known(map.interleave, Interleave::b32, "interleave", "none, 16B or 32B",
              driver_source(map, "interleave"), violations);
  check_known(map.swizzle, Swizzle::b128, "swizzle", "none, 32B, 64B or 128B", driver_source(map, "swizzle"),
              violations);
  check_known(map.l2_promotion, L2Promotion::b256, "l2-promotion", "none, 64B, 128B or 256B",
              driver_source(map, "l2Promotion"), violations);
  check_known(map.oob_fill, OobFill::nan, "oob-fill", "zero or nan", driver_source(map, "oobFill"),
              violations);
}

void check_combinations(const TensorMapSpec& map, Violations& violations) {
  const bool flat = map.rank == 1 || map.rank == 2;
  if (map.mode == MapMode::im2col && flat) {
    violations.add({.rule = "rank.im2col",
                    .subject = "rank",
                    .found = fmt::format("{} in mode im2col", map.rank),
                    .need = "3 to 5: images, one to three dimensions of each, channels",
                    .legal = "rank 3 with further dimensions of extent 1, or mode tiled",
                    .source = driver_source(map, "tensorRank")});
  } else if (map.interleave != Interleave::none && flat) {
    violations.add({.rule = "rank.interleave",
                    .subject = "rank",
                    .found = fmt::format("{} with interleave {}", map.rank, name(map.interleave)),
                    .need = "at least 3 with an interleaved layout",
                    .legal = "rank 3 with outer dimensions of extent 1, or interleave none",
                    .source = driver_source(map, "tensorRank")});
  }
  if (map.oob_fill == OobFill::nan && is_known(map.type) && !can_fill_nan(map.type)) {
    violations.add({.rule = "oob-fill.type",
                    .subject = "oob-fill",
                    .found = fmt::format("nan for {}", name(map.type)),
                    .need = "zero, or a tensor map of a floating-point type (fp8 travels as an integer)",
                    .legal = "oob-fill zero",
                    .source = driver_source(map, "oobFill")});
  }
}

void check_rank(const TensorMapSpec& map, Violations& violations) {
  if (has_legal_rank(map)) return;
  violations.add({.rule = "rank.range",
                  .subject = "rank",
                  .found = fmt::format("{}", map.rank),
                  .need = fmt::format("1 to {}", max_map_rank),
                  .legal = map.rank > max_map_rank
                               ? "rank 5; merge dimensions that lie densely, or loop over the outermost"
                           : map.mode == MapMode::im2col ? "rank 3 with extents of 1"
                                                         : "rank 1 with shape[0] = 1",
                  .source = driver_source(map, "tensorRank")});
}

/// Checks that `values` are zero from index `first` on. `why` says why they are unused: "in mode tiled".
template <typename Array>
void check_zero(const Array& values, std::uint32_t first, std::string_view field, std::string_view rule,
                const std::string& why, Violations& violations) {
  for (std::uint32_t d = first; d < values.size(); ++d) {
    if (values[d] == 0) continue;
    violations.add({.rule = std::string(rule),
                    .subject = fmt::format("{}[{}]", field, d),
                    .found = fmt::format("{} {}", values[d], why),
                    .need = fmt::format("0 {}, so that equal tensor maps are equal bytes", why),
                    .legal = fmt::format("{}[{}] = 0", field, d),
                    .source = "tmajit, TensorMapSpec"});
  }
}

/// Checks that the fields of the other mode are zero.
void check_other_mode(const TensorMapSpec& map, Violations& violations) {
  if (map.mode > MapMode::im2col) return;  // the mode is unknown, and so is the other one
  constexpr std::string_view rule = "mode.unused";
  const auto why = fmt::format("in mode {}", name(map.mode));
  if (map.mode == MapMode::im2col) return check_zero(map.box, 0, "box", rule, why, violations);
  check_zero(map.pixel_box.lower, 0, "pixel_box.lower", rule, why, violations);
  check_zero(map.pixel_box.upper, 0, "pixel_box.upper", rule, why, violations);
  if (map.pixel_box.channels == 0 && map.pixel_box.pixels == 0) return;
  violations.add({.rule = std::string(rule),
                  .subject = "pixel_box",
                  .found = fmt::format("{} of {} {}", counted(map.pixel_box.channels, "channel"),
                                       counted(map.pixel_box.pixels, "pixel"), why),
                  .need = fmt::format("none {}, so that equal tensor maps are equal bytes", why),
                  .legal = "pixel_box = {}, or mode im2col",
                  .source = "tmajit, TensorMapSpec"});
}

void check_unused_bytes(const TensorMapSpec& map, Violations& violations) {
  if (map.reserved != 0) {
    violations.add({.rule = "reserved.zero",
                    .subject = "reserved",
                    .found = fmt::format("{}", map.reserved),
                    .need = "0",
                    .legal = "reserved = 0",
                    .source = "tmajit, TensorMapSpec"});
  }
  check_other_mode(map, violations);
  if (!has_legal_rank(map)) return;  // where the tail begins is unknown
  constexpr std::string_view rule = "tail.zero";
  const auto why = fmt::format("beyond rank {}", map.rank);
  check_zero(map.shape, map.rank, "shape", rule, why, violations);
  check_zero(map.strides, map.rank, "strides", rule, why, violations);
  check_zero(map.element_strides, map.rank, "element_strides", rule, why, violations);
  if (map.mode != MapMode::im2col) return check_zero(map.box, map.rank, "box", rule, why, violations);
  check_zero(map.pixel_box.lower, image_dimensions(map), "pixel_box.lower", rule, why, violations);
  check_zero(map.pixel_box.upper, image_dimensions(map), "pixel_box.upper", rule, why, violations);
}

std::string shape_source(const TensorMapSpec& map) {
  return driver_source(map, "globalDim");
}
std::string stride_source(const TensorMapSpec& map) {
  return driver_source(map, "globalStrides");
}

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
                    .source = shape_source(map)});
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

/// The number of elements if the tensor is dense, so that it can be viewed as 1-D; else 0.
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
    legal = d + 2U == map.rank
                ? fmt::format("pad rows to {} ({} bytes)", counted(elements, "element"), padded)
                : fmt::format("{} = {} ({} bytes)", subject, counted(elements, "element"), padded);
    const auto dense = dense_elements(map);
    // Interleaved maps and maps of images need their dimensions.
    if (map.mode == MapMode::tiled && map.interleave == Interleave::none && dense > 0 &&
        dense <= max_coordinate_extent) {
      legal += fmt::format(", or view it as 1-D of {}", counted(dense, "element"));
    }
  }
  violations.add(
      {.rule = "strides.multiple",
       .subject = subject,
       .found = counted(map.strides[d], "byte"),
       .need = fmt::format("a multiple of {} bytes{}", unit, unit == 32 ? " with interleave 32B" : ""),
       .legal = std::move(legal),
       .source = stride_source(map)});
}

void check_stride(const TensorMapSpec& map, std::uint32_t d, Violations& violations) {
  check_stride_multiple(map, d, violations);
  if (map.strides[d] >= max_stride_bytes) {
    const auto most = max_stride_bytes - stride_unit(map.interleave);
    const auto subject = violations.entry("strides", d);
    violations.add(
        {.rule = "strides.range",
         .subject = subject,
         .found = counted(map.strides[d], "byte"),
         .need = "less than 2^40 bytes",
         .legal = fmt::format("{} = {} bytes at most; loop over the dimension instead", subject, most),
         .source = stride_source(map)});
  }
}

void check_innermost_stride(const TensorMapSpec& map, Violations& violations) {
  if (!is_known(map.type)) return;
  const auto d = map.rank - 1U;
  const auto unit = inner_unit(map.type, map.interleave);
  if (map.strides[d] == unit) return;
  const auto subject = violations.entry("strides", d);
  violations.add(
      {.rule = "strides.innermost",
       .subject = subject,
       .found = counted(map.strides[d], "byte"),
       .need = fmt::format("{}: {} of the innermost dimension lie side by side", counted(unit, "byte"),
                           map.interleave == Interleave::none ? "elements" : "slices"),
       .legal = fmt::format("{} = {}; view a strided innermost dimension as an outer one above a "
                            "dimension of extent 1",
                            subject, counted(unit, "byte")),
       .source = stride_source(map)});
}

/// Checks the corners in dimension d of an image. In an interleaved layout the dimension of slices precedes
/// the image's (NC/8DHWC8), and the driver compares the corners with the last dimensions. It adds extent and
/// corner in 32 bits.
void check_bounding_box(const TensorMapSpec& map, std::uint32_t d, Violations& violations) {
  const auto extent = map.shape[d + first_image_dimension(map.interleave)];
  if (extent == 0 || extent > max_coordinate_extent) return;  // reported by another rule
  const auto subject = fmt::format("pixel_box.upper[{}]", d);
  const auto end = static_cast<std::int64_t>(extent) + map.pixel_box.upper[d];
  if (const auto beyond = end - static_cast<std::int64_t>(max_coordinate_extent); beyond >= 0) {
    violations.add({.rule = "pixel-box.end",
                    .subject = subject,
                    .found = fmt::format("a bounding box up to {}", end - 1),
                    .need = "an extent and an upper corner that add up to less than 2^31",
                    .legal = fmt::format("{} = {}", subject, map.pixel_box.upper[d] - beyond - 1),
                    .source = "measured: cuTensorMapEncodeIm2col of driver 580 on an H200"});
    return;
  }
  const auto positions = end - map.pixel_box.lower[d];
  if (positions >= 1) return;
  violations.add(
      {.rule = "pixel-box.area",
       .subject = subject,
       .found = fmt::format("a bounding box from {} to {}", map.pixel_box.lower[d], end - 1),
       .need = map.interleave == Interleave::none
                   ? "at least one position: lower up to extent - 1 + upper"
                   : "at least one position in each of the last dimensions, which are the image's with "
                     "an interleaved layout: lower up to extent - 1 + upper",
       .legal = fmt::format("{} = {}; a filter that is larger than the padded image has no position", subject,
                            map.pixel_box.upper[d] + 1 - positions),
       .source = driver_source(map, "pixelBoxUpperCorner")});
}

}  // namespace

std::string driver_source(const TensorMapSpec& map, std::string_view parameter) {
  return fmt::format("cuTensorMapEncode{}, {}", map.mode == MapMode::im2col ? "Im2col" : "Tiled", parameter);
}

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
  violations.add({.rule = "address.alignment",
                  .subject = "address",
                  .found = fmt::format("{:#x}, {} past a multiple of {}", address,
                                       counted(address % unit, "byte"), unit),
                  .need = map.interleave == Interleave::b32 ? "a multiple of 32 bytes with interleave 32B"
                                                            : "a multiple of 16 bytes",
                  .legal = fmt::format("{:#x}: begin the view there and move the coordinates",
                                       nearest_aligned(address, unit)),
                  .source = driver_source(map, "globalAddress")});
}

void check_extents(const TensorMapSpec& map, Violations& violations) {
  for (std::uint32_t d = 0; d < described_dims(map); ++d) {
    check_extent(map, d, violations);
    if (d + 1U < map.rank) check_stride(map, d, violations);
  }
  if (has_legal_rank(map)) check_innermost_stride(map, violations);
  for (std::uint32_t d = 0; d < image_dimensions(map); ++d) check_bounding_box(map, d, violations);
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
