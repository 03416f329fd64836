#include "families/shared/views.hpp"

#include "spec/saturate.hpp"

#include <tmajit/view_pair.cuh>
#include <tmajit/views.cuh>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <vector>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

TMAJIT_BEGIN
namespace {

constexpr double full_enough = 0.85;  // used part of all tiles of a dimension: smaller tiles would cost more

template <std::uint32_t rank>
params::View<rank> view_of(const Problem& problem, const CanonicalNest& nest, std::uint32_t operand) {
  const auto size = static_cast<std::int64_t>(problem.element_bytes(operand));
  const std::int64_t shift = nest.operand[operand].offset - problem.nest.operand[operand].offset;
  params::View<rank> view{};
  set_address(view.first, problem.address[operand] + static_cast<DevicePtr>(shift * size));
  set_address(view.low, problem.low[operand]);
  set_address(view.high, problem.high[operand]);
  for (std::uint32_t d = 0; d < rank && d < nest.rank; ++d)
    view.step[d] = nest.operand[operand].strides[d] * size;
  return view;
}

template <std::uint32_t rank>
void add_addresses(ParameterBlock& parameters, std::uint32_t at, std::uint32_t operand,
                   bool is_number = false) {
  using View = params::View<rank>;
  parameters.add_address(at + offsetof(View, first), operand);
  if (is_number) return;
  parameters.add_address(at + offsetof(View, low), operand);
  parameters.add_address(at + offsetof(View, high), operand);
}

}  // namespace

std::uint64_t extent_of(const CanonicalNest& nest, std::uint32_t d) noexcept {
  return d < nest.rank ? nest.shape[d] : 1;
}

std::uint64_t product(const TileCounts& counts, std::uint32_t rank) noexcept {
  std::uint64_t all = 1;
  for (std::uint32_t d = 0; d < rank; ++d) all = sat_mul(all, counts[d]);
  return all;
}

TileCounts tile_counts(const CanonicalNest& nest, const PerDimension& box, std::uint32_t rank,
                       std::uint32_t stagger) noexcept {
  TileCounts counts{};
  for (std::uint32_t d = 0; d < rank; ++d) {
    counts[d] = ceil_div(extent_of(nest, d) + (d + 1 == rank ? stagger : 0), box[d]);
  }
  return counts;
}

double parts_of_extent(std::uint64_t extent, std::uint64_t side, std::uint64_t unit) noexcept {
  const std::uint64_t whole = extent / side;
  return static_cast<double>(sat_add(sat_mul(whole, ceil_div(side, unit)), ceil_div(extent % side, unit)));
}

std::uint64_t elements_of(const PerDimension& box, std::uint32_t rank) noexcept {
  std::uint64_t elements = 1;
  for (std::uint32_t d = 0; d < rank; ++d) elements *= box[d];
  return elements;
}

PerDimension farthest_first(const CanonicalNest& nest, std::uint32_t operand, std::uint32_t rank,
                            std::uint32_t nearest) {
  PerDimension order = in_order();
  std::array<std::uint64_t, max_view_rank> distance{};  // distance[k] is the stride of dimension order[k]
  // Dimensions are few: inserting one by one costs less than the standard library's sort, which allocates.
  for (std::uint32_t d = 0; d < rank; ++d) {
    const auto stride = static_cast<std::uint64_t>(std::abs(nest.operand[operand].strides[d]));
    const std::uint64_t far = d == nearest  ? 0
                              : stride == 0 ? std::numeric_limits<std::uint64_t>::max()
                                            : stride;
    std::uint32_t at = d;
    for (; at > 0 && distance[at - 1] < far; --at) {
      order[at] = order[at - 1];
      distance[at] = distance[at - 1];
    }
    order[at] = d;
    distance[at] = far;
  }
  return order;
}

void add_view_pair(ParameterBlock& parameters, const Problem& problem, std::uint32_t rank,
                   const TileCounts& counts) {
  with_constant(rank, [&](auto constant_rank) {
    using Pair = params::ViewPair<constant_rank>;
    Pair pair{};
    set_address(pair.source, problem.address[1]);
    set_address(pair.source_begin, problem.low[1]);
    set_address(pair.source_end, problem.high[1]);
    set_address(pair.destination, problem.address[0]);
    for (std::uint32_t d = 0; d < constant_rank; ++d) {
      pair.source_step[d] = problem.step(1, d);
      pair.destination_step[d] = problem.step(0, d);
      pair.extent[d] = extent_of(problem.nest, d);
      pair.tiles[d] = make_divider<params::Divider>(std::max<std::uint64_t>(counts[d], 1));
    }
    const std::uint32_t at = parameters.add({"params::ViewPair", constant_rank}, "views", pair);
    parameters.add_address(at + offsetof(Pair, source), 1);
    parameters.add_address(at + offsetof(Pair, source_begin), 1);
    parameters.add_address(at + offsetof(Pair, source_end), 1);
    parameters.add_address(at + offsetof(Pair, destination), 0);
  });
}

bool is_tiny_strided_copy(const Problem& problem) noexcept {
  if (!is_tiny(problem) || !problem.reads_bits() || problem.sources() != 1 || problem.joined != 1)
    return false;
  const std::uint32_t rank = problem.nest.rank;
  return rank > 1 && std::abs(problem.nest.operand[1].strides[rank - 1]) > 1;
}

Problem in_units(const Problem& problem, std::uint32_t unit) {
  Problem units = problem;
  const std::uint32_t bytes = problem.element_bytes(0);
  CanonicalNest& nest = units.nest;
  const std::uint32_t row = nest.rank - 1;
  nest.shape[row] = nest.shape[row] * bytes / unit;
  for (std::uint32_t i = 0; i < nest.operands; ++i) {
    units.type[i] = unsigned_of(std::min<std::uint32_t>(unit, sizeof(std::uint64_t)));
    for (std::uint32_t d = 0; d < row; ++d) nest.operand[i].strides[d] = problem.step(i, d) / unit;
  }
  units.joined = unit / size_of(units.type[0]);
  return units;
}

bool has_wide_offsets(const Problem& problem, std::span<const std::uint32_t> box,
                      std::uint32_t beyond) noexcept {
  for (std::uint32_t i = 0; i < problem.nest.operands; ++i) {
    const auto& strides = problem.nest.operand[i].strides;
    std::uint64_t reach = 0;  // elements
    for (std::uint32_t d = 0; d < problem.nest.rank; ++d) {
      const auto distance = static_cast<std::uint64_t>(std::abs(strides[d]));
      reach = sat_add(reach, sat_mul(distance, std::uint64_t{box[d]} + beyond));
    }
    if (sat_mul(reach, problem.element_bytes(i)) > std::numeric_limits<std::int32_t>::max()) return true;
  }
  return false;
}

void add_views(ParameterBlock& parameters, LaunchShape& shape, const Problem& problem,
               const CanonicalNest& nest, std::uint32_t rank, const TileCounts& counts) {
  shape.grid = grid_of(product(counts, rank));
  with_constant(rank, [&](auto constant_rank) {
    using Views = params::Views<constant_rank, max_inputs>;
    using View = params::View<constant_rank>;
    const std::uint32_t sources = problem.sources();
    Views views{};
    for (std::uint32_t d = 0; d < constant_rank; ++d) {
      views.head.extent[d] = extent_of(nest, d);
      views.head.tiles[d] = make_divider<params::Divider>(std::max<std::uint64_t>(counts[d], 1));
    }
    views.head.destination = view_of<constant_rank>(problem, nest, 0);
    for (std::uint32_t i = 0; i < sources; ++i)
      views.source[i] = view_of<constant_rank>(problem, nest, i + 1);
    // Sources are the last member. The kernel's own type has only `sources` of them.
    const auto bytes =
        std::as_bytes(std::span(&views, 1)).first(offsetof(Views, source) + sources * sizeof(View));
    const ParameterType type = sources > 0 ? ParameterType{"params::Views", constant_rank, sources}
                                           : ParameterType{"params::ViewsHead", constant_rank};
    const std::uint32_t at = parameters.add_bytes(type, "views", bytes, alignof(Views));
    add_addresses<constant_rank>(parameters, at + offsetof(params::ViewsHead<constant_rank>, destination), 0);
    for (std::uint32_t i = 0; i < sources; ++i) {
      add_addresses<constant_rank>(
          parameters, static_cast<std::uint32_t>(at + offsetof(Views, source) + i * sizeof(View)), i + 1,
          problem.is_number(i + 1));
    }
  });
}

std::uint32_t side_of(std::uint64_t extent, std::uint64_t most, std::uint64_t least, bool small) noexcept {
  const std::uint64_t all = std::bit_ceil(std::max<std::uint64_t>(extent, 1));
  std::uint64_t best = 0;
  double fullest = 0;
  for (std::uint64_t side = std::min(all, std::bit_floor(most)); side >= std::min(all, least); side /= 2) {
    const double full = static_cast<double>(extent) / static_cast<double>(round_up(extent, side));
    if (full > fullest) {
      fullest = full;
      best = side;
    }
    if (small || full >= full_enough || side == 1) break;
  }
  return static_cast<std::uint32_t>(best);
}

void add_sides(ParameterBlock& parameters, std::uint32_t rank, const PerDimension& box, std::uint32_t part) {
  std::uint64_t sides = 0;
  for (std::uint32_t d = 0; d < rank; ++d) {
    const std::uint32_t parts = d + 1 == rank ? box[d] / part : box[d];
    sides |= static_cast<std::uint64_t>(std::countr_zero(parts)) << 8 * d;
  }
  parameters.add({"u64"}, "sides", sides);
}

void add_window(ParameterBlock& parameters, const CanonicalNest& nest, std::uint32_t rank, double value) {
  with_constant(rank, [&](auto constant_rank) {
    params::Window<constant_rank> window{};
    for (std::uint32_t d = 0; d < constant_rank; ++d) {
      window.first[d] = d < nest.rank ? nest.window_first[d] : 0;
      window.end[d] = d < nest.rank ? nest.window_end[d] : 1;
    }
    window.value = value;
    parameters.add({"params::Window", constant_rank}, "window", window);
  });
}

std::string staggered_rewrite() {
  return "Rows are not aligned to 16 bytes: tiles are cut at multiples of 16 bytes in the destination's "
         "memory.";
}
std::string interleaved_rewrite() {
  return "The destination's elements lie between the source's: threads load only the source's own elements.";
}
std::vector<std::string> run_rewrite(std::uint32_t first, std::uint32_t rank) {
  if (first + 1 >= rank) return {};
  std::vector<std::uint32_t> run(rank - first - 1);
  std::iota(run.begin(), run.end(), first);
  return {fmt::format("Dimensions {} and {} of the canonical nest are one run of the destination's memory.",
                      fmt::join(run, ", "), rank - 1)};
}

std::string offset_fact(Flag wide_offsets) {
  return fmt::format("using Offset = {};  // bytes, in a tile\n", wide_offsets != 0 ? "i64" : "i32");
}

bool is_elementwise(const Problem& problem) noexcept {
  return !problem.reads().g && supports_element_loads(problem);
}

bool supports_element_loads(const Problem& problem) noexcept {
  const CanonicalNest& nest = problem.nest;
  if (problem.sources() == 0 || nest.rank == 0 || nest.operand[0].strides[nest.rank - 1] != 1) return false;
  for (std::uint32_t i = 0; i < nest.operands; ++i) {
    if (problem.element_bytes(i) > sizeof(std::uint64_t)) return false;
  }
  if (problem.expression().empty()) return problem.sources() == 1;
  if (nest.windowed || problem.reads().t || problem.reads().tile_index) return false;
  return std::none_of(problem.interleaved.begin(), problem.interleaved.begin() + nest.operands,
                      [](bool one) { return one; });
}

void add_element_types(SourceParts& parts, ElementType to, std::span<const ElementType> from, bool values,
                       std::span<const std::string> more, std::string_view destination_more) {
  const auto text = [&](ElementType type) {
    return values ? std::string(device_type(type)) : bits_type(type);
  };
  parts.elements = {to};
  parts.result = to;
  parts.facts +=
      fmt::format("struct Destination {{\n  using Element = {};\n{}}};\n", text(to), destination_more);
  parts.facts += "template <u32 i>\nstruct Source;\n";
  parts.set("numbers", parts.numbers > 0);  // some sources are numbers of the launch
  for (std::size_t s = 0; s < from.size(); ++s) {
    const std::string is_number =
        parts.numbers == 0 ? "" : "  static " + flag_fact("is_number", s + parts.numbers >= from.size());
    parts.facts += fmt::format("template <>\nstruct Source<{}> {{\n  using Element = {};\n{}{}}};\n", s,
                               text(from[s]), more.empty() ? "" : more[s], is_number);
    parts.elements.push_back(from[s]);
    parts.inputs.push_back(from[s]);
  }
  parts.facts += all_sources_fact(static_cast<std::uint32_t>(from.size()));
}

std::string all_sources_fact(std::uint32_t sources) {
  return "template <u32... i>\nstruct Indices {\n  static constexpr u32 count = sizeof...(i);\n};\n" +
         indices_fact("AllSources", 0, sources);
}

std::string indices_fact(std::string_view name, std::uint32_t begin, std::uint32_t end) {
  std::vector<std::uint32_t> indices(end - begin);
  std::iota(indices.begin(), indices.end(), begin);
  return fmt::format("using {} = Indices<{}>;\n", name, fmt::join(indices, ", "));
}

std::string view_fact_text(std::uint32_t rank, std::uint32_t threads, const PerDimension& box,
                           Flag wide_offsets) {
  std::string out = number_fact("rank", rank) + number_fact("threads", threads);
  out += extent_fact("box", std::span(box).first(rank), "elements of a tile, outermost first");
  return out + offset_fact(wide_offsets);
}

TMAJIT_END
