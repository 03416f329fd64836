#include "families/list.hpp"
#include "families/scan/scan_layout.hpp"
#include "families/shared/chunks.hpp"
#include "spec/saturate.hpp"

#include <tmajit/device_kernels.hpp>
#include <tmajit/scan_plan.cuh>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

// Memory latencies from the loads of a row's last tile until the tile knows its prefix.
constexpr double waits_of_look_back = 8;

/// The facts for which a `scan` kernel is specialised. ScanLayout explains most members.
struct ScanFacts {
  std::uint32_t op = 0;    ///< a ScanOp
  std::uint32_t type = 0;  ///< type of the destination, an ElementType
  std::uint32_t vector = 1;
  std::uint32_t turns = 1;
  std::uint32_t anchor = 0;
  std::uint32_t farthest = 0;
  Flag exclusive = 0;
  Flag columns = 0;
  Flag packed = 0;
  Flag dense = 0;
  Flag crosses = 0;
  Flag short_rows = 0;
  Flag within_warps = 0;
  Flag split = 0;
  Flag by_threads = 0;
  Flag synchronised = 0;
  std::uint32_t lanes = 0;  ///< lanes that share columns; 0: lanes take neighbouring columns
  Flag staggered = 0;
  Flag cut = 0;
  Flag wide = 0;
  std::uint32_t sources = 1;
  std::uint32_t numbers = 0;                       ///< the last of the sources, which the launch passes
  std::array<std::uint32_t, max_inputs> source{};  ///< type of each source, an ElementType
  std::array<std::int32_t, max_operands> run{};

  [[nodiscard]] ElementType element_type() const noexcept { return static_cast<ElementType>(type); }
};

ScanFacts facts_of_layout(const ScanLayout& layout, const Problem& problem) {
  const auto& scan = problem.as<ScanProblem>();
  ScanFacts facts{.op = static_cast<std::uint32_t>(scan.op),
                  .type = static_cast<std::uint32_t>(type_in_chunks(problem, 0)),
                  .vector = layout.vector,
                  .turns = layout.turns,
                  .anchor = layout.anchor,
                  .farthest = layout.farthest(),
                  .exclusive = scan.exclusive ? 1U : 0U,
                  .columns = layout.columns ? 1U : 0U,
                  .packed = layout.packed ? 1U : 0U,
                  .dense = layout.dense ? 1U : 0U,
                  .crosses = layout.crosses ? 1U : 0U,
                  .short_rows = layout.crosses && layout.length < layout.vector ? 1U : 0U,
                  .within_warps = layout.is_within_warps() ? 1U : 0U,
                  .split = layout.split ? 1U : 0U,
                  .by_threads = layout.by_threads ? 1U : 0U,
                  .synchronised = layout.synchronised ? 1U : 0U,
                  .lanes = layout.by_lanes ? layout.threads_along : 0U,
                  .staggered = layout.staggered ? 1U : 0U,
                  .cut = layout.cut ? 1U : 0U,
                  .wide = layout.is_wide() ? 1U : 0U,
                  .sources = problem.sources(),
                  .numbers = problem.numbers,
                  .run = layout.run};
  for (std::uint32_t s = 0; s < facts.sources; ++s)
    facts.source[s] = static_cast<std::uint32_t>(type_in_chunks(problem, s + 1));
  return facts;
}

struct ScanChoice {
  std::uint32_t lines = 1;    ///< rows of a tile, or vectors of columns
  std::uint32_t phases = 1;   ///< threads that share a column
  std::uint32_t vectors = 1;  ///< vectors that each thread has of a tile
  std::uint32_t threads = 0;
  std::uint32_t parts = 1;  ///< tiles of a row
  static constexpr auto members() {
    return std::array{choice_side("lines", &ScanChoice::lines), choice_side("phases", &ScanChoice::phases),
                      choice_number("vectors", &ScanChoice::vectors),
                      choice_number("threads", &ScanChoice::threads),
                      choice_side("parts", &ScanChoice::parts)};
  }
  [[nodiscard]] std::string text() const {
    return fmt::format("{} side by side, {} threads along, {} vectors of a thread, {} threads, {} part{}",
                       lines, phases, vectors, threads, parts, parts == 1 ? "" : "s");
  }
};
using ScanBase = TypedFamily<ScanFacts, ScanChoice, ScanLayout>;

const ScanLayout& scan_layout_of(const Candidate& candidate) {
  return ScanBase::data(candidate).layout;
}

std::string_view scanner(ScanOp op) noexcept {
  switch (op) {
    case ScanOp::sum: return "ScanSum";
    case ScanOp::product: return "ScanProduct";
    case ScanOp::min: return "ScanLeast";
    case ScanOp::max: return "ScanGreatest";
  }
  return {};
}

/// Returns the call of the template's function that scans tiles with these facts.
std::string entry_call(const ScanFacts& facts) {
  if (facts.columns == 0) {
    if (facts.packed != 0) return "scan_whole_rows(plan)";
    return facts.split != 0 ? "scan_split_row(plan, scratch)" : "scan_row(plan)";
  }
  if (facts.by_threads != 0) return "scan_by_threads(plan)";
  if (facts.lanes != 0) return "scan_by_lanes(plan)";
  return facts.split != 0 ? "scan_split_columns(plan, scratch)" : "scan_columns(plan)";
}

/// Adds the facts of a scan along rows.
void add_row_facts(SourceParts& parts, const ScanFacts& facts) {
  constexpr std::uint32_t whole_warp = 16;  // the last distance if a row has elements in all 32 lanes
  parts.facts += number_fact("farthest", facts.packed != 0 ? facts.farthest : whole_warp,
                             "the last distance of the shuffles that join elements of one row: 1, 2, 4 …");
  if (facts.packed != 0)
    parts.facts +=
        policy_fact("Tile", facts.dense != 0 ? "DenseRows" : "SeparateRows", "a tile's whole rows");
  parts.facts += flag_fact("within_warps", facts.within_warps != 0, "no row is divided between warps");
  parts.facts += policy_fact("RowAlignment", facts.staggered != 0 ? "StaggeredRows" : "AlignedRows");
  parts.facts += policy_fact("StartsInVector",
                             facts.short_rows != 0 ? "ManyRowStarts"
                             : facts.crosses != 0  ? "OneRowStart"
                                                   : "NoRowStarts",
                             "rows that begin inside a vector");
}

template <std::uint32_t sources>
params::ScanPlan<sources> plan_of(const ScanLayout& layout, const Problem& problem) {
  const std::uint32_t axis = problem.nest.rank - 1;
  const std::uint32_t across = layout.columns ? layout.steps.front().d : axis;
  params::ScanPlan<sources> plan{};
  const auto set = [&](auto& operand, std::uint32_t i) {
    set_address(operand.first, problem.address[i] + static_cast<DevicePtr>(layout.first[i]));
    operand.along = problem.step(i, axis);
    operand.across = problem.step(i, across);
  };
  set(plan.destination, 0);
  for (std::uint32_t s = 0; s < sources; ++s) set(plan.source[s], s + 1);
  for (const ScanStep& step : layout.steps) {
    auto& digit = plan.digit[plan.digits++];
    const std::int64_t elements = layout.backwards ? -1 : static_cast<std::int64_t>(step.elements);
    digit.extent = step.extent;
    if (!layout.is_wide()) digit.count = make_divider<params::Divider>(step.extent);
    digit.destination = problem.step(0, step.d) * elements;
    for (std::uint32_t s = 0; s < sources; ++s) digit.source[s] = problem.step(s + 1, step.d) * elements;
  }
  plan.length = layout.length;
  plan.columns = problem.nest.shape[across];
  plan.lines = layout.lines;
  plan.parts = layout.parts;
  plan.chains = sat_cast<std::uint32_t>(layout.chains);
  plan.rows = layout.rows;
  plan.tiles = sat_cast<std::uint32_t>(layout.ctas());
  if (layout.packed)
    plan.row = make_divider<params::Divider>(layout.dense ? layout.length : layout.row_vectors);
  if (layout.split) plan.chain = make_divider<params::Divider>(layout.chains);
  plan.threads_across = make_divider<params::Divider>(layout.threads_across);
  plan.threads_along = layout.threads_along;
  plan.prefetch_distance = layout.prefetch_distance;
  plan.ring.log2_tiles = layout.ring.log2_tiles;
  plan.ring.log2_unit = layout.ring.log2_unit;
  plan.ring.waits = layout.ring.waits;
  plan.ring.width = layout.columns ? layout.threads_across * layout.vector : 1;
  for (std::uint32_t level = 0; level < 3; ++level) plan.ring.first[level] = layout.ring.first[level];
  return plan;
}

class ScanFamily final : public ScanBase {
 public:
  ScanFamily()
      : TypedFamily({.name = "scan",
                     .summary =
                         "combines each element with those before it in one dimension; an expression may "
                         "compute the elements from the sources",
                     .operations = {"scan"},
                     .computes = true,
                     .max_inputs = max_inputs}) {}

  void add_candidates(const Problem& problem, std::vector<Candidate>& candidates) const override {
    const std::size_t first = candidates.size();
    const auto add = [&](const ScanTuning& tuning) {
      ScanLayout layout = scan_layout(problem, tuning);
      const ScanFacts facts = facts_of_layout(layout, problem);
      const ScanChoice choice{.lines = layout.columns ? layout.threads_across : layout.rows,
                              .phases = layout.threads_along,
                              .vectors = layout.turns,
                              .threads = layout.threads,
                              .parts = sat_cast<std::uint32_t>(layout.parts)};
      add_once(candidates, candidate(facts, choice, problem.nest, std::move(layout)),
               candidates.size() == first);
    };
    add({});
    candidates[first].default_choice = DefaultChoice::yes;
    const std::uint32_t turns = scan_layout_of(candidates[first]).turns;
    if (turns > 1) add({.turns = turns / 2});
    if (scan_layout_of(candidates[first]).by_lanes) add({.turns = turns * 2});
    for (const std::uint32_t threads : {256U, max_scan_threads}) add({.turns = turns, .threads = threads});
    const ScanLayout& chosen = scan_layout_of(candidates[first]);
    if (chosen.by_threads || chosen.by_lanes) add({.share_columns = true});
  }

  [[nodiscard]] Footprint footprint(const Candidate& candidate, const Problem& problem) const override {
    const ScanLayout& layout = scan_layout_of(candidate);
    Footprint footprint{.threads = layout.threads, .tiles = layout.ctas(), .registers = 64};
    if (layout.columns && !layout.by_threads && !layout.by_lanes) {
      // StateRows in scan_columns.cu: each thread has a state for each of its columns. If tiles look back, it
      // has three more.
      const std::uint32_t states = layout.vector + (layout.split ? 3 : 0);
      footprint.dynamic_shared_bytes = layout.threads_across * layout.threads_along * states * max_scan_state;
      footprint.max_dynamic_shared_bytes = max_scan_threads * (layout.vector + 3) * max_scan_state;
    } else if (!layout.columns) {
      // Two objects of scan_rows.cu's Exchange, each of 17 entries of 16 bytes: the aggregates of up to 16
      // warps and the state before the tile.
      footprint.static_shared_bytes = 2 * 17 * 2 * max_scan_state;
    }
    std::fill_n(footprint.box.begin(), problem.nest.rank, 1U);
    const std::uint32_t axis = problem.nest.rank - 1;
    footprint.box[axis] = sat_cast<std::uint32_t>(std::min<std::uint64_t>(
        layout.length, std::uint64_t{layout.columns ? layout.threads_along : layout.threads * layout.vector} *
                           layout.turns));
    std::uint64_t side = layout.columns ? layout.threads_across : layout.rows;
    for (const ScanStep& step : layout.steps) {
      footprint.box[step.d] = sat_cast<std::uint32_t>(
          std::min(std::min(side, step.extent) * step.elements, problem.nest.shape[step.d]));
      side = std::max<std::uint64_t>(side / step.extent, 1);
    }
    std::uint64_t item = 0;
    for (std::uint32_t i = 1; i < problem.nest.operands; ++i)
      item += std::uint64_t{problem.element_bytes(i)} * layout.vector;
    footprint.bytes_in_flight = std::uint64_t{layout.threads} * layout.turns * item;
    footprint.passes = layout.turns;
    // A CTA that scans all tiles of a row waits for memory in each tile. Tiles in different CTAs load at the
    // same time, so that only the wait of the last one for its look-back adds to the time.
    if (layout.split) {
      footprint.last_waits = waits_of_look_back;
    } else {
      footprint.waits = static_cast<double>(layout.parts - 1);
    }
    const auto elements = static_cast<double>(problem.nest.elements());
    // An estimate: 6 for each element, and 2 for each load of a vector.
    footprint.instructions = elements * (6 + 2.0 * problem.sources() / layout.vector);
    return footprint;
  }

  [[nodiscard]] std::string why(const Candidate& candidate, const Problem& /*problem*/) const override {
    const ScanLayout& layout = scan_layout_of(candidate);
    if (layout.by_threads)
      return "Columns are adjacent in memory, and many or short: each thread walks some of them alone.";
    if (layout.by_lanes)
      return "Rows begin less than 64 bytes apart: neighbouring lanes take neighbouring rows of the same "
             "columns.";
    if (layout.columns) return "Columns are adjacent in memory: neighbouring threads own vectors of them.";
    return layout.packed ? "Rows are short: a CTA takes several whole rows."
                         : "Rows are long: a CTA takes a tile of one row at a time.";
  }
  [[nodiscard]] std::vector<std::string> rewrites(const Candidate& candidate) const override {
    const ScanLayout& layout = scan_layout_of(candidate);
    std::vector<std::string> out;
    if (layout.split)
      out.push_back(
          fmt::format("{} tiles of a row run at once; each looks back at those before it.", layout.parts));
    if (layout.staggered)
      out.emplace_back(
          "Rows are not aligned to vectors: threads cut them at boundaries of vectors in memory.");
    return out;
  }

  void bind(const Candidate& candidate, const Problem& problem, ParameterBlock& parameters,
            LaunchShape& shape) const override {
    const ScanLayout& layout = scan_layout_of(candidate);
    with_constant(problem.sources(), [&](auto sources) {
      using Plan = params::ScanPlan<sources>;
      const std::uint32_t at =
          parameters.add({"params::ScanPlan", sources}, "plan", plan_of<sources>(layout, problem));
      parameters.add_address(at + static_cast<std::uint32_t>(offsetof(Plan, destination)), 0);
      for (std::uint32_t s = 0; s < sources; ++s) {
        parameters.add_address(at + static_cast<std::uint32_t>(offsetof(Plan, source) +
                                                               s * sizeof(params::ScanOperand<const u8>)),
                               s + 1);
      }
    });
    shape.grid = grid_of(layout.ctas());
    if (!layout.split) return;
    parameters.add({.name = "u8", .pointer = Pointer::to}, "scratch", DevicePtr{0});
    shape.scratch_bytes = scratch_zeros;
  }

  [[nodiscard]] SourceParts source(const Candidate& candidate,
                                   std::string_view /*expression*/) const override {
    const auto facts = facts_of<ScanFacts>(candidate);
    SourceParts parts{.kernel = facts.columns != 0 ? "scan_columns" : "scan_rows",
                      .why =
                          "Each byte is loaded once and stored once, in the widest accesses that its layout "
                          "allows; partial results combine in an order that never changes.",
                      .max_threads = max_scan_threads,
                      .call = entry_call(facts)};
    parts.min_ctas = facts.vector <= 8 ? 2 : 1;
    parts.facts = number_fact("vector", facts.vector, "elements that a thread loads at once");
    parts.facts += number_fact("turns", facts.turns, "vectors of a thread");
    parts.facts += flag_fact("exclusive", facts.exclusive != 0);
    if (facts.by_threads != 0)
      parts.facts += flag_fact("synchronised", facts.synchronised != 0, "warps share sectors of rows");
    if (facts.lanes != 0) parts.facts += number_fact("lanes", facts.lanes, "lanes that share columns");
    parts.facts += policy_fact("Edges", facts.cut != 0 ? "CutVectors" : "WholeVectors");
    if (facts.columns == 0) add_row_facts(parts, facts);
    parts.facts += fmt::format("using Index = {};  // index of a row, or of a vector of columns\n",
                               facts.wide != 0 ? "u64" : "u32");
    parts.facts += fmt::format(
        "template <class Value>\nstruct {0};\ntemplate <class Value>\nusing Scanner = {0}<Value>;\n",
        scanner(static_cast<ScanOp>(facts.op)));
    const auto run_text = [](std::int32_t run) {
      return fmt::format("  static constexpr i32 run = {};\n", run);
    };
    std::vector<ElementType> from;
    std::vector<std::string> runs;
    for (std::uint32_t s = 0; s < facts.sources; ++s) {
      from.push_back(static_cast<ElementType>(facts.source[s]));
      runs.push_back(run_text(facts.run[s + 1]));
    }
    parts.numbers = facts.numbers;
    add_element_types(parts, facts.element_type(), from, true, runs, run_text(facts.run[0]));
    if (facts.staggered != 0) {
      const ElementType type = facts.anchor == 0 ? facts.element_type() : from[facts.anchor - 1];
      parts.facts += fmt::format(
          "struct Anchor {{\n  static constexpr u32 operand = {};\n  static constexpr u32 bytes = {};\n  "
          "static constexpr i32 run = {};\n}};\n",
          facts.anchor, size_of(type), facts.run[facts.anchor]);
    }
    return parts;
  }

  void classify(const Candidate& candidate, const Problem& /*problem*/, ShapeClass& shape) const override {
    shape.staggered = scan_layout_of(candidate).staggered;
  }
};

}  // namespace

const Family& scan_family() {
  static const ScanFamily family;
  return family;
}

TMAJIT_END
