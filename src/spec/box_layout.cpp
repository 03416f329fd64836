#include "spec/counted.hpp"
#include "spec/dims.hpp"
#include "spec/limits.hpp"
#include "spec/saturate.hpp"
#include "spec/tile_extent.hpp"

#include <tmajit/box_layout.hpp>
#include <tmajit/error.hpp>
#include <tmajit/validate.hpp>

#include <algorithm>
#include <utility>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

/// Bytes of a line of shared memory: a swizzle moves bytes within a line.
constexpr std::uint32_t line_bytes = 128;

/// A tensor map with this box. Shape and strides are legal, so that only the box can break rules.
TensorMapSpec map_of_box(ElementType type, const Dims& box, Swizzle swizzle, Interleave interleave) {
  TensorMapSpec map{.type = type, .interleave = interleave, .swizzle = swizzle};
  map.rank = sat_cast<std::uint8_t>(box.size());
  // If there are too many dimensions, the map holds the outermost ones, and all of its strides are outer
  // ones.
  std::uint64_t stride = box.size() > max_map_rank ? stride_unit(interleave) : inner_unit(type, interleave);
  for (auto d = std::min<std::size_t>(box.size(), max_map_rank); d-- > 0;) {
    map.box[d] = as_u32(box, d, "box");
    map.element_strides[d] = 1;
    map.shape[d] = std::clamp(map.box[d], 1U, max_box);
    map.strides[d] = stride;
    stride = round_up(stride * map.shape[d], stride_unit(interleave));
  }
  return map;
}

/// `map` itself. Throws SpecError if it breaks a rule.
TensorMapSpec require_legal(const TensorMapSpec& map) {
  auto violations = validate(map);
  if (!violations.empty()) throw SpecError(std::move(violations));
  return map;
}

/// The end of the memory that a tile of `bytes` occupies: if it ends within a line, a swizzle may move its
/// last chunks to the rest of that line.
std::uint32_t swizzled_end(std::uint32_t bytes, Swizzle swizzle) noexcept {
  std::uint32_t end = bytes;
  for (auto chunk = bytes / line_bytes * line_bytes; chunk < bytes; chunk += bulk_bytes) {
    end = std::max(end, swizzled_offset(chunk, swizzle) + bulk_bytes);
  }
  return end;
}

}  // namespace

BoxLayout::BoxLayout(ElementType type, const Dims& box, Swizzle swizzle, Interleave interleave)
    : BoxLayout(map_of_box(type, box, swizzle, interleave)) {}

BoxLayout::BoxLayout(const TensorMapSpec& map)
    : type_(require_legal(map).type), swizzle_(map.swizzle), interleave_(map.interleave), rank_(map.rank) {
  const bool interleaved = interleave_ != Interleave::none;
  if (map.mode == MapMode::im2col) {
    extents_ = {map.pixel_box.pixels, map.pixel_box.channels};
    rank_ = interleaved ? 1 : 2;  // a copy moves one slice of each pixel, not its channels
  } else {
    for (std::uint32_t d = 0; d < map.rank; ++d) extents_[d] = tile_extent(map, d);
  }
  if (interleaved) extents_[rank_++] = inner_unit(type_, interleave_) / size_of(type_);
  for (const auto extent : extents().first(rank_ - 1)) rows_ *= extent;
  // Slices are contiguous, whatever the swizzle.
  pitch_bytes_ = interleaved ? row_bytes() : std::max(row_bytes(), span_bytes(swizzle_));
  bytes_ = swizzled_end(rows_ * pitch_bytes_, swizzle_);
  alignment_ = tile_layout(map).alignment;
}

std::uint32_t BoxLayout::offset(const Dims& index) const {
  if (index.size() != rank_) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("an index of {} into a tile of {}; as many are needed",
                            counted(index.size(), "number"), counted(rank_, "dimension")));
  }
  BoxElement element;
  for (std::uint32_t d = 0; d < rank_; ++d) {
    if (index[d] < 0 || index[d] >= std::int64_t{extents_[d]}) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("index {} of dimension {}: the tile has {}", index[d], d, extents_[d]));
    }
    const auto at = static_cast<std::uint32_t>(index[d]);
    if (d + 1 < rank_) element.row = element.row * extents_[d] + at;
    element.column = at;
  }
  return offset_of(element);
}

std::optional<BoxElement> BoxLayout::element(std::uint32_t offset) const noexcept {
  const auto linear = swizzled_offset(offset, swizzle_);
  const BoxElement element{.row = linear / pitch_bytes_, .column = linear % pitch_bytes_ / element_bytes()};
  if (element.row >= rows_ || element.column >= columns()) return std::nullopt;
  return element;
}

std::array<std::uint32_t, max_tile_rank> BoxLayout::index(BoxElement element) const noexcept {
  std::array<std::uint32_t, max_tile_rank> index{};
  index[rank_ - 1] = element.column;
  for (auto d = rank_ - 1; d-- > 0;) {
    index[d] = element.row % extents_[d];
    element.row /= extents_[d];
  }
  return index;
}

TMAJIT_END
