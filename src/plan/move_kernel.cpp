#include "plan/move_kernel.hpp"

#include "plan/engine_tiles.hpp"
#include "plan/gather_plan.hpp"
#include "spec/saturate.hpp"

#include <tmajit/error.hpp>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <numeric>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

TMAJIT_BEGIN
namespace {

constexpr std::uint64_t max_grid = (1ULL << 31) - 1;

/// A nest of a single element has no dimension, its kernel one.
std::uint64_t extent(const CanonicalNest& nest, std::uint32_t d) {
  return d < nest.rank ? nest.shape[d] : 1;
}

std::uint64_t tiles(const MoveKernel& kernel, const CanonicalNest& nest, std::uint32_t d) {
  // A staggered row begins up to a chunk less one before its first tile.
  const std::uint64_t before = kernel.staggered && d + 1 == kernel.rank ? kernel.chunk - 1 : 0;
  return ceil_div(extent(nest, d) + before, kernel.box[d]);
}

/// What a CTA's number counts in a dimension: tiles or groups of them.
std::uint64_t groups(const MoveKernel& kernel, const CanonicalNest& nest, std::uint32_t d) {
  return ceil_div(tiles(kernel, nest, d), d == kernel.column ? kernel.tile_group() : 1);
}

void append(std::vector<std::byte>& bytes, auto value) {
  const auto* first = reinterpret_cast<const std::byte*>(&value);
  bytes.insert(bytes.end(), first, first + sizeof value);
}

/// Pads to the alignment of what comes next, as the compiler does.
void align(std::vector<std::byte>& bytes, std::size_t to) {
  bytes.resize(round_up(bytes.size(), to));
}

/// Divider of templates/device/divider.cuh.
void append_divider(std::vector<std::byte>& bytes, std::uint64_t divisor) {
  const auto bits = static_cast<std::uint32_t>(std::bit_width(divisor - 1));
  append(bytes, static_cast<std::uint32_t>(divisor));
  append(bytes, static_cast<std::uint32_t>(ceil_div(std::uint64_t{1} << (31 + bits), divisor)));
  append(bytes, bits - 1);
}

/// ViewPair of templates/device/view_pair.cuh.
std::vector<std::byte> view_pair(const MoveKernel& kernel, const MoveProblem& problem) {
  std::vector<std::byte> bytes;
  append(bytes, problem.address[1]);
  append(bytes, problem.high[1]);
  append(bytes, problem.address[0]);
  for (std::uint32_t d = 0; d < kernel.rank; ++d) append(bytes, problem.step(1, d));
  for (std::uint32_t d = 0; d < kernel.rank; ++d) append(bytes, problem.step(0, d));
  for (std::uint32_t d = 0; d < kernel.rank; ++d) append(bytes, extent(problem.nest, d));
  for (std::uint32_t d = 0; d < kernel.rank; ++d) {
    append_divider(bytes, std::max<std::uint64_t>(groups(kernel, problem.nest, d), 1));
  }
  align(bytes, sizeof(DevicePtr));
  return bytes;
}

/// Views of templates/device/views.cuh.
std::vector<std::byte> views(const MoveKernel& kernel, const CanonicalNest& nest,
                             const MoveProblem& problem) {
  std::vector<std::byte> bytes;
  for (std::uint32_t d = 0; d < kernel.rank; ++d) append(bytes, extent(nest, d));
  for (std::uint32_t d = 0; d < kernel.rank; ++d) {
    append_divider(bytes, std::max<std::uint64_t>(tiles(kernel, nest, d), 1));
  }
  align(bytes, sizeof(DevicePtr));
  for (std::uint32_t i = 0; i < nest.operands; ++i) {
    const auto size = static_cast<std::int64_t>(problem.element_bytes(i));
    const std::int64_t turned = nest.operand[i].offset - problem.nest.operand[i].offset;
    append(bytes, problem.address[i] + static_cast<DevicePtr>(turned * size));
    append(bytes, problem.low[i]);
    append(bytes, problem.high[i]);
    for (std::uint32_t d = 0; d < kernel.rank; ++d) {
      append(bytes, d < nest.rank ? nest.operand[i].strides[d] * size : std::int64_t{0});
    }
  }
  return bytes;
}

/// EngineGrid of templates/device/engine_grid.cuh.
std::vector<std::byte> engine_grid(const MoveKernel& kernel, const MoveProblem& problem) {
  std::vector<std::byte> bytes;
  std::uint64_t count = 1;
  for (std::uint32_t d = 0; d < kernel.rank; ++d) {
    append_divider(bytes, tiles(kernel, problem.nest, d));
    count = sat_mul(count, tiles(kernel, problem.nest, d));
  }
  append(bytes, static_cast<std::uint32_t>(count));
  // A transpose's destination has no map.
  const auto source = engine_map(kernel, problem, 1);
  const auto destination =
      kernel.method == MoveMethod::engine_rows ? engine_map(kernel, problem, 0) : std::nullopt;
  for (const auto& map : {source, destination}) {
    for (std::uint32_t d = 0; d < kernel.rank; ++d) append(bytes, map ? map->fold[d] : 0U);
  }
  return bytes;
}

/// DirectView of templates/device/engine_grid.cuh.
std::vector<std::byte> direct_view(const MoveKernel& kernel, const MoveProblem& problem) {
  std::vector<std::byte> bytes;
  append(bytes, problem.address[0]);
  for (std::uint32_t d = 0; d < kernel.rank; ++d) append(bytes, problem.step(0, d));
  for (std::uint32_t d = 0; d < kernel.rank; ++d) append(bytes, extent(problem.nest, d));
  return bytes;
}

/// Window of templates/device/views.cuh.
std::vector<std::byte> window(const MoveKernel& kernel, const CanonicalNest& nest, double value) {
  std::vector<std::byte> bytes;
  for (std::uint32_t d = 0; d < kernel.rank; ++d) append(bytes, d < nest.rank ? nest.window_first[d] : 0);
  for (std::uint32_t d = 0; d < kernel.rank; ++d) {
    append(bytes, d < nest.rank ? nest.window_end[d] : std::int64_t{1});
  }
  append(bytes, value);
  return bytes;
}

}  // namespace

std::string_view name(MoveMethod method) noexcept {
  switch (method) {
    case MoveMethod::rows: return "rows";
    case MoveMethod::transpose: return "transpose";
    case MoveMethod::direct_transpose: return "direct_transpose";
    case MoveMethod::engine_rows: return "engine_rows";
    case MoveMethod::engine_transpose: return "engine_transpose";
    case MoveMethod::gather: return "gather";
    default: return "general";
  }
}

std::string_view name(TileOrder order) noexcept {
  switch (order) {
    case TileOrder::destination: return "destination";
    case TileOrder::source: return "source";
    case TileOrder::square: return "square";
    default: return "grouped";
  }
}

std::string_view name(SourceAccess access) noexcept {
  switch (access) {
    case SourceAccess::run: return "run";
    case SourceAccess::repeat: return "repeat";
    case SourceAccess::elements: return "elements";
    default: return "image";
  }
}

bool MoveKernel::uses_engine() const noexcept {
  return method == MoveMethod::engine_rows || method == MoveMethod::engine_transpose;
}

bool MoveKernel::transposes() const noexcept {
  return method == MoveMethod::transpose || method == MoveMethod::direct_transpose ||
         method == MoveMethod::engine_transpose;
}

std::array<std::uint32_t, max_view_rank> MoveKernel::tile_dimensions() const noexcept {
  if (tile_order == TileOrder::source) return source_order;
  std::array<std::uint32_t, max_view_rank> dimensions{};
  std::iota(dimensions.begin(), dimensions.begin() + rank, 0U);
  if (tile_order == TileOrder::square) {
    std::rotate(dimensions.begin() + column, dimensions.begin() + column + 1, dimensions.begin() + rank - 1);
  }
  return dimensions;
}

std::uint32_t MoveKernel::shared_bytes() const noexcept {
  if (uses_engine()) return engine_layout(*this).bytes;
  if (method == MoveMethod::gather) return GatherLayout(*this).bytes;
  std::uint64_t bytes = 0;
  for (std::uint32_t i = 0; i < sources; ++i) {
    const SourcePlan& plan = source[i];
    if (plan.access != SourceAccess::image) continue;
    std::uint64_t lines = 1;
    for (std::uint32_t d = 0; d < rank; ++d) lines = sat_mul(lines, plan.lines[d]);
    const std::uint64_t skews = plan.row_in_line ? 0 : lines / std::max(chunk, 1U) * plan.skew;
    bytes = std::max(bytes, round_up(plan.offset + sat_mul(lines, plan.pitch) + skews, 16));
  }
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes, UINT32_MAX));
}

std::uint32_t MoveKernel::image_bytes() const noexcept {
  if (method != MoveMethod::transpose) return 0;
  // As in templates/kernels/transpose.cu: one more block before a staggered row, and all banks for a block's
  // lines.
  const std::uint32_t unit = std::max(128 / vector_bytes() / chunk, 1U);
  std::uint64_t bytes = vector_bytes() * round_up(box[rank - 1] / chunk + (staggered ? 1 : 0), unit);
  for (std::uint32_t d = 0; d + 1 < rank; ++d) bytes = sat_mul(bytes, box[d]);
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes, UINT32_MAX));
}

bool MoveKernel::has_image() const noexcept {
  return std::any_of(source.begin(), source.begin() + sources,
                     [](const SourcePlan& plan) { return plan.access == SourceAccess::image; });
}

std::uint64_t MoveKernel::bytes_in_flight() const noexcept {
  std::uint64_t elements = 1;
  for (std::uint32_t d = 0; d < rank; ++d) elements *= box[d];
  const std::uint64_t in_tile = elements * element_bytes;
  switch (method) {
    case MoveMethod::rows: return std::min<std::uint64_t>(in_tile, std::uint64_t{threads} * 16 * turns);
    case MoveMethod::transpose:
    case MoveMethod::direct_transpose:
      return std::min<std::uint64_t>(in_tile, std::uint64_t{threads} * vector_bytes() * chunk);
    case MoveMethod::engine_rows:
    case MoveMethod::engine_transpose: return in_tile * stages;
    default: break;
  }
  std::uint64_t bytes = 0;
  const std::uint64_t at_once = std::min(elements, std::uint64_t{threads} * turns * chunk);
  for (std::uint32_t i = 0; i < sources; ++i) {
    if (source[i].access == SourceAccess::repeat) continue;
    bytes += (source[i].access == SourceAccess::image ? elements : at_once) * size_of(source[i].type);
  }
  return bytes;
}

void MoveKernel::choose_offsets(const MoveProblem& problem) noexcept {
  wide_offsets = false;
  for (std::uint32_t i = 0; i < problem.nest.operands; ++i) {
    std::uint64_t reach = 0;
    for (std::uint32_t d = 0; d < problem.nest.rank; ++d) {
      const auto step = static_cast<std::uint64_t>(std::abs(problem.step(i, d)));
      reach = sat_add(reach, sat_mul(step, std::uint64_t{box[d]} + chunk));
    }
    wide_offsets = wide_offsets || reach > std::numeric_limits<std::int32_t>::max();
  }
}

std::string MoveKernel::choice() const {
  std::string boxes = fmt::format("{} {}", name(method), fmt::join(box.begin(), box.begin() + rank, "x"));
  if (transposes() && vector_bytes() == 8) boxes += " by 8";
  if (method == MoveMethod::engine_rows) return fmt::format("{}, {} in flight", boxes, stages);
  std::string text = fmt::format("{}, {} threads", boxes, threads);
  if (tile_order != TileOrder::destination) text += fmt::format(", {} order", name(tile_order));
  if (method == MoveMethod::engine_transpose) text += fmt::format(", {} in flight", stages);
  if (method == MoveMethod::general && !has_image()) {
    text += fmt::format(" of {} chunk{}", turns, turns == 1 ? "" : "s");
  }
  return text;
}

std::vector<MoveMap> move_maps(const MoveKernel& kernel, const MoveProblem& problem) {
  std::vector<MoveMap> maps;
  if (!kernel.uses_engine()) return maps;
  maps.push_back({engine_map(kernel, problem, 1).value().spec, problem.address[1]});
  if (kernel.method == MoveMethod::engine_rows) {
    maps.push_back({engine_map(kernel, problem, 0).value().spec, problem.address[0]});
  }
  return maps;
}

std::vector<std::vector<std::byte>> move_parameters(const MoveKernel& kernel, const CanonicalNest& nest,
                                                    const MoveProblem& problem) {
  if (kernel.method == MoveMethod::engine_rows) return {engine_grid(kernel, problem)};
  if (kernel.method == MoveMethod::engine_transpose) {
    return {engine_grid(kernel, problem), direct_view(kernel, problem)};
  }
  if (kernel.method != MoveMethod::general && kernel.method != MoveMethod::gather) {
    return {view_pair(kernel, problem)};
  }
  std::vector<std::vector<std::byte>> parameters{views(kernel, nest, problem)};
  if (kernel.padded) parameters.push_back(window(kernel, nest, problem.padding));
  return parameters;
}

LaunchShape move_shape(const MoveKernel& kernel, const CanonicalNest& nest) {
  std::uint64_t ctas = kernel.tile_group();
  for (std::uint32_t d = 0; d < kernel.rank; ++d) ctas = sat_mul(ctas, groups(kernel, nest, d));
  if (ctas > max_grid) {
    throw Error(ErrorCode::unsupported,
                fmt::format("{} tiles; at most 2^31 - 1 are possible in one launch", ctas));
  }
  return {.grid = {static_cast<std::uint32_t>(ceil_div(ctas, kernel.stages)), 1, 1},
          .block = {kernel.threads, 1, 1},
          .shared_bytes = kernel.shared_bytes()};
}

TMAJIT_END
