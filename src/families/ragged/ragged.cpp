#include "families/ragged/ragged.hpp"

#include "families/list.hpp"
#include "families/ragged/check_ragged.hpp"
#include "families/ragged/ragged_layout.hpp"
#include "kernel/plan_state.hpp"
#include "spec/chip_rules.hpp"
#include "spec/counted.hpp"
#include "spec/limits.hpp"
#include "spec/saturate.hpp"

#include <tmajit/ragged_batch.cuh>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

/// The tilings that a planner chooses from, the default first.
constexpr RaggedTiling tilings[] = {
    {},
    {.tile_bytes = 4 * 1024, .stages = 4, .ctas_per_sm = 8},
    {.tile_bytes = 16 * 1024, .stages = 3, .ctas_per_sm = 4},
    {.tile_bytes = 16 * 1024, .stages = 4, .ctas_per_sm = 3},
    {.tile_bytes = 32 * 1024, .stages = 3, .ctas_per_sm = 2},
};
/// Memory latencies that an SM waits while it modifies the tensor maps for one tensor. Measured on an H200:
/// 16,384 tensors of two tiles took 398 us.
constexpr double waits_per_tensor = 6.7;
/// Elements that a CTA's threads load at once if they move a tensor.
constexpr double elements_at_once = 32 * 4;
constexpr auto why_text =
    "All tensors of the batch are moved by one grid: each CTA takes as many tiles, and changes its tensor "
    "maps where it "
    "comes to another tensor.";

/// The facts that a `ragged` kernel is specialised for: members of RaggedLayout.
struct RaggedFacts {
  std::uint32_t rank = 1;
  std::uint32_t element_bytes = 1;
  std::uint32_t part_columns = 1;
  std::uint32_t stages = 1;
  std::uint32_t ctas_per_sm = 1;
  Flag row_tails = 0;
  Flag has_unmapped = 0;
  std::array<std::uint32_t, max_map_rank> tile{};
};

struct RaggedChoice {
  PerDimension tile{};
  std::uint32_t stages = 1;
  std::uint32_t ctas_per_sm = 1;
  static constexpr auto members() {
    return std::array{choice_box("tile", &RaggedChoice::tile), choice_number("stages", &RaggedChoice::stages),
                      choice_number("ctas_per_sm", &RaggedChoice::ctas_per_sm)};
  }
  [[nodiscard]] std::string text() const {
    return fmt::format("{}, {} stages, 32 threads, {} CTAs an SM", box_text(tile), stages, ctas_per_sm);
  }
};
using RaggedBase = TypedFamily<RaggedFacts, RaggedChoice, RaggedLayout>;

/// The layout of a batch's candidate.
const RaggedLayout& ragged_layout_of(const Candidate& candidate) {
  return RaggedBase::data(candidate).layout;
}

/// CTAs of the persistent grid.
std::uint64_t ctas_of(const RaggedLayout& layout, const Problem& problem) {
  return std::clamp<std::uint64_t>(layout.tiles, 1, std::uint64_t{problem.sm_count} * layout.ctas_per_sm);
}

RaggedFacts facts_of_layout(const RaggedLayout& layout) {
  return {.rank = layout.rank,
          .element_bytes = layout.element_bytes,
          .part_columns = layout.part_columns,
          .stages = layout.stages,
          .ctas_per_sm = layout.ctas_per_sm,
          .row_tails = layout.row_tails ? 1U : 0U,
          .has_unmapped = layout.has_unmapped ? 1U : 0U,
          .tile = layout.tile};
}

class Ragged final : public RaggedBase {
 public:
  Ragged()
      : TypedFamily(
            {.name = "ragged",
             .summary = "moves a batch of tensors of different sizes, through tensor maps that it changes",
             .operations = {}}) {}

  void add(const RaggedPairs& pairs, const CanonicalNest& nest, std::vector<Candidate>& candidates) const {
    for (const RaggedTiling& tiling : tilings) {
      RaggedLayout layout = ragged_layout(pairs, tiling);
      RaggedChoice choice{.stages = layout.stages, .ctas_per_sm = layout.ctas_per_sm};
      std::ranges::copy(layout.tile, choice.tile.begin());
      const RaggedFacts facts = facts_of_layout(layout);
      Candidate added = candidate(facts, choice, nest, std::move(layout));
      // No other tiling is measured yet: tune() finds where one is faster.
      const bool is_default = candidates.empty();
      if (is_default) added.default_choice = DefaultChoice::yes;
      add_once(candidates, std::move(added), is_default);
    }
  }

  /// Adds none: problems of moves are no batches. plan_ragged() calls add() instead.
  void add_candidates(const Problem& /*problem*/, std::vector<Candidate>& /*candidates*/) const override {}

  [[nodiscard]] Footprint footprint(const Candidate& candidate, const Problem& problem) const override {
    const RaggedLayout& layout = ragged_layout_of(candidate);
    const std::uint64_t ctas = ctas_of(layout, problem);
    const double sm_tensors = static_cast<double>(layout.count) / problem.sm_count;
    return {.box = {layout.tile[layout.rank - 1]},  // contiguous elements
            .threads = 32,
            .tiles = std::max(layout.tiles, 1U),
            .stages = layout.stages,
            .tiles_per_cta = std::max(sat_cast<std::uint32_t>(layout.tiles / (ctas * layout.stages)), 1U),
            .dynamic_shared_bytes = layout.shared_bytes(),
            .bytes_in_flight = std::uint64_t{layout.stages} * layout.stage_bytes(),
            .by_engine = true,
            .waits = waits_per_tensor * sm_tensors +
                     static_cast<double>(layout.by_threads) / (static_cast<double>(ctas) * elements_at_once)};
  }

  void classify(const Candidate& candidate, const Problem& /*problem*/, ShapeClass& shape) const override {
    const RaggedLayout& layout = ragged_layout_of(candidate);
    shape.staggered = layout.has_unmapped;
    shape.length = layout.count;
    shape.rank = static_cast<std::uint8_t>(layout.rank);
  }

  [[nodiscard]] std::string why(const Candidate& /*candidate*/, const Problem& /*problem*/) const override {
    return why_text;
  }

  void bind(const Candidate& candidate, const Problem& problem, ParameterBlock& parameters,
            LaunchShape& shape) const override {
    const RaggedLayout& layout = ragged_layout_of(candidate);
    const DevicePtr table = problem.address[0];
    const params::RaggedBatch batch{
        .tensors = table, .first = table + layout.first_offset, .count = layout.count, .tiles = layout.tiles};
    const std::uint32_t at = parameters.add({"params::RaggedBatch"}, "batch", batch);
    parameters.add_address(at + offsetof(params::RaggedBatch, tensors), 0);
    parameters.add_address(at + offsetof(params::RaggedBatch, first), 0);
    parameters.add_map("pattern", 0, layout.pattern(), table);
    parameters.add({.name = "u8", .pointer = Pointer::to}, "scratch", DevicePtr{0});
    const std::uint64_t ctas = ctas_of(layout, problem);
    shape.grid = grid_of(ctas);
    shape.scratch_bytes =
        scratch_zeros + sat_cast<std::uint32_t>(ctas * 2 * layout.stages * sizeof(params::TensorMap));
  }

  [[nodiscard]] SourceParts source(const Candidate& candidate,
                                   std::string_view /*expression*/) const override {
    const RaggedLayout& layout = ragged_layout_of(candidate);
    SourceParts parts{.why = why_text,
                      .map_rank = layout.rank,
                      .element_bytes = layout.element_bytes,
                      .min_ctas = layout.ctas_per_sm,
                      .call = fmt::format("copy_batch(batch, pattern, scratch + {})", scratch_zeros)};
    parts.set("row_tail", layout.row_tails);     // rows may end within 16 bytes
    parts.set("elements", layout.has_unmapped);  // threads move tensors that no tensor map describes
    std::string& out = parts.facts;
    out += fmt::format("using Element = {};  // a type of the elements' size\n",
                       bits_type(unsigned_of(layout.element_bytes)));
    out += number_fact("rank", layout.rank);
    out += extent_fact("tile", std::span(layout.tile).first(layout.rank), "elements, outermost first");
    out += number_fact("stages", layout.stages);
    out += number_fact("parts", layout.parts(), "boxes of a tile, side by side");
    out += number_fact("part_columns", layout.part_columns, "elements");
    out += number_fact("part_bytes", layout.part_bytes());
    out +=
        number_fact("map_image", layout.map_image(), "offset in shared memory of the maps that are changed");
    out += number_fact("barriers", layout.barriers(), "offset in shared memory");
    out += fmt::format(
        "__device__ constexpr Placement input() {{\n  return {{.offset = 0, .stage_bytes = {0}, .load_bytes "
        "= {1}, "
        ".tile_bytes = {1}, .pitch = {2}, .swizzle_mask = 0}};\n}}\n",
        layout.stage_bytes(), layout.parts() * layout.part_bytes(),
        layout.part_columns * layout.element_bytes);
    return parts;
  }
};

std::uint64_t moved_elements(const RaggedPairs& pairs) {
  std::uint64_t moved = 0;
  for (const RaggedPair& pair : pairs.pairs) {
    std::uint64_t elements = 1;
    for (std::uint32_t d = 0; d < pairs.rank; ++d) elements = sat_mul(elements, pair.extent[d]);
    moved = sat_add(moved, elements);
  }
  return moved;
}

const Ragged& ragged() {
  static const Ragged family;
  return family;
}

}  // namespace

const Family& ragged_family() {
  return ragged();
}

const std::vector<std::byte>& ragged_table(const Candidate& candidate) {
  return ragged_layout_of(candidate).table;
}

RaggedBatch ragged_batch(std::span<const Tensor> destinations, std::span<const Tensor> sources,
                         DevicePtr table, const Chip& chip) {
  check_chip(chip);
  if (destinations.size() != sources.size()) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} and {}; each destination has one source",
                            counted(destinations.size(), "destination"), counted(sources.size(), "source")));
  }
  Violations violations;
  check_ragged(destinations, sources, violations);
  if (violations.count() > 0) throw SpecError(violations.take());
  const RaggedPairs pairs = ragged_pairs(destinations, sources);
  // To the rest of the library a batch is a dense copy of all its elements, with the table as both operands.
  RaggedBatch batch{.problem = {.sm_count = chip.sm_count}};
  CanonicalNest& nest = batch.problem.nest;
  nest.rank = 1;
  nest.operands = 2;
  nest.shape[0] = moved_elements(pairs);
  for (std::uint32_t i = 0; i < nest.operands; ++i) {
    nest.operand[i].strides[0] = 1;
    batch.problem.type[i] = unsigned_of(pairs.element_bytes);
    batch.problem.address[i] = table;
  }
  ragged().add(pairs, nest, batch.candidates);
  return batch;
}

TMAJIT_END
