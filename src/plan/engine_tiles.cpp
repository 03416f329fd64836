#include "plan/engine_tiles.hpp"

#include "spec/limits.hpp"
#include "spec/saturate.hpp"

#include <algorithm>
#include <numeric>

TMAJIT_BEGIN
namespace {

constexpr std::uint32_t chunk_bytes = 16;   // what strides and rows are multiples of
constexpr std::uint32_t panel_bytes = 128;  // of a line, under the 128-byte swizzle
constexpr std::uint32_t swizzle_lines = 8;
constexpr std::uint32_t box_alignment = 128;    // of a box in shared memory
constexpr std::uint32_t swizzle_period = 1024;  // and of the first one

bool transposes(const MoveKernel& kernel) {
  return kernel.method == MoveMethod::engine_transpose;
}

/// The dimension of the nest in which the maps are contiguous.
std::uint32_t inner(const MoveKernel& kernel) {
  return transposes(kernel) ? kernel.column : kernel.rank - 1;
}

/// Bytes that a part has of a line.
std::uint32_t line_bytes(const MoveKernel& kernel) {
  const std::uint32_t whole = kernel.box[inner(kernel)] * kernel.element_bytes;
  if (transposes(kernel)) return std::min(whole, panel_bytes);
  return whole / static_cast<std::uint32_t>(ceil_div(whole, max_box * map_element_bytes(kernel)));
}

/// Lines of a tile: its indices in all dimensions but that along which they run.
std::uint32_t lines(const MoveKernel& kernel) {
  std::uint32_t count = 1;
  for (std::uint32_t d = 0; d < kernel.rank; ++d) count *= d == inner(kernel) ? 1 : kernel.box[d];
  return count;
}

/// One dimension for all that are not in `order`; false if it would be longer than coordinates reach.
bool share_dimension(const MapOrder& order, const MoveProblem& problem, std::uint32_t operand,
                     EngineMap& map) {
  std::uint64_t stride = 0;
  for (std::uint32_t d = 0; d < problem.nest.rank; ++d) {
    if (!order.has(d)) stride = std::gcd(stride, static_cast<std::uint64_t>(problem.step(operand, d)));
  }
  std::uint64_t last = 0;
  for (std::uint32_t d = 0; d < problem.nest.rank; ++d) {
    if (order.has(d)) continue;
    const std::uint64_t counts = static_cast<std::uint64_t>(problem.step(operand, d)) / stride;
    last = sat_add(last, sat_mul(counts, problem.nest.shape[d] - 1));
    if (last >= max_coordinate_extent) return false;
    map.fold[d] = static_cast<std::uint32_t>(counts);
  }
  map.spec.shape[0] = last + 1;
  map.spec.strides[0] = stride;
  map.spec.box[0] = 1;
  return true;
}

ElementType unsigned_of(std::uint32_t bytes) {
  switch (bytes) {
    case 1: return ElementType::u8;
    case 2: return ElementType::u16;
    case 4: return ElementType::u32;
    default: return ElementType::u64;
  }
}

}  // namespace

std::uint32_t map_element_bytes(const MoveKernel& kernel) noexcept {
  return transposes(kernel) ? std::min(kernel.element_bytes, 8U) : 8U;
}

bool MapOrder::has(std::uint32_t d) const noexcept {
  const auto end = dimension.begin() + count;
  return std::find(dimension.begin(), end, d) != end;
}

MapOrder map_order(const MoveKernel& kernel) noexcept {
  MapOrder order;
  const std::uint32_t row = kernel.rank - 1;
  const auto put = [&](std::uint32_t d) {
    if (order.count < max_map_rank) order.dimension[order.count] = d;
    ++order.count;
  };
  for (std::uint32_t d = 0; d < row; ++d) {
    if (transposes(kernel) && d == kernel.column) continue;
    if (kernel.rank <= max_map_rank || kernel.box[d] > 1) {
      put(d);
    } else {
      order.shared = true;
    }
  }
  put(row);
  if (transposes(kernel)) put(kernel.column);
  return order;
}

EngineLayout engine_layout(const MoveKernel& kernel) noexcept {
  EngineLayout layout;
  const std::uint32_t line = line_bytes(kernel);
  layout.parts = static_cast<std::uint32_t>(ceil_div(kernel.box[inner(kernel)] * kernel.element_bytes, line));
  // A swizzled line takes the whole span, and the pattern repeats every eight lines.
  layout.part_bytes = static_cast<std::uint32_t>(
      transposes(kernel) ? round_up(lines(kernel), swizzle_lines) * panel_bytes
                         : round_up(std::uint64_t{lines(kernel)} * line, box_alignment));
  layout.load_bytes = layout.parts * lines(kernel) * line;
  layout.bytes = kernel.stages * layout.parts * layout.part_bytes + swizzle_period;
  return layout;
}

std::optional<EngineMap> engine_map(const MoveKernel& kernel, const MoveProblem& problem,
                                    std::uint32_t operand) {
  const CanonicalNest& nest = problem.nest;
  const MapOrder order = map_order(kernel);
  const std::uint32_t along = inner(kernel);
  if (order.rank() > max_map_rank || problem.address[operand] % chunk_bytes != 0) return std::nullopt;
  for (std::uint32_t d = 0; d < nest.rank; ++d) {
    if (d == along) continue;
    const std::int64_t step = problem.step(operand, d);
    if (step <= 0 || step % chunk_bytes != 0 || static_cast<std::uint64_t>(step) >= max_stride_bytes) {
      return std::nullopt;
    }
  }
  EngineMap map;
  const std::uint32_t size = map_element_bytes(kernel);
  map.spec.type = unsigned_of(size);
  map.spec.rank = static_cast<std::uint8_t>(order.rank());
  map.spec.swizzle = transposes(kernel) ? Swizzle::b128 : Swizzle::none;
  std::fill_n(map.spec.element_strides.begin(), map.spec.rank, 1U);
  if (order.shared && !share_dimension(order, problem, operand, map)) return std::nullopt;
  for (std::uint32_t k = 0; k < order.count; ++k) {
    const std::uint32_t d = order.dimension[k];
    const std::uint32_t at = k + (order.shared ? 1 : 0);
    const bool is_inner = d == along;
    map.spec.shape[at] = is_inner ? nest.shape[d] * kernel.element_bytes / size : nest.shape[d];
    map.spec.strides[at] = is_inner ? size : static_cast<std::uint64_t>(problem.step(operand, d));
    map.spec.box[at] = is_inner ? line_bytes(kernel) / size : kernel.box[d];
    if (map.spec.shape[at] > max_coordinate_extent || map.spec.box[at] > max_box) return std::nullopt;
  }
  return map;
}

TMAJIT_END
