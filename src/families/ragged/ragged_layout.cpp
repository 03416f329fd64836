#include "families/ragged/ragged_layout.hpp"

#include "kernel/parameters.hpp"
#include "spec/limits.hpp"
#include "spec/saturate.hpp"

#include <tmajit/error.hpp>
#include <tmajit/ragged_batch.cuh>

#include <algorithm>
#include <cstring>
#include <limits>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

constexpr std::uint32_t shared_unit = 128;  // alignment of boxes and tensor maps in shared memory
constexpr std::uint32_t base_slack = 1024;  // bytes lost when the base of shared memory is aligned

/// Chooses a tile of about `tile_bytes`: the longest row, as far as a box holds it, then further dimensions.
void choose_tile(RaggedLayout& layout, const RaggedPairs& pairs, std::uint64_t tile_bytes) {
  const std::uint32_t inner = layout.rank - 1;
  const std::uint64_t size = layout.element_bytes;
  std::array<std::uint64_t, max_map_rank> longest{};
  for (const RaggedPair& pair : pairs.pairs) {
    for (std::uint32_t d = 0; d < layout.rank; ++d) longest[d] = std::max(longest[d], pair.extent[d]);
  }
  const std::uint64_t chunk = bulk_bytes / size;
  const std::uint64_t row = std::clamp<std::uint64_t>(round_up(longest[inner], chunk), chunk, max_box);
  layout.part_columns = static_cast<std::uint32_t>(row);
  std::uint64_t remaining = std::max<std::uint64_t>(tile_bytes / (row * size), 1);
  std::uint64_t parts = 1;
  // With one dimension, a tile is several boxes.
  if (layout.rank == 1 && row == max_box) {
    parts = std::min(remaining, ceil_div(longest[0], row));
    remaining /= parts;
  }
  layout.tile[inner] = static_cast<std::uint32_t>(row * parts);
  for (std::uint32_t d = inner; d-- > 0;) {
    const std::uint64_t extent =
        std::clamp<std::uint64_t>(std::min<std::uint64_t>(longest[d], remaining), 1, max_box);
    layout.tile[d] = static_cast<std::uint32_t>(extent);
    remaining = std::max<std::uint64_t>(remaining / extent, 1);
  }
}

/// Whether a tensor map can describe an operand, judging by its address, extents and strides.
bool is_mapped(const RaggedPair& pair, const RaggedPair::Operand& operand, std::uint32_t rank,
               std::uint64_t size) {
  if (operand.address % bulk_bytes != 0) return false;
  for (std::uint32_t d = 0; d < rank; ++d) {
    if (pair.extent[d] > max_coordinate_extent) return false;
    if (pair.extent[d] == 1) continue;
    const std::int64_t step = operand.stride[d] * static_cast<std::int64_t>(size);
    if (d + 1 == rank ? operand.stride[d] != 1
                      : step <= 0 || step % static_cast<std::int64_t>(bulk_bytes) != 0 ||
                            step >= static_cast<std::int64_t>(max_stride_bytes))
      return false;
  }
  return true;
}

/// Bytes from one index to the next; for an extent of 1, any legal stride of a tensor map.
std::uint64_t step_of(const RaggedPair& pair, const RaggedPair::Operand& operand, std::uint32_t d,
                      std::uint64_t size) {
  return pair.extent[d] == 1 ? bulk_bytes : static_cast<std::uint64_t>(operand.stride[d]) * size;
}

template <std::uint32_t rank>
void write_table(RaggedLayout& layout, const RaggedPairs& pairs) {
  using Entry = params::RaggedTensor<rank>;
  const std::uint64_t size = layout.element_bytes;
  const std::uint64_t chunk = bulk_bytes / size;
  layout.first_offset = pairs.pairs.size() * sizeof(Entry);
  layout.table.resize(layout.first_offset + (pairs.pairs.size() + 1) * sizeof(std::uint32_t));
  std::uint64_t tiles = 0;
  const auto write_first = [&](std::size_t number) {
    if (tiles > std::numeric_limits<std::int32_t>::max()) {
      throw Error(ErrorCode::unsupported,
                  fmt::format("{} tiles or more in one batch; at most 2^31 - 1 are possible. "
                              "Copy the tensors in several batches.",
                              tiles));
    }
    const auto first = static_cast<std::uint32_t>(tiles);
    std::memcpy(layout.table.data() + layout.first_offset + number * sizeof first, &first, sizeof first);
  };
  for (std::size_t n = 0; n < pairs.pairs.size(); ++n) {
    const RaggedPair& pair = pairs.pairs[n];
    Entry entry{};
    entry.destination = pair.destination.address;
    entry.source = pair.source.address;
    std::uint64_t tensor_tiles = 1;
    std::uint64_t elements = 1;
    for (std::uint32_t d = 0; d < rank; ++d) {
      entry.destination_step[d] = step_of(pair, pair.destination, d, size);
      entry.source_step[d] = step_of(pair, pair.source, d, size);
      entry.extent[d] = static_cast<std::uint32_t>(pair.extent[d]);
      entry.tiles[d] = static_cast<std::uint32_t>(ceil_div(pair.extent[d], layout.tile[d]));
      tensor_tiles = sat_mul(tensor_tiles, entry.tiles[d]);
      elements = sat_mul(elements, pair.extent[d]);
    }
    const bool mapped =
        is_mapped(pair, pair.destination, rank, size) && is_mapped(pair, pair.source, rank, size);
    entry.by_engine = mapped ? 1 : 0;
    layout.has_unmapped = layout.has_unmapped || !mapped;
    layout.row_tails = layout.row_tails || (mapped && pair.extent[rank - 1] % chunk != 0);
    write_first(n);
    std::memcpy(layout.table.data() + n * sizeof entry, &entry, sizeof entry);
    tiles = sat_add(tiles, tensor_tiles);
    layout.moved = sat_add(layout.moved, elements);
    if (!mapped) layout.by_threads = sat_add(layout.by_threads, elements);
  }
  write_first(pairs.pairs.size());
  layout.tiles = static_cast<std::uint32_t>(tiles);
  layout.count = static_cast<std::uint32_t>(pairs.pairs.size());
}

}  // namespace

std::uint32_t RaggedLayout::part_bytes() const noexcept {
  std::uint32_t bytes = part_columns * element_bytes;
  for (std::uint32_t d = 0; d + 1 < rank; ++d) bytes *= tile[d];
  return bytes;
}
std::uint32_t RaggedLayout::stage_bytes() const noexcept {
  return static_cast<std::uint32_t>(round_up(std::uint64_t{parts()} * part_bytes(), shared_unit));
}
std::uint32_t RaggedLayout::barriers() const noexcept {
  return map_image() + 2 * static_cast<std::uint32_t>(sizeof(params::TensorMap));
}
std::uint32_t RaggedLayout::shared_bytes() const noexcept {
  return barriers() + stages * static_cast<std::uint32_t>(sizeof(std::uint64_t)) + base_slack;
}

TensorMapSpec RaggedLayout::pattern() const {
  TensorMapSpec map{.type = unsigned_of(element_bytes), .rank = static_cast<std::uint8_t>(rank)};
  std::uint64_t step = element_bytes;
  for (std::uint32_t d = rank; d-- > 0;) {
    map.box[d] = d + 1 == rank ? part_columns : tile[d];
    map.element_strides[d] = 1;
    map.shape[d] = map.box[d];
    map.strides[d] = step;
    step = round_up(step * map.shape[d], bulk_bytes);
  }
  map.l2_promotion = L2Promotion::b256;
  return map;
}

RaggedLayout ragged_layout(const RaggedPairs& pairs, const RaggedTiling& tiling) {
  RaggedLayout layout{.rank = pairs.rank,
                      .element_bytes = pairs.element_bytes,
                      .stages = tiling.stages,
                      .ctas_per_sm = tiling.ctas_per_sm};
  choose_tile(layout, pairs, tiling.tile_bytes);
  with_constant(layout.rank, [&](auto rank) {
    if constexpr (rank <= max_map_rank) write_table<rank>(layout, pairs);
  });
  return layout;
}

TMAJIT_END
