#include "families/list.hpp"
#include "families/reduce/reduce_layout.hpp"
#include "families/reduce/reduction_team.hpp"
#include "families/shared/chunks.hpp"
#include "spec/saturate.hpp"

#include <tmajit/reduction_plan.cuh>

#include <algorithm>
#include <array>
#include <cstddef>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

constexpr ReductionTuning tunings[] = {{.ctas_per_sm = 4, .bytes_of_thread = 128},
                                       {.ctas_per_sm = 4, .bytes_of_thread = 64},
                                       {.ctas_per_sm = 8, .bytes_of_thread = 64},
                                       {.ctas_per_sm = 2, .bytes_of_thread = 128}};

/// Dimensions of what is reduced whose indices a kernel works out without a loop.
constexpr std::size_t most_unrolled = 3;

/// What a `reduce` kernel is specialised for.
struct ReduceFacts {
  std::uint32_t op = 0;    ///< a ReductionOp
  std::uint32_t type = 0;  ///< of the destination, an ElementType
  std::uint32_t vector = 1;
  std::uint32_t turns = 1;
  Flag columns = 0;
  std::uint32_t reduced_digits = 0;  ///< 0: more than `most_unrolled`, which the launch counts
  Flag wide = 0;
  Flag staggered = 0;
  Flag cut = 0;
  Flag split = 0;
  std::uint32_t sources = 1;
  std::array<std::uint32_t, max_inputs> source{};
  std::array<Flag, max_inputs> is_run{};

  [[nodiscard]] ElementType element_type() const noexcept { return static_cast<ElementType>(type); }
};

ReduceFacts facts_of_layout(const ReductionLayout& layout, const Problem& problem) {
  ReduceFacts facts{.op = static_cast<std::uint32_t>(problem.as<ReduceProblem>().op),
                    .type = static_cast<std::uint32_t>(type_in_chunks(problem, 0)),
                    .vector = layout.vector,
                    .turns = layout.turns,
                    .columns = layout.columns ? 1U : 0U,
                    .reduced_digits = layout.reduced_steps.size() <= most_unrolled
                                          ? static_cast<std::uint32_t>(layout.reduced_steps.size())
                                          : 0U,
                    .wide = layout.is_wide() ? 1U : 0U,
                    .staggered = layout.staggered ? 1U : 0U,
                    .cut = layout.cut ? 1U : 0U,
                    .split = layout.parts > 1 ? 1U : 0U,
                    .sources = problem.sources()};
  for (std::uint32_t s = 0; s < facts.sources; ++s) {
    facts.source[s] = static_cast<std::uint32_t>(type_in_chunks(problem, s + 1));
    facts.is_run[s] = layout.is_run[s] ? 1 : 0;
  }
  return facts;
}

struct ReduceChoice {
  std::uint32_t owners = 1;  ///< items that a tile keeps
  std::uint32_t phases = 1;  ///< threads that share an item
  std::uint32_t parts = 1;   ///< CTAs that share an item
  std::uint32_t threads = 0;
  std::uint32_t loads = 1;  ///< of a thread under way
  static constexpr auto members() {
    return std::array{
        choice_side("owners", &ReduceChoice::owners), choice_side("phases", &ReduceChoice::phases),
        choice_side("parts", &ReduceChoice::parts), choice_number("threads", &ReduceChoice::threads),
        choice_number("loads", &ReduceChoice::loads)};
  }
  [[nodiscard]] std::string text() const {
    std::string text = fmt::format("{} item{} by {} of {} threads, {} loads of each under way", owners,
                                   owners == 1 ? "" : "s", phases, threads, loads);
    if (parts > 1) text += fmt::format(", in {} parts", parts);
    return text;
  }
};
using ReduceBase = TypedFamily<ReduceFacts, ReduceChoice, ReductionLayout>;

const ReductionLayout& layout_of(const Candidate& candidate) {
  return ReduceBase::data(candidate).layout;
}

ReductionTeamShape team_of(const ReductionLayout& layout) {
  return {.columns = layout.columns,
          .owners = layout.owners,
          .phases = layout.phases,
          .parts = layout.parts,
          .tiles = layout.tiles(),
          .results = layout.results()};
}

template <std::uint32_t sources>
params::ReductionPlan<sources> plan_of(const ReductionLayout& layout, const Problem& problem) {
  params::ReductionPlan<sources> plan{};
  set_address(plan.destination, problem.address[0]);
  const bool has_along = layout.along < problem.nest.rank;
  for (std::uint32_t s = 0; s < sources; ++s) {
    set_address(plan.source[s].first, problem.address[s + 1]);
    plan.source[s].step = has_along ? problem.step(s + 1, layout.along) : 0;
  }
  std::uint32_t k = 0;
  const auto add = [&](const std::vector<ReductionStep>& steps) {
    for (const ReductionStep& step : steps) {
      auto& digit = plan.digit[k++];
      const auto elements = static_cast<std::int64_t>(step.elements);
      digit.extent = step.extent;
      if (!layout.is_wide()) digit.count = make_divider<params::Divider>(step.extent);
      digit.destination = problem.step(0, step.d) * elements;
      digit.place = problem.nest.place[step.d] * elements;
      for (std::uint32_t s = 0; s < sources; ++s) digit.source[s] = problem.step(s + 1, step.d) * elements;
    }
  };
  add(layout.reduced_steps);
  plan.reduced_digits = k;
  add(layout.kept_steps);
  plan.digits = k;
  plan.first_place = problem.nest.first_place;
  plan.place_step = has_along ? problem.nest.place[layout.along] : 0;
  plan.destination_step = has_along ? problem.step(0, layout.along) : 0;
  plan.along = has_along ? problem.nest.shape[layout.along] : 1;
  plan.kept = layout.kept;
  plan.reduced = layout.reduced;
  plan.count = layout.count;
  plan.team = reduction_team(team_of(layout));
  plan.inner = make_divider<params::Divider>(layout.columns ? layout.tiles() : layout.parts);
  return plan;
}

class Reduce final : public ReduceBase {
 public:
  Reduce()
      : TypedFamily({.name = "reduce",
                     .summary = "reduces any dimensions of its inputs, computing what is reduced and what "
                                "becomes of the result",
                     .operations = {"reduce"},
                     .computes = true,
                     .most_inputs = max_inputs}) {}

  void add_candidates(const Problem& problem, std::vector<Candidate>& candidates) const override {
    const std::size_t first = candidates.size();
    for (const ReductionTuning& tuning : tunings) {
      ReductionLayout layout = reduction_layout(problem, tuning);
      const ReduceFacts facts = facts_of_layout(layout, problem);
      const ReduceChoice choice{.owners = layout.owners,
                                .phases = layout.phases,
                                .parts = layout.parts,
                                .threads = layout.threads(),
                                .loads = layout.turns};
      add_once(candidates, candidate(facts, choice, problem.nest, std::move(layout)),
               candidates.size() == first);
    }
    candidates[first].usual = Usual::yes;
  }

  [[nodiscard]] Footprint footprint(const Candidate& candidate, const Problem& problem) const override {
    const ReductionLayout& layout = layout_of(candidate);
    Footprint footprint{
        .threads = layout.threads(),
        .tiles = layout.ctas(),
        .dynamic_shared_bytes = meeting_bytes(team_of(layout), problem.as<ReduceProblem>().op),
        .most_dynamic_shared_bytes =
            reduction_threads * layout.vector * most_state_bytes(problem.as<ReduceProblem>().op),
        .registers = 64};
    std::fill_n(footprint.box.begin(), problem.nest.rank, 1U);
    for (const ReductionStep& step : layout.reduced_steps)
      footprint.box[step.d] = sat_cast<std::uint32_t>(problem.nest.shape[step.d]);
    std::uint64_t owners = layout.owners;
    for (const ReductionStep& step : layout.kept_steps) {
      const std::uint64_t side = std::min(owners, step.extent);
      footprint.box[step.d] =
          sat_cast<std::uint32_t>(std::min(side * step.elements, problem.nest.shape[step.d]));
      owners = std::max<std::uint64_t>(owners / step.extent, 1);
    }
    std::uint64_t item = 0;
    for (std::uint32_t i = 1; i < problem.nest.operands; ++i)
      item += problem.element_bytes(i) * layout.vector;
    footprint.bytes_in_flight = footprint.threads * layout.turns * item;
    footprint.rounds = sat_cast<std::uint32_t>(ceil_div(layout.part, layout.phases * layout.turns)) +
                       waits_of_parts(team_of(layout));
    const double items = static_cast<double>(layout.kept) * static_cast<double>(layout.reduced);
    footprint.instructions = items * (3.0 * layout.vector + 2 * problem.sources());
    return footprint;
  }

  [[nodiscard]] std::string why(const Candidate& candidate, const Problem& /*problem*/) const override {
    const ReductionLayout& layout = layout_of(candidate);
    const std::string what =
        layout.vector > 1 ? fmt::format("vectors of {} elements", layout.vector) : "elements";
    return layout.columns
               ? fmt::format(
                     "What is kept lies side by side: threads side by side take {} of {} of it, and {} "
                     "behind each other share what is reduced.",
                     what, layout.owners, layout.phases)
               : fmt::format("What is reduced lies side by side: {} threads share the {} of a result.",
                             layout.phases, what);
  }
  [[nodiscard]] std::vector<std::string> rewrites(const Candidate& candidate) const override {
    const ReductionLayout& layout = layout_of(candidate);
    std::vector<std::string> out;
    if (layout.parts > 1) {
      out.push_back(fmt::format(
          "{} CTAs share what comes together; the last puts their parts together in order.", layout.parts));
    }
    if (!layout.staggered) return out;
    out.emplace_back(
        "Rows are cut at multiples of 16 bytes of the source's memory, which each row begins elsewhere.");
    return out;
  }

  void bind(const Candidate& candidate, const Problem& problem, ParameterBlock& parameters,
            LaunchShape& shape) const override {
    const ReductionLayout& layout = layout_of(candidate);
    with_rank(problem.sources(), [&](auto sources) {
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
    if (layout.parts == 1) return;
    parameters.add({.name = "u8", .pointer = Pointer::to}, "scratch", DevicePtr{0});
    shape.scratch_bytes = scratch_bytes(team_of(layout), problem.as<ReduceProblem>().op);
  }

  [[nodiscard]] SourceParts source(const Candidate& candidate,
                                   std::string_view /*expression*/) const override {
    const auto facts = facts_of<ReduceFacts>(candidate);
    SourceParts parts{.why =
                          "Each byte is loaded once, as wide as it lies, many at once; results meet in "
                          "registers and shared memory in an order that never changes.",
                      .most_threads = reduction_threads,
                      .call = facts.split != 0 ? "reduce_tile(plan, scratch)" : "reduce_tile(plan)"};
    parts.set("columns", facts.columns != 0);
    parts.set("counted", facts.reduced_digits == 0);
    parts.set("wide", facts.wide != 0);
    parts.set("staggered", facts.staggered != 0);
    parts.set("cut", facts.cut != 0);
    parts.set("split", facts.split != 0);
    // Of a row in one piece the elements that no whole vector has are taken by themselves.
    const bool ended = facts.cut != 0 && facts.reduced_digits == 1 && facts.columns == 0;
    parts.set("ended", ended);
    parts.set("ranged", facts.cut != 0 && !ended);
    parts.facts = number_fact("vector", facts.vector, "elements of an item");
    parts.facts += number_fact("turns", facts.turns, "items of a thread that are under way at once");
    if (facts.reduced_digits != 0)
      parts.facts += number_fact("reduced_digits", facts.reduced_digits, "dimensions that are reduced");
    parts.facts += fmt::format("using Index = {};  // of items\n", facts.wide != 0 ? "u64" : "u32");
    parts.facts += reducer_fact(static_cast<ReductionOp>(facts.op));
    std::vector<ElementType> from;
    std::vector<std::string> runs;
    for (std::uint32_t s = 0; s < facts.sources; ++s) {
      from.push_back(static_cast<ElementType>(facts.source[s]));
      runs.push_back(fmt::format("  static constexpr bool is_run = {};\n", facts.is_run[s] != 0));
    }
    add_element_types(parts, facts.element_type(), from, true, runs);
    return parts;
  }

  void classify(const Candidate& candidate, const Problem& /*problem*/, ShapeClass& shape) const override {
    shape.staggered = layout_of(candidate).staggered;
  }
};

}  // namespace

const Family& reduce_family() {
  static const Reduce family;
  return family;
}

TMAJIT_END
