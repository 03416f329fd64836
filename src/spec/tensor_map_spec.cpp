#include "spec/dims.hpp"
#include "spec/enum_names.hpp"
#include "spec/limits.hpp"
#include "spec/saturate.hpp"
#include "spec/tile_extent.hpp"

#include <tmajit/tensor_map_spec.hpp>

#include <algorithm>
#include <array>
#include <span>

TMAJIT_BEGIN
namespace {

constexpr EnumNames<MapMode, 2> modes{"tensor map mode", {"tiled", "im2col"}};
constexpr EnumNames<Swizzle, 4> swizzles{"swizzle", {"none", "32B", "64B", "128B"}};
constexpr EnumNames<Interleave, 3> interleaves{"interleave", {"none", "16B", "32B"}};
constexpr EnumNames<L2Promotion, 4> promotions{"L2 promotion", {"none", "64B", "128B", "256B"}};
constexpr EnumNames<OobFill, 2> fills{"out-of-bounds fill", {"zero", "nan"}};

/// The alignment of a tile in shared memory: a swizzle's pattern repeats after eight rows of its span.
std::uint32_t required_alignment(Swizzle swizzle) noexcept {
  switch (swizzle) {
    case Swizzle::b32: return 256;
    case Swizzle::b64: return 512;
    case Swizzle::b128: return 1024;
    default: return 128;
  }
}

bool is_known(Swizzle swizzle) noexcept {
  return swizzle <= Swizzle::b128;
}

/// A tile whose innermost dimension counts units of `unit` bytes and whose rows begin at least `min_pitch`
/// bytes apart.
TileLayout layout_of(std::span<const std::uint32_t> tile, std::uint32_t unit,
                     std::uint32_t min_pitch) noexcept {
  TileLayout layout;
  if (tile.empty()) return layout;
  layout.rows = 1;
  for (const auto extent : tile.first(tile.size() - 1)) layout.rows = sat_mul(layout.rows, extent);
  layout.row_bytes = sat_cast<std::uint32_t>(sat_mul(tile.back(), unit));
  layout.pitch_bytes = std::max(layout.row_bytes, min_pitch);
  layout.bytes = sat_mul(layout.rows, layout.pitch_bytes);
  // A load counts the bytes that it delivers on its mbarrier, without the padding that a swizzle wider than
  // the row leaves between rows (docs/tma.md).
  layout.transaction_bytes = sat_mul(layout.rows, layout.row_bytes);
  return layout;
}

TileLayout dense_layout(ElementType type, std::span<const std::uint32_t> tile, Swizzle swizzle) noexcept {
  TileLayout layout = layout_of(tile, size_of(type), is_known(swizzle) ? span_bytes(swizzle) : 0);
  layout.alignment = required_alignment(swizzle);
  return layout;
}

}  // namespace

std::string_view name(MapMode mode) noexcept {
  return modes.of(mode);
}
std::string_view name(Swizzle swizzle) noexcept {
  return swizzles.of(swizzle);
}
std::string_view name(Interleave interleave) noexcept {
  return interleaves.of(interleave);
}
std::string_view name(L2Promotion promotion) noexcept {
  return promotions.of(promotion);
}
std::string_view name(OobFill fill) noexcept {
  return fills.of(fill);
}

template <>
MapMode parse<MapMode>(std::string_view text) {
  return modes.parse(text);
}
template <>
Swizzle parse<Swizzle>(std::string_view text) {
  return swizzles.parse(text);
}
template <>
Interleave parse<Interleave>(std::string_view text) {
  return interleaves.parse(text);
}
template <>
L2Promotion parse<L2Promotion>(std::string_view text) {
  return promotions.parse(text);
}
template <>
OobFill parse<OobFill>(std::string_view text) {
  return fills.parse(text);
}

TileLayout tile_layout(ElementType type, const Dims& tile, Swizzle swizzle) {
  std::array<std::uint32_t, max_view_rank> extents{};
  for (std::size_t d = 0; d < tile.size(); ++d) extents[d] = as_u32(tile, d, "tile");
  return dense_layout(type, std::span(extents).first(tile.size()), swizzle);
}

TileLayout tile_layout(const TensorMapSpec& spec) noexcept {
  const bool pixels = spec.mode == MapMode::im2col;
  const auto rank = pixels ? 2 : std::min<std::uint32_t>(spec.rank, max_map_rank);
  const bool interleaved = spec.interleave != Interleave::none;
  std::array<std::uint32_t, max_map_rank> tile{spec.pixel_box.pixels,
                                               interleaved ? 1 : spec.pixel_box.channels};
  for (std::uint32_t d = 0; d < rank && !pixels; ++d) tile[d] = tile_extent(spec, d);
  if (!interleaved) return dense_layout(spec.type, std::span(tile).first(rank), spec.swizzle);
  // Slices are contiguous, whatever the swizzle.
  auto layout = layout_of(std::span(tile).first(rank), inner_unit(spec.type, spec.interleave), 0);
  layout.alignment = required_alignment(spec.swizzle);
  return layout;
}

TMAJIT_END
