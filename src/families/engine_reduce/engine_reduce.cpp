#include "families/engine_reduce/engine_reduce_layout.hpp"
#include "families/list.hpp"
#include "families/shared/chunks.hpp"
#include "spec/saturate.hpp"

#include <tmajit/engine_reduction.cuh>

#include <algorithm>
#include <cstddef>
#include <memory>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

constexpr EngineReductionTuning tunings[] = {{.chunk_bytes = 16384, .stages = 3, .ctas_per_sm = 3},
                                             {.chunk_bytes = 16384, .stages = 2, .ctas_per_sm = 3},
                                             {.chunk_bytes = 8192, .stages = 4, .ctas_per_sm = 3},
                                             {.chunk_bytes = 16384, .stages = 4, .ctas_per_sm = 2}};
constexpr std::uint32_t most_shared =
    108 * 1024;  // of any launch: what the largest tuning asks for, and a little

/// What an `engine_reduce` kernel is specialised for.
struct EngineReduceFacts {
  std::uint32_t op = 0;    ///< a ReductionOp
  std::uint32_t type = 0;  ///< of the destination, an ElementType
  std::uint32_t source = 0;
  std::uint32_t stages = 2;
  std::uint32_t results = 1;
  Flag columns = 0;
  Flag split = 0;

  [[nodiscard]] ElementType element_type() const noexcept { return static_cast<ElementType>(type); }
};

EngineReduceFacts facts_of_layout(const EngineReductionLayout& layout, const Problem& problem) {
  return {.op = static_cast<std::uint32_t>(*problem.reduction),
          .type = static_cast<std::uint32_t>(type_in_chunks(problem, 0)),
          .source = static_cast<std::uint32_t>(type_in_chunks(problem, 1)),
          .stages = layout.stages,
          .results = layout.team.results,
          .columns = layout.team.columns ? 1U : 0U,
          .split = layout.team.parts > 1 ? 1U : 0U};
}

/// The layout of a candidate, which was worked out when it was added.
const EngineReductionLayout& layout_of(const Candidate& candidate) {
  return *static_cast<const EngineReductionLayout*>(candidate.layout.get());
}

/// Bytes from the source's first element to the end of its last.
std::uint64_t source_bytes(const Problem& problem) {
  std::uint64_t bytes = problem.element_bytes(1);
  for (std::uint32_t d = 0; d < problem.nest.rank; ++d) {
    bytes += (problem.nest.shape[d] - 1) * static_cast<std::uint64_t>(problem.step(1, d));
  }
  return bytes;
}

params::EngineReductionPlan plan_of(const EngineReductionLayout& layout, const Problem& problem) {
  const CanonicalNest& nest = problem.nest;
  const auto element = static_cast<std::uint32_t>(problem.element_bytes(1));
  params::EngineReductionPlan plan{};
  set_address(plan.destination, problem.address[0]);
  set_address(plan.source, problem.address[1]);
  plan.source_bytes = source_bytes(problem);
  std::uint32_t k = 0;
  const auto add = [&](const std::vector<EngineReductionStep>& steps) {
    for (const EngineReductionStep& step : steps) {
      auto& digit = plan.digit[k++];
      const auto elements = static_cast<std::int64_t>(step.elements);
      digit.extent = step.extent;
      digit.count = make_divider<params::Divider>(step.extent);
      digit.destination = problem.step(0, step.d) * elements;
      digit.source[0] = problem.step(1, step.d) * elements;
      digit.place = nest.place[step.d] * elements;
    }
    return k;
  };
  plan.own_digits = add(layout.own);
  plan.tile_digits = add(layout.tiles);
  plan.digits = add(layout.steps);
  const auto block = static_cast<std::uint32_t>(layout.block);
  const bool has_inner = layout.inner < nest.rank;
  plan.first_place = nest.first_place;
  const std::int64_t side_place = nest.place[layout.side];
  plan.inner_place = has_inner ? nest.place[layout.inner] : side_place;
  plan.outer_place = side_place;
  plan.count = layout.count;
  plan.team = reduction_team(layout.team);
  plan.near = make_divider<params::Divider>(layout.near);
  plan.tiles = make_divider<params::Divider>(layout.tile_count);
  plan.far = static_cast<std::uint32_t>(layout.near * layout.inner_extent) * element;
  const std::uint32_t of_side = layout.side_is_kept ? 1 : 0;  // 0: as many as the side has
  plan.inner = has_inner ? static_cast<std::uint32_t>(layout.inner_extent) : of_side;
  plan.inner_bytes = (has_inner ? static_cast<std::uint32_t>(layout.near) : block) * element;
  plan.outer = has_inner ? of_side : 1;
  plan.outer_bytes = block * element;
  plan.side = static_cast<std::uint32_t>(layout.side_length);
  plan.side_extent = static_cast<std::uint32_t>(nest.shape[layout.side]);
  plan.side_bytes = block * element;
  plan.side_outputs =
      layout.side_is_kept ? static_cast<std::uint32_t>(layout.outputs / layout.side_length) : 0;
  plan.outputs = static_cast<std::uint32_t>(layout.outputs);
  plan.steps = static_cast<std::uint32_t>(layout.step_count);
  plan.units = static_cast<std::uint32_t>(layout.units());
  plan.slot_bytes = layout.slot_bytes;
  return plan;
}

class EngineReduce final : public Family {
 public:
  EngineReduce()
      : Family({.name = "engine_reduce",
                .summary =
                    "reduces any dimensions of one input that the copy engine loads in chunks without gaps, "
                    "wherever they begin",
                .operation = {},
                .computes = true,
                .most_inputs = 1,
                .reduces = true}) {}

  void add_candidates(const Problem& problem, std::vector<Candidate>& candidates) const override {
    if (!problem.reduction) return;
    const std::size_t first = candidates.size();
    for (const EngineReductionTuning& tuning : tunings) {
      auto layout = engine_reduction_layout(problem, tuning);
      if (!layout) continue;
      Candidate one = candidate(
          facts_of_layout(*layout, problem), problem.nest,
          {.box = {layout->team.owners, layout->team.phases, layout->team.parts, layout->slot_bytes},
           .threads = layout->threads()});
      one.layout = std::make_shared<const EngineReductionLayout>(*std::move(layout));
      add_once(candidates, std::move(one), candidates.size() == first && prefers_engine(problem));
    }
    if (candidates.size() > first && prefers_engine(problem)) candidates[first].usual = Usual::yes;
  }

  [[nodiscard]] Footprint footprint(const Candidate& candidate, const Problem& problem) const override {
    const EngineReductionLayout& layout = layout_of(candidate);
    Footprint footprint{.threads = layout.threads(),
                        .tiles = layout.ctas,
                        .dynamic_shared_bytes = layout.stages * layout.slot_bytes +
                                                meeting_bytes(layout.team, *problem.reduction),
                        .most_dynamic_shared_bytes = most_shared,
                        .registers = 64,
                        .bytes_in_flight = std::uint64_t{layout.stages} * layout.slot_bytes,
                        .by_engine = true};
    std::fill_n(footprint.box.begin(), problem.nest.rank, 1U);
    const auto take = [&](std::uint32_t d, std::uint64_t elements) {
      footprint.box[d] = sat_cast<std::uint32_t>(elements);
    };
    for (const EngineReductionStep& step : layout.own) take(step.d, step.extent);
    for (const EngineReductionStep& step : layout.steps) take(step.d, problem.nest.shape[step.d]);
    if (layout.inner < problem.nest.rank) take(layout.inner, layout.inner_extent);
    footprint.rounds = 1 + waits_of_parts(layout.team);
    footprint.work.span_element = static_cast<double>(problem.nest.elements());
    return footprint;
  }

  [[nodiscard]] KernelChoice choice(const Candidate& candidate) const override {
    const auto facts = facts_of<EngineReduceFacts>(candidate);
    return {.family = name(),
            .tile = candidate.tile.box,
            .threads = candidate.tile.threads,
            .turns = facts.results,
            .stages = facts.stages};
  }
  [[nodiscard]] std::string describe(const KernelChoice& choice) const override {
    const std::uint32_t items = choice.tile[0] * choice.turns;
    std::string text =
        fmt::format("{} item{} by {} of {} threads, {} chunks of {} bytes under way", items,
                    items == 1 ? "" : "s", choice.tile[1], choice.threads, choice.stages, choice.tile[3]);
    if (choice.tile[2] > 1) text += fmt::format(", in {} parts", choice.tile[2]);
    return text;
  }
  [[nodiscard]] std::string why(const Candidate& candidate, const Problem& /*problem*/) const override {
    const EngineReductionLayout& layout = layout_of(candidate);
    return fmt::format(
        "The source has pieces of memory without a gap: the copy engine brings {} elements of them at a "
        "time, "
        "wherever they begin, and threads take them from shared memory.",
        layout.chunk());
  }
  [[nodiscard]] std::vector<std::string> rewrites(const Candidate& candidate) const override {
    const std::uint32_t parts = layout_of(candidate).team.parts;
    if (parts == 1) return {};
    return {fmt::format("{} CTAs share what comes together; the last puts their parts together in order.",
                        parts)};
  }

  void bind(const Candidate& candidate, const Problem& problem, ParameterBlock& parameters,
            LaunchShape& shape) const override {
    const EngineReductionLayout& layout = layout_of(candidate);
    using Plan = params::EngineReductionPlan;
    const std::uint32_t at =
        parameters.add({"params::EngineReductionPlan"}, "plan", plan_of(layout, problem));
    parameters.add_address(at + offsetof(Plan, destination), 0);
    parameters.add_address(at + offsetof(Plan, source), 1);
    shape.grid = grid_of(layout.ctas);
    if (layout.team.parts == 1) return;
    parameters.add({.name = "u8", .pointer = Pointer::to}, "scratch", DevicePtr{0});
    shape.scratch_bytes = scratch_bytes(layout.team, *problem.reduction);
  }

  [[nodiscard]] SourceParts source(const Candidate& candidate,
                                   std::string_view /*expression*/) const override {
    const auto facts = facts_of<EngineReduceFacts>(candidate);
    const auto from = static_cast<ElementType>(facts.source);
    SourceParts parts{
        .why =
            "The copy engine keeps chunks of memory on their way; results meet in registers and "
            "shared memory in an order that never changes.",
        .elements = {facts.element_type(), from},
        .most_threads = engine_reduction_threads + loading_threads,
        .call = facts.split != 0 ? "engine_reduce(plan, scratch)" : "engine_reduce(plan)",
        .inputs = {from},
        .result = facts.element_type()};
    parts.set("columns", facts.columns != 0);
    parts.set("split", facts.split != 0);
    parts.facts = number_fact("stages", facts.stages, "chunks of a CTA in flight");
    parts.facts += number_fact("results", facts.results, "of a thread");
    parts.facts += reducer_fact(static_cast<ReductionOp>(facts.op));
    parts.facts +=
        fmt::format("struct Destination {{\n  using Element = {};\n}};\n", device_type(facts.element_type()));
    parts.facts += fmt::format(
        "template <u32 i>\nstruct Source;\ntemplate <>\nstruct Source<0> {{\n  using Element = {};\n}};\n",
        device_type(from));
    return parts;
  }
};

}  // namespace

const Family& engine_reduce_family() {
  static const EngineReduce family;
  return family;
}

TMAJIT_END
