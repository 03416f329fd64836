#include "families/list.hpp"
#include "families/reduce/reduce_layout.hpp"
#include "families/shared/chunks.hpp"
#include "families/shared/reduction_team.hpp"
#include "spec/saturate.hpp"

#include <tmajit/reduction_plan.cuh>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

/// Up to this many reduced dimensions, a kernel computes their indices without a loop.
constexpr std::size_t max_unrolled = 3;

// Fitted to 930 candidates of 21 random sums of f32 (seed 20261231) on one H100.
constexpr double instructions_per_item = 25.3;
constexpr double instructions_per_digit = 11.6;  // for an item's index in a reduced dimension after the first
constexpr double loads_per_wait = 1.78;          // length of a wait of waits_of_parts(), in load latencies

/// The facts that a `reduce` kernel is specialised for. ReductionWalk describes most of them.
struct ReduceFacts {
  std::uint32_t op = 0;    ///< a ReductionOp
  std::uint32_t type = 0;  ///< type of the destination, an ElementType
  std::uint32_t vector = 1;
  std::uint32_t turns = 1;
  Flag columns = 0;
  std::uint32_t reduced_digits = 0;  ///< reduced dimensions; 0: more than `max_unrolled`, see the parameter
  Flag wide = 0;
  Flag staggered = 0;
  Flag cut = 0;
  Flag split = 0;
  std::uint32_t sources = 1;
  std::uint32_t numbers = 0;  ///< the last of the sources, which the launch passes
  std::array<std::uint32_t, max_inputs> source{};
  std::array<Flag, max_inputs> is_run{};

  [[nodiscard]] ElementType element_type() const noexcept { return static_cast<ElementType>(type); }
};

ReduceFacts facts_of_layout(const ReductionLayout& layout, const Problem& problem) {
  const ReductionWalk& walk = *layout.walk;
  ReduceFacts facts{.op = static_cast<std::uint32_t>(problem.as<ReduceProblem>().op),
                    .type = static_cast<std::uint32_t>(type_in_chunks(problem, 0)),
                    .vector = walk.vector,
                    .turns = layout.share.turns,
                    .columns = walk.columns ? 1U : 0U,
                    .reduced_digits = walk.reduced_steps.size() <= max_unrolled
                                          ? static_cast<std::uint32_t>(walk.reduced_steps.size())
                                          : 0U,
                    .wide = walk.is_wide() ? 1U : 0U,
                    .staggered = walk.staggered ? 1U : 0U,
                    .cut = walk.cut ? 1U : 0U,
                    .split = layout.share.parts > 1 ? 1U : 0U,
                    .sources = problem.sources(),
                    .numbers = problem.numbers};
  for (std::uint32_t s = 0; s < facts.sources; ++s) {
    facts.source[s] = static_cast<std::uint32_t>(type_in_chunks(problem, s + 1));
    facts.is_run[s] = walk.is_run[s] ? 1 : 0;
  }
  return facts;
}

/// Stored choices call `tile_items` "owners" and `threads_per_item` "phases".
struct ReduceChoice {
  std::uint32_t tile_items = 1;        ///< result items of a tile
  std::uint32_t threads_per_item = 1;  ///< threads that share a result item
  std::uint32_t parts = 1;             ///< CTAs that share a result item
  std::uint32_t threads = 0;
  std::uint32_t loads = 1;  ///< loads of a thread in flight
  static constexpr auto members() {
    return std::array{
        choice_side("owners", &ReduceChoice::tile_items),
        choice_side("phases", &ReduceChoice::threads_per_item), choice_side("parts", &ReduceChoice::parts),
        choice_number("threads", &ReduceChoice::threads), choice_number("loads", &ReduceChoice::loads)};
  }
  [[nodiscard]] std::string text() const {
    std::string text = fmt::format("{} item{} by {} of {} threads, {} loads of each under way", tile_items,
                                   tile_items == 1 ? "" : "s", threads_per_item, threads, loads);
    if (parts > 1) text += fmt::format(", in {} parts", parts);
    return text;
  }
};
using ReduceBase = TypedFamily<ReduceFacts, ReduceChoice, ReductionLayout>;

const ReductionLayout& reduction_layout_of(const Candidate& candidate) {
  return ReduceBase::data(candidate).layout;
}

ReductionTeamShape team_of(const ReductionLayout& layout) {
  const ReductionWalk& walk = *layout.walk;
  return {.columns = walk.columns,
          .tile_items = layout.share.tile_items,
          .threads_per_item = layout.share.threads_per_item,
          .parts = layout.share.parts,
          .tiles = layout.tiles(),
          .results = walk.results()};
}

template <std::uint32_t sources>
params::ReductionPlan<sources> plan_of(const ReductionLayout& layout, const Problem& problem) {
  const ReductionWalk& walk = *layout.walk;
  params::ReductionPlan<sources> plan{};
  set_address(plan.destination, problem.address[0]);
  const bool has_vectors = walk.vector_dimension < problem.nest.rank;
  for (std::uint32_t s = 0; s < sources; ++s) {
    set_address(plan.source[s].first, problem.address[s + 1]);
    plan.source[s].step = has_vectors ? problem.step(s + 1, walk.vector_dimension) : 0;
  }
  std::uint32_t k = 0;
  const auto add = [&](const std::vector<ReductionStep>& steps) {
    for (const ReductionStep& step : steps) {
      auto& digit = plan.digit[k++];
      const auto elements = static_cast<std::int64_t>(step.elements);
      digit.extent = step.extent;
      if (!walk.is_wide()) digit.count = make_divider<params::Divider>(step.extent);
      digit.destination = problem.step(0, step.d) * elements;
      digit.place = problem.nest.place[step.d] * elements;
      for (std::uint32_t s = 0; s < sources; ++s) digit.source[s] = problem.step(s + 1, step.d) * elements;
    }
  };
  add(walk.reduced_steps);
  plan.reduced_digits = k;
  add(walk.result_steps);
  plan.digits = k;
  plan.first_place = problem.nest.first_place;
  plan.place_step = has_vectors ? problem.nest.place[walk.vector_dimension] : 0;
  plan.destination_step = has_vectors ? problem.step(0, walk.vector_dimension) : 0;
  plan.along = has_vectors ? problem.nest.shape[walk.vector_dimension] : 1;
  plan.result_items = walk.result_items;
  plan.reduced = walk.reduced;
  plan.count = walk.count;
  plan.team = reduction_team(team_of(layout));
  plan.inner_ctas = make_divider<params::Divider>(walk.columns ? layout.tiles() : layout.share.parts);
  return plan;
}

class Reduce final : public ReduceBase {
 public:
  Reduce()
      : TypedFamily({.name = "reduce",
                     .summary = "reduces any dimensions of its inputs; expressions may compute the elements "
                                "that are reduced, and change each result",
                     .operations = {"reduce"},
                     .computes = true,
                     .max_inputs = max_inputs}) {}

  void add_candidates(const Problem& problem, std::vector<Candidate>& candidates) const override {
    const std::size_t first = candidates.size();
    const auto walk = std::make_shared<const ReductionWalk>(reduction_walk(problem));
    const std::vector<ReductionSharing> sharings = reduction_sharings(*walk, problem.sm_count);
    for (const ReductionSharing& share : sharings) {
      const ReductionLayout layout{walk, share};
      const ReduceChoice choice{.tile_items = share.tile_items,
                                .threads_per_item = share.threads_per_item,
                                .parts = share.parts,
                                .threads = layout.threads(),
                                .loads = share.turns};
      candidates.push_back(candidate(facts_of_layout(layout, problem), choice, problem.nest, layout));
    }
    candidates[first + default_sharing(*walk, sharings, problem.sm_count)].default_choice =
        DefaultChoice::yes;
  }

  [[nodiscard]] Footprint footprint(const Candidate& candidate, const Problem& problem) const override {
    const ReductionLayout& layout = reduction_layout_of(candidate);
    const ReductionWalk& walk = *layout.walk;
    const ReductionSharing& share = layout.share;
    const ReductionTeamShape team = team_of(layout);
    const ReductionOp op = problem.as<ReduceProblem>().op;
    Footprint footprint{.threads = layout.threads(),
                        .tiles = layout.ctas(),
                        .dynamic_shared_bytes = combining_bytes(team, op),
                        .max_dynamic_shared_bytes = reduction_threads * walk.vector * max_state_bytes(op),
                        .registers = 64,
                        .bytes_in_flight = std::uint64_t{share.tile_items} * share.threads_per_item *
                                           share.turns * walk.item_bytes};
    std::fill_n(footprint.box.begin(), problem.nest.rank, 1U);
    const auto set_sides = [&](const std::vector<ReductionStep>& steps, std::uint64_t items) {
      for (const ReductionStep& step : steps) {
        const std::uint64_t side = std::min(items, step.extent);
        footprint.box[step.d] =
            sat_cast<std::uint32_t>(std::min(side * step.elements, problem.nest.shape[step.d]));
        items = std::max<std::uint64_t>(items / step.extent, 1);
      }
    };
    // The box holds the elements that a CTA's threads load by one instruction, and the rest of their sectors.
    const std::uint64_t sector_items = std::max<std::uint64_t>(sector_bytes / walk.item_bytes, 1);
    set_sides(walk.reduced_steps,
              std::max<std::uint64_t>(share.threads_per_item, std::min(share.part, sector_items)));
    set_sides(walk.result_steps, share.tile_items);
    if (walk.columns) {
      // CTAs advance along their columns at different speeds: half of the sectors that two of them share are
      // read twice.
      const std::uint64_t line = std::uint64_t{share.tile_items} * walk.item_bytes;
      const std::uint64_t alignment = std::uint64_t{1} << std::countr_zero(line | sector_bytes);
      footprint.reread_bytes = static_cast<double>(problem.bytes_read()) / static_cast<double>(line) *
                               static_cast<double>(sector_bytes - alignment) / 2;
    }
    footprint.rounds = 0;
    footprint.waits =
        static_cast<double>(ceil_div(share.part, std::uint64_t{share.threads_per_item} * share.turns));
    footprint.last_waits = loads_per_wait * waits_of_parts(team);
    const double items = static_cast<double>(walk.result_items) * static_cast<double>(walk.reduced);
    const double digits = static_cast<double>(std::max<std::size_t>(walk.reduced_steps.size(), 1));
    footprint.instructions = items * (instructions_per_item + instructions_per_digit * (digits - 1));
    return footprint;
  }

  [[nodiscard]] std::string why(const Candidate& candidate, const Problem& /*problem*/) const override {
    const ReductionLayout& layout = reduction_layout_of(candidate);
    const ReductionWalk& walk = *layout.walk;
    const std::string what =
        walk.vector > 1 ? fmt::format("vectors of {} elements", walk.vector) : "elements";
    return walk.columns
               ? fmt::format(
                     "A dimension of the results is contiguous: neighbouring threads take {}, {} of them a "
                     "CTA, and {} "
                     "threads share the reduction of each.",
                     what, layout.share.tile_items, layout.share.threads_per_item)
               : fmt::format("A reduced dimension is contiguous: {} threads share the {} of a result.",
                             layout.share.threads_per_item, what);
  }
  [[nodiscard]] std::vector<std::string> rewrites(const Candidate& candidate) const override {
    const ReductionLayout& layout = reduction_layout_of(candidate);
    std::vector<std::string> out;
    if (layout.share.parts > 1) {
      out.push_back(
          fmt::format("{} CTAs share each reduction; the last one combines their parts in a fixed order.",
                      layout.share.parts));
    }
    if (!layout.walk->staggered) return out;
    out.emplace_back(
        "Rows are not aligned to 16 bytes: threads cut them at multiples of 16 bytes in the source's "
        "memory.");
    return out;
  }

  void bind(const Candidate& candidate, const Problem& problem, ParameterBlock& parameters,
            LaunchShape& shape) const override {
    const ReductionLayout& layout = reduction_layout_of(candidate);
    with_constant(problem.sources(), [&](auto sources) {
      using Plan = params::ReductionPlan<sources>;
      const std::uint32_t at =
          parameters.add({"params::ReductionPlan", sources}, "plan", plan_of<sources>(layout, problem));
      parameters.add_address(at + offsetof(Plan, destination), 0);
      for (std::uint32_t s = 0; s < sources; ++s) {
        parameters.add_address(
            at + static_cast<std::uint32_t>(offsetof(Plan, source) + s * sizeof(params::ReductionSource)),
            s + 1);
      }
    });
    shape.grid = grid_of(layout.ctas());
    if (layout.share.parts == 1) return;
    parameters.add({.name = "u8", .pointer = Pointer::to}, "scratch", DevicePtr{0});
    shape.scratch_bytes = scratch_bytes(team_of(layout), problem.as<ReduceProblem>().op);
  }

  [[nodiscard]] SourceParts source(const Candidate& candidate,
                                   std::string_view /*expression*/) const override {
    const auto facts = facts_of<ReduceFacts>(candidate);
    SourceParts parts{
        .why =
            "Each byte is loaded once, in the widest loads that its layout allows, many at once; "
            "partial results are combined in registers and shared memory in a fixed order.",
        .max_threads = reduction_threads,
        .call = facts.split != 0 ? "reduce_tile(plan, scratch)" : "reduce_tile(plan)"};
    const bool columns = facts.columns != 0;
    const bool staggered = facts.staggered != 0;
    // Where a row is one piece, its elements outside whole vectors are processed separately.
    const bool ended = facts.cut != 0 && facts.reduced_digits == 1 && !columns;
    const bool ranged = facts.cut != 0 && !ended;
    parts.set("columns", columns);         // neighbouring threads own neighbouring results
    parts.set("split", facts.split != 0);  // several CTAs share the elements of a result
    parts.set("ended", ended);             // a row's elements outside whole vectors are items of their own
    parts.set("ranged", ranged);           // a row may have part of a vector
    parts.facts = number_fact("vector", facts.vector, "elements of an item");
    parts.facts += number_fact("turns", facts.turns, "items that a thread has in flight");
    parts.facts += number_fact("reduced_digits", facts.reduced_digits,
                               facts.reduced_digits == 0 ? "a launch says how many dimensions are reduced"
                                                         : "dimensions that are reduced");
    parts.facts += flag_fact("columns", columns);
    if (ended) parts.facts += flag_fact("staggered", staggered, "rows begin between vectors");
    if (ranged) parts.facts += policy_fact("Rows", staggered ? "StaggeredRows" : "CutRows");
    parts.facts += fmt::format("using Index = {};  // index of an item\n", facts.wide != 0 ? "u64" : "u32");
    parts.facts += reducer_fact(static_cast<ReductionOp>(facts.op));
    std::vector<ElementType> from;
    std::vector<std::string> runs;
    for (std::uint32_t s = 0; s < facts.sources; ++s) {
      from.push_back(static_cast<ElementType>(facts.source[s]));
      runs.push_back(fmt::format("  static constexpr bool is_run = {};\n", facts.is_run[s] != 0));
    }
    parts.numbers = facts.numbers;
    add_element_types(parts, facts.element_type(), from, true, runs);
    if (facts.numbers > 0)
      parts.facts += indices_fact("AllNumbers", facts.sources - facts.numbers, facts.sources);
    return parts;
  }

  void classify(const Candidate& candidate, const Problem& /*problem*/, ShapeClass& shape) const override {
    shape.staggered = reduction_layout_of(candidate).walk->staggered;
  }
};

}  // namespace

const Family& reduce_family() {
  static const Reduce family;
  return family;
}

TMAJIT_END
