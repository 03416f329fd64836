#include "spec/map_view.hpp"

#include "spec/counted.hpp"
#include "spec/dims.hpp"
#include "spec/limits.hpp"
#include "spec/map_rules.hpp"
#include "spec/saturate.hpp"

#include <tmajit/error.hpp>

#include <algorithm>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

/// The stride of a dimension, in bytes. No copy uses the stride of a dimension of extent 1, so a legal one
/// replaces it if it is illegal. NumPy's float32 array of shape [1, 5] has such a stride: 20 bytes.
std::uint64_t outer_stride(std::uint64_t extent, std::int64_t stride, std::uint64_t size,
                           Interleave interleave) noexcept {
  const auto bytes = sat_mul(static_cast<std::uint64_t>(stride), size);
  const std::uint64_t unit = stride_unit(interleave);
  if (extent != 1 || (bytes != 0 && bytes % unit == 0 && bytes < max_stride_bytes)) return bytes;
  return bytes < max_stride_bytes - unit ? std::max(round_up(bytes, unit), unit) : unit;
}

/// Whether addresses decrease along dimension d of the view.
bool goes_down(const TensorView& view, std::uint32_t d) noexcept {
  return view.strides[d] < 0 && view.shape[d] > 1;
}

}  // namespace

void set_view(TensorMapSpec& map, const TensorView& view) noexcept {
  const std::uint64_t size = size_of(map.type);
  for (std::uint32_t d = 0; d < std::min<std::uint32_t>(map.rank, max_map_rank); ++d) {
    map.shape[d] = view.shape[d];
    map.strides[d] = d + 1U < map.rank    ? outer_stride(view.shape[d], view.strides[d], size, map.interleave)
                     : view.shape[d] == 1 ? inner_unit(map.type, map.interleave)
                                          : sat_mul(static_cast<std::uint64_t>(view.strides[d]), size);
  }
}

void check_view(const TensorMapSpec& map, const TensorView& view, Violations& violations) {
  const std::uint32_t rank = std::min<std::uint32_t>(map.rank, max_map_rank);
  TensorMapSpec upwards = map;
  for (std::uint32_t d = 0; d < rank; ++d) {
    if (goes_down(view, d)) upwards.strides[d] = d + 1U < map.rank ? 0 : size_of(map.type);
  }
  check_extents(upwards, violations);
  for (std::uint32_t d = 0; d < rank; ++d) {
    if (!goes_down(view, d)) continue;
    violations.add({.rule = "view.negative-stride",
                    .subject = violations.entry("strides", d),
                    .found = fmt::format("{}", view.strides[d]),
                    .need = "0 or more: a tensor map only walks upwards",
                    .legal = "a view from the other end, its coordinates reversed",
                    .source = "cuTensorMapEncodeTiled, globalStrides"});
  }
}

namespace {

/// Completes `map` for `view`. Throws SpecError with all rules that map or view break.
TensorMapSpec checked(TensorMapSpec map, const TensorView& view) {
  map.type = view.type;
  map.rank = static_cast<std::uint8_t>(view.rank);
  for (std::uint32_t d = 0; d < std::min(view.rank, max_map_rank); ++d) {
    if (map.element_strides[d] == 0) map.element_strides[d] = 1;
  }
  Violations violations;
  check_form(map, violations);
  check_kind(map, violations);
  if (is_known(view.type)) {
    set_view(map, view);
    check_view(map, view, violations);
  }
  check_box(map, violations);
  if (violations.count() > 0) throw SpecError(violations.take());
  return map;
}

}  // namespace

TensorMapSpec TensorMapSpec::of(const TensorView& view, const Dims& box, Swizzle swizzle) {
  if (box.size() != view.rank) {
    throw Error(ErrorCode::invalid_argument, fmt::format("a box of {} for a view of {}; as many are needed",
                                                         counted(box.size(), "dimension"), view.rank));
  }
  TensorMapSpec map{.swizzle = swizzle};
  // If the view has too many dimensions, the map holds the outermost ones, without the innermost.
  for (std::uint32_t d = 0; d < std::min(view.rank, max_map_rank); ++d) map.box[d] = as_u32(box, d, "box");
  return checked(map, view);
}

TensorMapSpec TensorMapSpec::of(const TensorView& view, const TensorMapSpec& options) {
  return checked(options, view);
}

TensorMapSpec TensorMapSpec::im2col(const TensorView& images, const PixelBox& pixel_box, Swizzle swizzle) {
  return checked({.swizzle = swizzle, .mode = MapMode::im2col, .pixel_box = pixel_box}, images);
}

TMAJIT_END
