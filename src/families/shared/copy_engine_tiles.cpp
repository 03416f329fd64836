#include "families/shared/copy_engine_tiles.hpp"

#include "spec/limits.hpp"
#include "spec/saturate.hpp"

#include <tmajit/engine_grid.cuh>

#include <algorithm>
#include <numeric>
#include <vector>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

TMAJIT_BEGIN
namespace {

/// One dimension of an operand's tensor map.
struct MapDimension {
  std::uint64_t extent = 1;  ///< elements of the map
  std::int64_t step = 0;     ///< bytes from one index to the next
  std::uint32_t box = 1;     ///< elements that a copy moves
};

constexpr std::uint32_t chunk_bytes = 16;        // bytes; strides and rows are multiples of this
constexpr std::uint32_t box_alignment = 128;     // alignment of boxes in shared memory
constexpr std::uint32_t first_alignment = 1024;  // alignment of the first box in shared memory

/// Bytes of a tile's line in each part. A line that is longer than a box can be is cut into equal parts.
std::uint32_t engine_line_bytes(const EngineTile& tile) {
  const std::uint32_t whole = tile.box[tile.inner] * tile.element_bytes;
  return whole / static_cast<std::uint32_t>(ceil_div(whole, std::uint64_t{max_box} * tile.map_element_bytes));
}

/// The number of lines of a tile. Lines run along dimension `inner`.
std::uint32_t lines(const EngineTile& tile) {
  return static_cast<std::uint32_t>(elements_of(tile.box, tile.rank) / tile.box[tile.inner]);
}

/// Makes the one dimension of a map that stands for all dimensions not in `order`. Returns false if its
/// extent would exceed the range of coordinates.
bool share_dimension(const MapOrder& order, const Problem& problem, std::uint32_t operand, EngineMap& map,
                     MapDimension& shared) {
  std::uint64_t stride = 0;
  for (std::uint32_t d = 0; d < problem.nest.rank; ++d) {
    if (!order.has(d)) stride = std::gcd(stride, static_cast<std::uint64_t>(problem.step(operand, d)));
  }
  std::uint64_t last = 0;
  for (std::uint32_t d = 0; d < problem.nest.rank; ++d) {
    if (order.has(d)) continue;
    // NOLINTNEXTLINE(clang-analyzer-core.DivideZero): the caller has checked that all steps are positive
    const std::uint64_t counts = static_cast<std::uint64_t>(problem.step(operand, d)) / stride;
    last = sat_add(last, sat_mul(counts, problem.nest.shape[d] - 1));
    if (last >= max_coordinate_extent) return false;
    map.fold[d] = static_cast<std::uint32_t>(counts);
  }
  shared = {.extent = last + 1, .step = static_cast<std::int64_t>(stride), .box = 1};
  return true;
}

/// Whether a tensor map can have such a stride.
bool is_map_step(std::int64_t step) noexcept {
  return step > 0 && step % chunk_bytes == 0 && static_cast<std::uint64_t>(step) < max_stride_bytes;
}

/// The tensor map of `dimensions`, outermost first, of which the last is contiguous. Nothing if no tensor map
/// can describe them.
std::optional<TensorMapSpec> plain_map(std::span<const MapDimension> dimensions, std::uint32_t element_bytes,
                                       DevicePtr address) {
  if (dimensions.size() > max_map_rank || address % chunk_bytes != 0) return std::nullopt;
  TensorMapSpec map;
  map.type = unsigned_of(element_bytes);
  map.rank = static_cast<std::uint8_t>(dimensions.size());
  std::fill_n(map.element_strides.begin(), map.rank, 1U);
  for (std::size_t k = 0; k < dimensions.size(); ++k) {
    const MapDimension& one = dimensions[k];
    const bool is_inner = k + 1 == dimensions.size();
    if (one.extent > max_coordinate_extent || one.box > max_box) return std::nullopt;
    if (!is_inner && !is_map_step(one.step)) return std::nullopt;
    map.shape[k] = one.extent;
    map.strides[k] = is_inner ? element_bytes : static_cast<std::uint64_t>(one.step);
    map.box[k] = one.box;
  }
  return map;
}

}  // namespace

bool MapOrder::has(std::uint32_t d) const noexcept {
  const auto end = dimension.begin() + count;
  return std::find(dimension.begin(), end, d) != end;
}

MapOrder map_order(const EngineTile& tile) noexcept {
  MapOrder order;
  const std::uint32_t row = tile.rank - 1;
  const auto put = [&](std::uint32_t d) {
    if (order.count < max_map_rank) order.dimension[order.count] = d;
    ++order.count;
  };
  for (std::uint32_t d = 0; d < row; ++d) {
    if (d == tile.inner) continue;
    if (tile.rank <= max_map_rank || tile.box[d] > 1) {
      put(d);
    } else {
      order.shared = true;
    }
  }
  put(row);
  if (tile.inner != row) put(tile.inner);
  return order;
}

EngineLayout engine_layout(const EngineTile& tile) noexcept {
  EngineLayout layout;
  const std::uint32_t line = engine_line_bytes(tile);
  layout.parts =
      static_cast<std::uint32_t>(ceil_div(std::uint64_t{tile.box[tile.inner]} * tile.element_bytes, line));
  layout.part_bytes = static_cast<std::uint32_t>(round_up(std::uint64_t{lines(tile)} * line, box_alignment));
  layout.load_bytes = layout.parts * lines(tile) * line;
  layout.bytes = tile.stages * layout.parts * layout.part_bytes + first_alignment;
  return layout;
}

std::optional<EngineMap> engine_map(const EngineTile& tile, const Problem& problem, std::uint32_t operand) {
  const CanonicalNest& nest = problem.nest;
  const MapOrder order = map_order(tile);
  if (order.rank() > max_map_rank) return std::nullopt;
  for (std::uint32_t d = 0; d < nest.rank; ++d) {
    if (d != tile.inner && !is_map_step(problem.step(operand, d))) return std::nullopt;
  }
  EngineMap map;
  std::array<MapDimension, max_map_rank> dimensions{};
  std::uint32_t count = 0;
  if (order.shared && !share_dimension(order, problem, operand, map, dimensions[count++]))
    return std::nullopt;
  const std::uint32_t size = tile.map_element_bytes;
  for (std::uint32_t k = 0; k < order.count; ++k) {
    const std::uint32_t d = order.dimension[k];
    const bool is_inner = d == tile.inner;
    dimensions[count++] = {.extent = is_inner ? nest.shape[d] * tile.element_bytes / size : nest.shape[d],
                           .step = problem.step(operand, d),
                           .box = is_inner ? engine_line_bytes(tile) / size : tile.box[d]};
  }
  const auto spec = plain_map(std::span(dimensions).first(count), size, problem.address[operand]);
  if (!spec) return std::nullopt;
  map.spec = *spec;
  return map;
}

void bind_engine_grid(const EngineTile& tile, const Problem& problem, const std::optional<EngineMap>& source,
                      const std::optional<EngineMap>& destination, ParameterBlock& parameters,
                      LaunchShape& shape) {
  const TileCounts counts = tile_counts(problem.nest, tile.box, tile.rank);
  const std::uint64_t count = product(counts, tile.rank);
  shape.grid = grid_of(ceil_div(count, tile.stages));
  with_constant(tile.rank, [&](auto rank) {
    params::EngineGrid<rank> grid{};
    for (std::uint32_t d = 0; d < rank; ++d) {
      grid.tiles[d] = make_divider<params::Divider>(counts[d]);
      const std::uint32_t scale = d == tile.inner ? tile.element_bytes : tile.map_element_bytes;
      grid.box[d] = static_cast<std::int32_t>(tile.box[d] * scale / tile.map_element_bytes);
      grid.source_fold[d] = source ? static_cast<std::int32_t>(source->fold[d]) : 0;
      grid.destination_fold[d] = destination ? static_cast<std::int32_t>(destination->fold[d]) : 0;
    }
    grid.count = static_cast<std::uint32_t>(count);
    parameters.add({"params::EngineGrid", rank}, "grid", grid);
  });
}

std::string box_function(std::string_view operand, const EngineTile& tile) {
  const MapOrder order = map_order(tile);
  std::vector<std::string> coordinates;
  for (std::uint32_t k = order.count; k-- > 0;) {
    const std::uint32_t d = order.dimension[k];
    coordinates.push_back(fmt::format("static_cast<i32>(tile.at[{0}]) * grid.box[{0}]", d));
  }
  if (order.shared) {
    std::string sum;
    for (std::uint32_t d = 0; d < tile.rank; ++d) {
      if (order.has(d)) continue;
      sum += fmt::format("{}static_cast<i32>(tile.at[{}]) * grid.{}_fold[{}]",
                         sum.empty() ? "" : " +\n           ", d, operand, d);
    }
    coordinates.push_back(sum);
  }
  return fmt::format(
      "__device__ __forceinline__ Coordinates<map_rank> {}_box(const params::EngineGrid<rank>& grid,\n"
      "                                                           const TileIndex<rank>& tile) {{\n"
      "  return {{{{{}}}}};\n}}\n",
      operand, fmt::join(coordinates, ",\n           "));
}

TMAJIT_END
