#include "spec/limits.hpp"
#include "spec/map_rules.hpp"
#include "spec/saturate.hpp"

#include <algorithm>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

constexpr auto shape_source = "cuTensorMapEncodeTiled, globalDim";
constexpr auto stride_source = "cuTensorMapEncodeTiled, globalStrides";

void check_extent(const TensorMapSpec& map, std::uint32_t d, Violations& violations) {
  const auto extent = map.shape[d];
  if (extent == 0 || extent > max_extent) {
    violations.add(
        {.rule = "shape.range",
         .subject = fmt::format("shape[{}]", d),
         .found = fmt::format("{}", extent),
         .need = "1 to 2^32 elements",
         .legal = extent == 0
                      ? fmt::format("shape[{}] = 1; an empty tensor needs no tensor map", d)
                      : fmt::format("shape[{}] = {}; split the dimension in two", d, max_coordinate_extent),
         .source = shape_source});
  } else if (extent > max_coordinate_extent) {
    violations.add(
        {.rule = "shape.coordinates",
         .subject = fmt::format("shape[{}]", d),
         .found = fmt::format("{}", extent),
         .need = "at most 2^31 elements: coordinates are 32-bit signed, and loads from a larger tensor fault",
         .legal = fmt::format("shape[{}] = {}; split the dimension in two", d, max_coordinate_extent),
         .source = "PTX ISA, cp.async.bulk.tensor, tensorCoords; measured (docs/tma.md)"});
  }
}

/// The number of elements if the tensor lies densely, so that it can be viewed as 1-D; else 0.
std::uint64_t dense_elements(const TensorMapSpec& map) {
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
  auto legal = fmt::format("strides[{}] = {} bytes", d, padded);
  if (is_known(map.type)) {
    const auto elements = padded / size_of(map.type);
    legal = d + 2U == map.rank ? fmt::format("pad rows to {} elements ({} bytes)", elements, padded)
                               : fmt::format("strides[{}] = {} elements ({} bytes)", d, elements, padded);
    const auto dense = dense_elements(map);
    // An interleaved map needs its dimensions.
    if (map.interleave == Interleave::none && dense > 0 && dense <= max_extent) {
      legal += fmt::format(", or view it as 1-D of {} elements", dense);
    }
  }
  violations.add(
      {.rule = "strides.multiple",
       .subject = fmt::format("strides[{}]", d),
       .found = fmt::format("{} bytes", map.strides[d]),
       .need = fmt::format("a multiple of {} bytes{}", unit, unit == 32 ? " with interleave 32B" : ""),
       .legal = std::move(legal),
       .source = stride_source});
}

void check_stride(const TensorMapSpec& map, std::uint32_t d, Violations& violations) {
  check_stride_multiple(map, d, violations);
  if (map.strides[d] >= max_stride_bytes) {
    const auto most = max_stride_bytes - stride_unit(map.interleave);
    violations.add(
        {.rule = "strides.range",
         .subject = fmt::format("strides[{}]", d),
         .found = fmt::format("{} bytes", map.strides[d]),
         .need = "less than 2^40 bytes",
         .legal = fmt::format("strides[{}] = {} bytes at most; loop over the dimension instead", d, most),
         .source = stride_source});
  }
}

void check_innermost_stride(const TensorMapSpec& map, Violations& violations) {
  if (!is_known(map.type)) return;
  const auto d = map.rank - 1U;
  const auto unit = inner_unit(map.type, map.interleave);
  if (map.strides[d] == unit) return;
  violations.add(
      {.rule = "strides.innermost",
       .subject = fmt::format("strides[{}]", d),
       .found = fmt::format("{} bytes", map.strides[d]),
       .need = fmt::format("{} bytes: {} of the innermost dimension lie side by side", unit,
                           map.interleave == Interleave::none ? "elements" : "slices"),
       .legal = fmt::format("strides[{}] = {} bytes; view a strided innermost dimension as an outer one "
                            "above a dimension of extent 1",
                            d, unit),
       .source = stride_source});
}

}  // namespace

void check_extents(const TensorMapSpec& map, Violations& violations) {
  if (map.rank < 1 || map.rank > max_map_rank) return;
  for (std::uint32_t d = 0; d < map.rank; ++d) {
    check_extent(map, d, violations);
    if (d + 1U < map.rank) check_stride(map, d, violations);
  }
  check_innermost_stride(map, violations);
}

TMAJIT_END
