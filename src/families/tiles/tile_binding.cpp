#include "families/shared/views.hpp"
#include "families/tiles/tile_family.hpp"
#include "spec/limits.hpp"
#include "spec/saturate.hpp"

#include <tmajit/numbers.cuh>
#include <tmajit/tile_grid.cuh>

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

/// The grid for `tiles` tiles. A persistent grid has at most as many CTAs as the chip holds at once. Any
/// other grid has a CTA for every `tiles_per_cta` tiles.
std::array<std::uint32_t, 3> grid_for(const TileSpec& spec, std::uint64_t tiles, std::uint32_t sm_count) {
  if (spec.tiles_per_cta > 0) return grid_of(std::max<std::uint64_t>(ceil_div(tiles, spec.tiles_per_cta), 1));
  const std::uint64_t resident = std::max<std::uint64_t>(std::uint64_t{sm_count} * spec.ctas_per_sm, 1);
  return grid_of(std::clamp<std::uint64_t>(tiles, 1, resident));
}

constexpr std::array input_names{"x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7"};

std::string_view name_of(const TileSpec& spec, std::uint32_t index) {
  if (index > 0) return spec.traits->computes ? input_names.at(index - 1) : "source";
  return spec.traits->computes ? "out" : spec.traits->writes_images ? "images" : "destination";
}

/// Adds the parameter that describes the elements that threads store: the ends of the output's rows after the
/// last whole 16-byte chunk.
void add_row_tail(const TensorMapSpec& whole, DevicePtr address, ParameterBlock& parameters) {
  with_constant(whole.rank, [&](auto rank) {
    using Tail = params::RowTail<rank>;
    const std::uint64_t chunk = bulk_bytes / size_of(whole.type);
    Tail tail{};
    tail.address = address;
    for (std::uint32_t d = 0; d < rank; ++d) {
      tail.strides[d] = whole.strides[d];
      tail.extent[d] = static_cast<std::uint32_t>(whole.shape[d]);  // at most 2^31, as the rules check
    }
    tail.begin = static_cast<std::uint32_t>(round_down(whole.shape[rank - 1], chunk));
    parameters.add_address(parameters.add({"params::RowTail", rank}, "tail", tail) + offsetof(Tail, address),
                           0);
  });
}

/// The output's map without the ends of rows that threads store: its rows end with the last whole chunk. If
/// rows are shorter than a chunk, the map still has one chunk, which the kernel never stores.
TensorMapSpec without_tail(TensorMapSpec map) {
  std::uint64_t& columns = map.shape[map.rank - 1U];
  const std::uint64_t chunk = bulk_bytes / size_of(map.type);
  columns = std::max(round_down(columns, chunk), chunk);
  return map;
}

/// Adds the parameter that holds the numbers of the launch, if there are any.
void add_numbers(const TileSpec& spec, const Problem& problem, ParameterBlock& parameters) {
  if (spec.numbers == 0) return;
  with_constant(spec.numbers, [&](auto count) {
    params::Numbers<count> numbers{};
    const std::uint32_t first = 1U + spec.inputs;
    for (std::uint32_t k = 0; k < count; ++k) set_address(numbers.bits[k], problem.address[first + k]);
    const std::uint32_t at = parameters.add({"params::Numbers", count}, "numbers", numbers);
    for (std::uint32_t k = 0; k < count; ++k)
      parameters.add_address(at + static_cast<std::uint32_t>(k * sizeof numbers.bits[0]), first + k);
  });
}

void bind_bulk(const TileSpec& spec, const Problem& problem, ParameterBlock& parameters, LaunchShape& shape) {
  const std::uint64_t elements = problem.nest.elements();
  const auto pointer = [](std::string_view element, bool constant) {
    return ParameterType{
        .name = element, .first = 0, .second = 0, .pointer = constant ? Pointer::to_const : Pointer::to};
  };
  parameters.add_pointer(pointer(device_type(spec.output().type), false), "out", 0, problem.address[0]);
  parameters.add_pointer(pointer(device_type(spec.input(0).type), true), "in", 1, problem.address[1]);
  parameters.add({"u64"}, "count", elements);
  add_numbers(spec, problem, parameters);
  shape.grid = grid_for(spec, ceil_div(elements, spec.tile[0]), problem.sm_count);
}

}  // namespace

void TileFamily::bind(const Candidate& candidate, const Problem& problem, ParameterBlock& parameters,
                      LaunchShape& shape) const {
  TileSpec spec = spec_of(candidate, problem.expression());
  if (const auto* const chosen = std::get_if<TileProblem>(&problem.body)) {
    spec.l2_promotion = chosen->tiles.options.l2_promotion;
    spec.oob_fill = chosen->tiles.options.oob_fill;
  }
  if (spec.traits->by_addresses) return bind_bulk(spec, problem, parameters, shape);
  std::uint64_t tiles = 1;
  std::array<std::uint32_t, max_map_rank> counts{};
  for (std::uint32_t d = 0; d < spec.rank; ++d) {
    const std::uint64_t count = ceil_div(problem.nest.shape[d], spec.tile[d]);
    if (count > std::numeric_limits<std::uint32_t>::max()) {
      throw Error(
          ErrorCode::unsupported,
          fmt::format("dimension {}: {} tiles of {}; at most 2^32 - 1 are possible. Use a larger box.", d,
                      count, spec.tile[d]));
    }
    counts[d] = static_cast<std::uint32_t>(count);
    tiles = sat_mul(tiles, count);
  }
  if (constexpr std::uint64_t most = std::uint64_t{1} << 31; spec.tiles_per_cta > 0 && tiles > most) {
    throw Error(ErrorCode::unsupported,
                fmt::format("{} tiles; at most 2^31 can be shared out. Use a larger box or a persistent grid "
                            "(tiles_per_cta of 0).",
                            tiles));
  }
  shape.grid = grid_for(spec, tiles, problem.sm_count);

  const bool has_tail = spec.row_tails != 0;
  TensorMapSpec output;
  for (std::uint32_t i = 0; i <= spec.inputs; ++i) {
    const DevicePtr address = problem.address[i];
    if (!spec.has_map(i)) {
      parameters.add_pointer({.name = "u8", .pointer = Pointer::to}, name_of(spec, i), i, address);
      continue;
    }
    TensorView view = problem.view(i);
    view.type = spec.operands[i].type;
    const TensorMapSpec map = tensor_map(spec, i, view);
    if (i == 0) output = map;
    parameters.add_map(name_of(spec, i), i, i == 0 && has_tail ? without_tail(map) : map, address);
  }
  with_constant(spec.rank, [&](auto rank) {
    params::TileGrid<rank> grid{};
    for (std::uint32_t d = 0; d < std::min<std::size_t>(rank, counts.size()); ++d)
      grid.tiles[d] = make_divider<params::Divider>(counts[d]);
    parameters.add({"params::TileGrid", rank}, "grid", grid);
  });
  if (has_tail) add_row_tail(output, problem.address[0], parameters);
  add_numbers(spec, problem, parameters);
}

TMAJIT_END
