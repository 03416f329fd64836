#include "families/list.hpp"
#include "families/rowwise/row_layout.hpp"
#include "families/rowwise/row_source.hpp"
#include "families/shared/chunks.hpp"
#include "families/shared/reducer_name.hpp"
#include "spec/saturate.hpp"

#include <tmajit/row_plan.cuh>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <limits>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

/// The facts that a `rowwise` kernel is specialised for. RowLayout describes most of them.
struct RowFacts {
  std::uint32_t team = 0;  ///< a RowTeam
  std::uint32_t vector = 1;
  std::uint32_t turns = 1;
  std::uint32_t rows_at_once = 1;
  std::uint32_t cluster = 1;
  Flag cut = 0;
  Flag staggered = 0;
  std::uint32_t anchor = 0;
  Flag reloads = 0;
  Flag slim = 0;
  Flag staged = 0;
  Flag nested = 0;     ///< a row has several dimensions
  Flag many_rows = 0;  ///< rows are numbered in several dimensions
  Flag wide = 0;
  std::uint32_t sources = 1;
  std::uint32_t numbers = 0;  ///< how many sources, the last ones, the launch passes as numbers
  std::uint32_t destinations = 1;
  std::array<std::uint32_t, max_operands> type{};    ///< ElementType of each operand
  std::array<std::uint32_t, max_operands> access{};  ///< RowAccess of each operand
  std::array<Flag, max_operands> late{};             ///< sources that are loaded when results are stored
  std::array<Flag, max_operands> in_shared{};        ///< sources that shared memory holds
  std::array<std::uint32_t, max_inputs> results{};   ///< destination k is the steps' y_results[k]

  [[nodiscard]] std::uint32_t tensors() const noexcept { return sources - numbers; }
  [[nodiscard]] std::uint32_t operands() const noexcept { return sources + destinations; }
  [[nodiscard]] std::uint32_t destination_operand(std::uint32_t k) const noexcept {
    return k == 0 ? 0 : sources + k;
  }
  /// Bit s: source s is of floating point.
  [[nodiscard]] std::uint32_t real_sources() const {
    std::uint32_t bits = 0;
    for (std::uint32_t s = 0; s < sources; ++s) bits |= (is_float(type_of(s + 1)) ? 1U : 0U) << s;
    return bits;
  }
  [[nodiscard]] ElementType type_of(std::uint32_t operand) const {
    return static_cast<ElementType>(type.at(operand));
  }
};

RowFacts facts_of_layout(const RowLayout& layout, const Problem& problem) {
  const auto& rows = problem.as<RowwiseProblem>();
  RowFacts facts{.team = static_cast<std::uint32_t>(layout.tuning.team),
                 .vector = layout.vector,
                 .turns = layout.tuning.turns,
                 .rows_at_once = layout.tuning.rows_at_once,
                 .cluster = layout.tuning.cluster,
                 .cut = layout.cut ? 1U : 0U,
                 .staggered = layout.staggered ? 1U : 0U,
                 .anchor = layout.staggered ? layout.anchor : 0U,
                 .reloads = layout.reloads ? 1U : 0U,
                 .slim = layout.slim ? 1U : 0U,
                 .staged = layout.tuning.staged ? 1U : 0U,
                 .nested = rows.row_dims > 1 ? 1U : 0U,
                 .many_rows = problem.nest.rank - rows.row_dims > 1 ? 1U : 0U,
                 .wide = layout.is_wide() ? 1U : 0U,
                 .sources = problem.sources(),
                 .numbers = problem.numbers,
                 .destinations = problem.destinations};
  for (std::uint32_t k = 0; k < problem.nest.operands; ++k) {
    facts.type[k] = static_cast<std::uint32_t>(type_in_chunks(problem, k));
    facts.access[k] = static_cast<std::uint32_t>(layout.access[k]);
    facts.late[k] = layout.late[k] ? 1 : 0;
    facts.in_shared[k] = layout.tuning.staged && layout.in_shared[k] ? 1 : 0;
  }
  std::ranges::copy(rows.results, facts.results.begin());
  return facts;
}

/// The pairs of reductions that take one pass over a row. Columns exchange states through static shared
/// memory, which is too small for those of pairs.
std::vector<OnlinePair> pairs_of(RowTeam team, const RowFacts& facts, std::span<const RowStep> steps,
                                 std::span<const std::uint32_t> results) {
  if (facts.reloads == 0 || team == RowTeam::columns) return {};
  return online_pairs(steps, needed_steps(steps, results), facts.real_sources());
}

struct RowChoice {
  std::uint32_t team = 32;  ///< threads of a CTA that share a row
  std::uint32_t turns = 1;  ///< vectors of a thread in flight
  std::uint32_t rows = 1;   ///< rows of a team in flight
  std::uint32_t threads = 32;
  std::uint32_t cluster = 1;  ///< CTAs of a cluster, which share a row
  std::uint32_t staged = 0;   ///< 1: in shared memory
  std::uint32_t group = 0;    ///< CTAs of the grid that share a row
  static constexpr auto members() {
    return std::array{
        choice_side("team", &RowChoice::team),         choice_number("turns", &RowChoice::turns),
        choice_number("rows", &RowChoice::rows),       choice_side("threads", &RowChoice::threads),
        choice_number("cluster", &RowChoice::cluster), choice_number("staged", &RowChoice::staged, 1),
        choice_number("group", &RowChoice::group)};
  }
  [[nodiscard]] std::string text() const {
    std::string text = fmt::format("{} of {} threads share a row, {} vectors of each", team, threads, turns);
    if (staged != 0) text += ", in shared memory";
    if (rows > 1) text += fmt::format(", {} rows at once", rows);
    if (cluster > 1) text += fmt::format(", clusters of {}", cluster);
    if (group > 0) text += fmt::format(", groups of {} CTAs", group);
    return text;
  }
};
using RowBase = TypedFamily<RowFacts, RowChoice, RowLayout>;

const RowLayout& row_layout_of(const Candidate& candidate) {
  return RowBase::data(candidate).layout;
}

/// Where whole vectors of an operand may be loaded.
params::RowReach reach_of(const Problem& problem, std::uint32_t operand, std::uint32_t vector) {
  constexpr auto nowhere = std::numeric_limits<std::int64_t>::max();
  const DevicePtr bytes = problem.high[operand] - problem.low[operand];
  const DevicePtr needed = std::uint64_t{vector} * problem.element_bytes(operand);
  if (problem.is_number(operand) || bytes < needed) return {.low = nowhere, .span = 0};
  return {.low = static_cast<std::int64_t>(problem.low[operand] - problem.address[operand]),
          .span = bytes - needed};
}

template <std::uint32_t operands>
params::RowPlan<operands> plan_of(const RowLayout& layout, const Problem& problem) {
  const std::uint32_t row_dims = problem.as<RowwiseProblem>().row_dims;
  const std::uint32_t rank = problem.nest.rank;
  params::RowPlan<operands> plan{};
  for (std::uint32_t k = 0; k < operands; ++k) {
    set_address(plan.first[k], problem.address[k]);
    plan.step[k] = row_dims > 0 ? problem.step(k, rank - 1) : 0;
    plan.reach[k] = reach_of(problem, k, layout.vector);
  }
  const auto add = [&](std::uint32_t end, std::uint32_t begin) {
    for (std::uint32_t d = end; d-- > begin;) {
      auto& digit = plan.digit[plan.digits++];
      digit.extent = problem.nest.shape[d];
      if (!layout.is_wide()) digit.count = make_divider<params::Divider>(digit.extent);
      digit.place = static_cast<std::int32_t>(problem.nest.place[d]);
      for (std::uint32_t k = 0; k < operands; ++k) digit.step[k] = problem.step(k, d);
    }
  };
  add(rank - row_dims, 0);
  plan.row_digits = plan.digits;
  if (row_dims > 1) add(rank, rank - row_dims);
  plan.rows = layout.rows;
  plan.length = static_cast<std::uint32_t>(layout.length);
  plan.threads = layout.tuning.team_threads;
  plan.part = layout.part();
  plan.group = layout.tuning.group;
  plan.turns = static_cast<std::uint32_t>(ceil_div(layout.vectors(), plan.threads));
  plan.first_place = static_cast<std::int32_t>(problem.nest.first_place);
  plan.place_step = row_dims > 0 ? static_cast<std::int32_t>(problem.nest.place[rank - 1]) : 0;
  return plan;
}

std::string_view team_policy(RowTeam team) noexcept {
  switch (team) {
    case RowTeam::lanes: return "LaneTeam";
    case RowTeam::cta: return "CtaTeam";
    case RowTeam::cluster: return "ClusterTeam";
    case RowTeam::columns: return "ColumnTeam";
    case RowTeam::grid: return "GridTeam";
  }
  return {};
}

std::string_view access_policy(std::uint32_t access) noexcept {
  switch (static_cast<RowAccess>(access)) {
    case RowAccess::elements: return "ByElement";
    case RowAccess::vectors: return "ByVector";
    case RowAccess::exact: return "ByExactVector";
    case RowAccess::neighbours: return "ByNeighbour";
    case RowAccess::words: return "ByWords";
    case RowAccess::one: return "OneElement";
    case RowAccess::number: break;
  }
  return {};
}

class RowwiseFamily final : public RowBase {
 public:
  RowwiseFamily()
      : TypedFamily({.name = "rowwise",
                     .summary = "computes reductions and element-wise steps over rows; rows that fit on the "
                                "chip are loaded once",
                     .operations = {"rowwise"},
                     .max_inputs = max_inputs}) {}

  void add_candidates(const Problem& problem, std::vector<Candidate>& candidates) const override {
    const std::size_t first = candidates.size();
    for (RowLayout& layout : row_layouts(problem)) {
      const RowTuning& tuning = layout.tuning;
      const RowChoice choice{.team = tuning.team_threads,
                             .turns = tuning.turns,
                             .rows = tuning.rows_at_once,
                             .threads = tuning.threads,
                             .cluster = tuning.cluster,
                             .staged = tuning.staged ? 1U : 0U,
                             .group = tuning.group};
      const RowFacts facts = facts_of_layout(layout, problem);
      add_once(candidates, candidate(facts, choice, problem.nest, std::move(layout)),
               candidates.size() == first);
    }
    candidates[first].default_choice = DefaultChoice::yes;
  }

  [[nodiscard]] Footprint footprint(const Candidate& candidate, const Problem& problem) const override {
    const RowLayout& layout = row_layout_of(candidate);
    const RowTuning& tuning = layout.tuning;
    const auto& rows = problem.as<RowwiseProblem>();
    Footprint footprint{.threads = tuning.threads, .tiles = layout.ctas(), .registers = 64};
    const std::uint32_t reductions = reductions_of(*rows.steps, rows.results);
    const std::uint32_t state_bytes = state_bytes_of(*rows.steps, rows.results);
    if (tuning.team == RowTeam::columns) {
      footprint.static_shared_bytes = state_bytes * max_column_threads(state_bytes);
    } else if (tuning.team != RowTeam::lanes) {
      const std::uint32_t uses =
          tuning.team == RowTeam::grid ? 2 : 1;                 // states of the CTA, then of its group
      footprint.static_shared_bytes = uses * state_bytes * 32;  // of each warp
    }
    std::fill_n(footprint.box.begin(), problem.nest.rank, 1U);
    if (rows.row_dims > 0) {
      const std::uint32_t inner = problem.nest.rank - 1;
      footprint.box[inner] = sat_cast<std::uint32_t>(std::min<std::uint64_t>(
          problem.nest.shape[inner], std::uint64_t{tuning.team_threads} * tuning.turns * layout.vector));
    }
    std::uint64_t loaded_bytes = 0;
    for (std::uint32_t k = 1; k <= problem.sources(); ++k) {
      if (layout.access[k] != RowAccess::one && layout.access[k] != RowAccess::number)
        loaded_bytes += std::uint64_t{problem.element_bytes(k)} * layout.vector;
    }
    footprint.bytes_in_flight =
        std::uint64_t{tuning.threads} * tuning.turns * tuning.rows_at_once * loaded_bytes;
    if (tuning.staged) {
      footprint.dynamic_shared_bytes = layout.shared_bytes();
      footprint.max_dynamic_shared_bytes = max_staged_bytes;
      footprint.bytes_in_flight = layout.shared_bytes();
      footprint.by_engine = true;
    }
    if (layout.reloads) {
      const auto passes = static_cast<std::uint32_t>(
          reductions -
          pairs_of(tuning.team, facts_of<RowFacts>(candidate), *rows.steps, rows.results).size());
      footprint.reread_bytes = static_cast<double>(problem.bytes_read()) * passes;
      const std::uint64_t vectors_at_once =
          std::uint64_t{tuning.team_threads} * std::max(tuning.group, 1U) * tuning.turns;
      footprint.waits = static_cast<double>((passes + 1) * layout.length / (vectors_at_once * layout.vector));
    }
    footprint.instructions = instructions_of(layout, problem, reductions);
    return footprint;
  }

  [[nodiscard]] std::string why(const Candidate& candidate, const Problem& problem) const override {
    const RowLayout& layout = row_layout_of(candidate);
    const auto& rows = problem.as<RowwiseProblem>();
    if (layout.tuning.team == RowTeam::grid && reductions_of(*rows.steps, rows.results) == 0)
      return "Nothing is reduced, so any CTA may compute any part of a row.";
    if (layout.tuning.team == RowTeam::grid)
      return "Rows are too long for a cluster: all CTAs share a few rows, and load them again for each step, "
             "from "
             "the L2 cache as far as it holds them.";
    if (layout.reloads)
      return "Rows are longer than the registers of a CTA or a cluster: each step loads them again.";
    if (layout.tuning.staged)
      return "Rows are long: the copy engine loads one into the shared memory of a CTA or a cluster, where "
             "each "
             "step reads it.";
    switch (layout.tuning.team) {
      case RowTeam::lanes:
        return "Rows are short: lanes of a warp share one, and exchange values by shuffles.";
      case RowTeam::cta: return "A row fits into the registers of a CTA, which loads it once.";
      case RowTeam::cluster:
        return "Rows are long or few: the CTAs of a cluster hold one in their registers, and exchange values "
               "through distributed shared memory.";
      case RowTeam::columns:
        return "Elements of a row are not neighbours in memory, but rows are: neighbouring threads take "
               "neighbouring rows.";
      case RowTeam::grid: break;
    }
    return {};
  }
  [[nodiscard]] std::vector<std::string> rewrites(const Candidate& candidate) const override {
    std::vector<std::string> out;
    if (row_layout_of(candidate).staggered)
      out.emplace_back(
          "Rows are not aligned to vectors: threads cut them at boundaries of vectors in memory.");
    return out;
  }

  void bind(const Candidate& candidate, const Problem& problem, ParameterBlock& parameters,
            LaunchShape& shape) const override {
    const RowLayout& layout = row_layout_of(candidate);
    with_operands(problem.nest.operands, [&](auto operands) {
      const std::uint32_t at =
          parameters.add({"params::RowPlan", operands}, "plan", plan_of<operands>(layout, problem));
      for (std::uint32_t k = 0; k < operands; ++k)
        parameters.add_address(at + k * static_cast<std::uint32_t>(sizeof(std::uint64_t)), k);
    });
    shape.grid = grid_of(layout.ctas());
    shape.cluster = {layout.tuning.cluster, 1, 1};
    const auto& rows = problem.as<RowwiseProblem>();
    const std::uint64_t scratch = layout.scratch_bytes(reductions_of(*rows.steps, rows.results));
    if (scratch > 0) {
      parameters.add({.name = "u8", .pointer = Pointer::to}, "scratch", DevicePtr{0});
      shape.scratch_bytes = static_cast<std::uint32_t>(scratch);
      shape.cooperative = true;
    }
  }

  [[nodiscard]] SourceParts source(const Candidate& candidate, std::string_view expression) const override {
    const auto facts = facts_of<RowFacts>(candidate);
    const auto team = static_cast<RowTeam>(facts.team);
    const std::vector<RowStep> steps = parse_row_steps(expression, facts.tensors(), facts.numbers);
    const auto results = std::span(facts.results).first(facts.destinations);
    const bool by_grid = team == RowTeam::grid;
    const bool by_cta = team == RowTeam::cta || team == RowTeam::cluster || by_grid;
    SourceParts parts{
        .why = facts.reloads != 0 && reductions_of(steps, results) == 0
                   ? "Each element is loaded once, by the thread that stores its results."
               : facts.reloads != 0 ? "Each step loads the row again, for it does not fit on the chip."
               : facts.staged != 0
                   ? "Each element is loaded once, into the shared memory of the CTAs that share its "
                     "row, and stored once."
                   : "Each element is loaded once, into the registers of the threads that "
                     "share its row, and stored once.",
        .max_threads = by_cta                     ? max_team_threads
                       : team == RowTeam::columns ? max_column_threads(state_bytes_of(steps, results))
                                                  : 128U,
        .call = !by_grid                            ? "compute_rows(plan)"
                : reductions_of(steps, results) > 0 ? "compute_rows(plan, scratch)"
                                                    : "compute_rows(plan, nullptr)"};
    if (facts.slim != 0) parts.min_ctas = slim_threads_per_sm / parts.max_threads;
    parts.facts = number_fact("vector", facts.vector, "elements that a thread loads at once");
    parts.facts += number_fact("turns", facts.turns, "vectors of a thread in flight");
    parts.facts += number_fact("rows_at_once", facts.rows_at_once, "rows of a thread in flight");
    parts.facts += number_fact("operands", facts.operands());
    parts.facts += number_fact("max_threads", parts.max_threads);
    parts.facts += number_fact("cluster", facts.cluster, "CTAs that share a row");
    parts.facts += number_fact("reductions", reductions_of(steps, results));
    if (facts.staggered != 0) {
      parts.facts +=
          number_fact("anchor", facts.anchor, "the operand whose vectors begin at multiples of their size");
      parts.facts += number_fact("anchor_bytes", size_of(facts.type_of(facts.anchor)), "of its elements");
    }
    parts.facts += fmt::format("using Index = {};  // number of a row\n", facts.wide != 0 ? "u64" : "u32");
    parts.facts += policy_fact("Team", team_policy(team), "the threads that share a row");
    parts.set("staged", facts.staged != 0);
    parts.set("grid", by_grid);
    parts.facts += policy_fact("Elements", facts.staged != 0    ? "StagedElements"
                                           : facts.reloads != 0 ? "ReloadedElements"
                                                                : "HeldElements");
    parts.facts += policy_fact("Edges", facts.staggered != 0 ? "StaggeredVectors"
                                        : facts.cut != 0     ? "CutVectors"
                                                             : "WholeVectors");
    parts.facts += policy_fact("Rows", facts.many_rows != 0 ? "ManyDimensionsOfRows" : "OneDimensionOfRows");
    parts.facts += policy_fact("RowShape", facts.nested != 0 ? "ManyDimensions" : "OneDimension");
    const std::vector<OnlinePair> pairs = pairs_of(team, facts, steps, results);
    parts.set("online", !pairs.empty());
    for (const OnlinePair& pair : pairs) {
      const std::string declaration = fmt::format("template <class Value>\nstruct {};\n", pair.reducer);
      if (parts.facts.find(declaration) == std::string::npos) parts.facts += declaration;
    }
    add_operands(parts, facts, steps);
    std::vector<std::string_view> types;
    for (std::uint32_t s = 0; s < facts.sources; ++s) types.push_back(value_type(facts.type_of(s + 1)));
    const auto all = std::span<const std::string_view>(types);
    std::uint32_t once = 0;
    for (std::uint32_t s = 0; s < facts.tensors(); ++s)
      once |= (static_cast<RowAccess>(facts.access[s + 1]) == RowAccess::one ? 1U : 0U) << s;
    parts.steps = row_steps_text(steps, all.first(facts.tensors()), all.last(facts.numbers), results, once,
                                 facts.reloads == 0 && facts.staged == 0, pairs);
    for (const RowStep& step : steps) parts.expressions.push_back(step.expression);
    return parts;
  }

  void classify(const Candidate& candidate, const Problem& problem, ShapeClass& shape) const override {
    shape.staggered = row_layout_of(candidate).staggered;
    shape.length = problem.as<RowwiseProblem>().length;
  }

 private:
  /// An estimate: 4 for each element of each step, 2 for each load of a vector, and 6 for each shuffle of a
  /// reduction. Lanes without elements execute the instructions of their warp.
  [[nodiscard]] static double instructions_of(const RowLayout& layout, const Problem& problem,
                                              std::uint32_t reductions) {
    const RowTuning& tuning = layout.tuning;
    const double of_element = 4.0 * static_cast<double>(problem.as<RowwiseProblem>().steps->size()) +
                              2.0 * problem.sources() / layout.vector;
    if (tuning.team != RowTeam::lanes) return static_cast<double>(problem.nest.elements()) * of_element;
    const std::uint64_t turns = ceil_div(layout.vectors(), tuning.team_threads);
    const std::uint32_t shuffles =
        reductions * static_cast<std::uint32_t>(std::countr_zero(tuning.team_threads));
    return static_cast<double>(layout.rows) * tuning.team_threads *
           (static_cast<double>(turns) * layout.vector * of_element + 6.0 * shuffles);
  }
  /// Calls `f` with `count`, 2 to 16, as a constant.
  template <class F>
  static void with_operands(std::uint32_t count, const F& f) {
    if (count <= 8) return with_constant(count, f);
    with_constant(count - 8, [&](auto more) { f(std::integral_constant<std::uint32_t, 8 + more>{}); });
  }

  /// Adds the types of the sources and destinations, and how a thread accesses them.
  static void add_operands(SourceParts& parts, const RowFacts& facts, const std::vector<RowStep>& steps) {
    std::vector<ReductionOp> declared;
    for (const RowStep& step : steps) {
      if (!step.reduction || std::ranges::find(declared, *step.reduction) != declared.end()) continue;
      declared.push_back(*step.reduction);
      parts.facts += fmt::format("template <class Value>\nstruct {};\n", reducer_name(*step.reduction));
    }
    for (const std::string_view policy :
         {"ByElement", "ByNeighbour", "ByVector", "ByExactVector", "ByWords", "OneElement"}) {
      const auto uses = [&](std::uint32_t access) { return access_policy(access) == policy; };
      if (std::ranges::any_of(std::span(facts.access).first(facts.operands()), uses))
        parts.facts += fmt::format("struct {};\n", policy);
    }
    parts.facts += "template <u32 i>\nstruct Source;\n";
    std::uint32_t slots = 0;  // sources in shared memory
    for (std::uint32_t s = 0; s < facts.tensors(); ++s) {
      const ElementType type = facts.type_of(s + 1);
      parts.elements.push_back(type);
      const bool in_shared = facts.in_shared[s + 1] != 0;
      std::string more;
      if (facts.staged != 0) more += "  static " + flag_fact("is_staged", in_shared);
      if (in_shared) more += "  static " + number_fact("slot", slots++);
      parts.facts += fmt::format(
          "template <>\nstruct Source<{}> {{\n  using Element = {};\n  using Access = {};\n  static "
          "{}{}}};\n",
          s, device_type(type), access_policy(facts.access[s + 1]),
          flag_fact("is_late", facts.late[s + 1] != 0), more);
    }
    parts.set("numbers", facts.numbers > 0);  // the last sources are numbers of the launch
    parts.facts += all_sources_fact(facts.tensors());
    parts.facts += "template <u32 j>\nstruct Target;\n";
    for (std::uint32_t j = 0; j < facts.destinations; ++j) {
      const std::uint32_t operand = facts.destination_operand(j);
      const ElementType type = facts.type_of(operand);
      parts.elements.push_back(type);
      parts.facts += fmt::format(
          "template <>\nstruct Target<{}> {{\n  using Element = {};\n  using Access = {};\n  static "
          "constexpr u32 "
          "operand = {};\n}};\n",
          j, device_type(type), access_policy(facts.access[operand]), operand);
    }
    parts.result = facts.type_of(0);
  }
};

}  // namespace

const Family& rowwise_family() {
  static const RowwiseFamily family;
  return family;
}

TMAJIT_END
