#include "families/list.hpp"
#include "families/shared/reduction_team.hpp"
#include "families/shared/views.hpp"
#include "spec/saturate.hpp"

#include <tmajit/cast_plan.cuh>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

constexpr std::uint32_t max_cast_threads = 256;
constexpr std::uint32_t warp_columns = 8;  // blocks of a warp along a line of the source
constexpr std::uint32_t warp_rows = 4;
constexpr std::uint32_t no_dimension = max_view_rank;

/// Where a kernel finds the scale.
enum class CastScale : std::uint32_t { none, memory, launch };

/// How a destination's lines are stored.
struct CastTargetFacts {
  std::uint32_t alignment = 0;  ///< bytes; 0: element by element
  Flag turned = 0;              ///< its lines are the source's columns
};

/// The facts that a `cast_transpose` kernel is specialised for.
struct CastFacts {
  std::uint32_t from = 0;              ///< an ElementType
  std::uint32_t to = 0;                ///< an ElementType
  std::uint32_t side = 8;              ///< rows and columns of a thread's block
  std::uint32_t scale = 0;             ///< a CastScale
  std::uint32_t source_alignment = 0;  ///< bytes; 0: element by element
  std::uint32_t targets = 1;           ///< destinations that are matrices
  std::array<CastTargetFacts, 2> target{};
  Flag amax = 0;
  Flag cut = 0;  ///< some blocks are incomplete
};

struct CastChoice {
  std::uint32_t side = 8;
  std::uint32_t threads = max_cast_threads;
  std::uint32_t across = 2;  ///< warps of a CTA side by side
  static constexpr auto members() {
    return std::array{choice_number("side", &CastChoice::side),
                      choice_number("threads", &CastChoice::threads),
                      choice_number("across", &CastChoice::across)};
  }
  [[nodiscard]] std::string text() const {
    return fmt::format("blocks of {0}x{0}, {1} threads, {2} warp{3} side by side", side, threads, across,
                       across == 1 ? "" : "s");
  }
};

/// The nest's dimensions as the kernel sees them.
struct CastLayout {
  std::uint32_t column = no_dimension;  ///< along the source's lines
  std::uint32_t row = no_dimension;     ///< across the source's lines
  std::vector<std::uint32_t> outer;     ///< dimensions of matrices
};

/// The destinations that are matrices.
std::uint32_t matrices_of(const Problem& problem) {
  return problem.destinations - (problem.as<CastTransposeProblem>().amax ? 1 : 0);
}

/// Lines run along a contiguous dimension of the source, if it has one. Rows are counted along another
/// dimension in which a destination is contiguous, or along the longest one if there is none.
CastLayout cast_layout(const Problem& problem) {
  const CanonicalNest& nest = problem.nest;
  CastLayout layout;
  const auto longest = [&](const auto& fits) {
    std::uint32_t found = no_dimension;
    for (std::uint32_t d = nest.rank; d-- > 0;) {
      if (d != layout.column && fits(d) && (found == no_dimension || nest.shape[d] > nest.shape[found]))
        found = d;
    }
    return found;
  };
  const auto is_along_target = [&](std::uint32_t d) {
    for (std::uint32_t k = 0; k < matrices_of(problem); ++k) {
      if (nest.operand[problem.destination_operand(k)].strides[d] == 1) return true;
    }
    return false;
  };
  const auto any = [](std::uint32_t) { return true; };
  layout.column = longest([&](std::uint32_t d) { return nest.operand[1].strides[d] == 1; });
  if (layout.column == no_dimension) layout.column = longest(is_along_target);
  if (layout.column == no_dimension) layout.column = longest(any);
  layout.row = longest(is_along_target);
  if (layout.row == no_dimension) layout.row = longest(any);
  for (std::uint32_t d = nest.rank; d-- > 0;) {
    if (d != layout.column && d != layout.row) layout.outer.push_back(d);
  }
  return layout;
}

std::int64_t cast_step(const Problem& problem, std::uint32_t operand, std::uint32_t d) {
  return d < problem.nest.rank ? problem.step(operand, d) : 0;
}

/// The alignment of an operand's vectors of `bytes` bytes along dimension `line`, at most their size; 0 if
/// elements along it are not neighbours.
std::uint32_t line_alignment(const Problem& problem, std::uint32_t operand, std::uint32_t line,
                             std::uint32_t bytes) {
  if (line >= problem.nest.rank || problem.nest.operand[operand].strides[line] != 1) return 0;
  return std::min(problem.alignment(operand, line), bytes);
}

CastFacts cast_facts(const Problem& problem, const CastLayout& layout, std::uint32_t side) {
  CastFacts facts{.from = static_cast<std::uint32_t>(problem.type[1]),
                  .to = static_cast<std::uint32_t>(problem.type[0]),
                  .side = side,
                  .targets = matrices_of(problem),
                  .amax = problem.as<CastTransposeProblem>().amax ? 1U : 0U};
  CastScale scale = CastScale::none;
  if (problem.sources() > 1) scale = problem.numbers > 0 ? CastScale::launch : CastScale::memory;
  facts.scale = static_cast<std::uint32_t>(scale);
  facts.source_alignment = line_alignment(problem, 1, layout.column, side * problem.element_bytes(1));
  for (std::uint32_t k = 0; k < facts.targets; ++k) {
    const std::uint32_t operand = problem.destination_operand(k);
    const std::uint32_t bytes = side * problem.element_bytes(operand);
    CastTargetFacts& target = facts.target[k];
    target.alignment = line_alignment(problem, operand, layout.column, bytes);
    if (target.alignment > 0) continue;
    target.alignment = line_alignment(problem, operand, layout.row, bytes);
    target.turned = target.alignment > 0 ? 1 : 0;
  }
  const auto cuts = [&](std::uint32_t d) { return extent_of(problem.nest, d) % side != 0; };
  facts.cut = cuts(layout.column) || cuts(layout.row) ? 1 : 0;
  return facts;
}

/// The numbers of tiles along lines, across them, and in all matrices together.
struct CastTiles {
  std::uint64_t columns = 1;
  std::uint64_t rows = 1;
  std::uint64_t all = 1;
};

std::uint64_t tile_columns(const CastChoice& choice) {
  return std::uint64_t{choice.across} * warp_columns * choice.side;
}
std::uint64_t tile_rows(const CastChoice& choice) {
  return std::uint64_t{choice.threads / 32 / choice.across} * warp_rows * choice.side;
}

CastTiles tiles_of_cast(const Problem& problem, const CastLayout& layout, const CastChoice& choice) {
  CastTiles tiles{.columns = ceil_div(extent_of(problem.nest, layout.column), tile_columns(choice)),
                  .rows = ceil_div(extent_of(problem.nest, layout.row), tile_rows(choice))};
  tiles.all = sat_mul(tiles.columns, tiles.rows);
  for (const std::uint32_t d : layout.outer) tiles.all = sat_mul(tiles.all, problem.nest.shape[d]);
  return tiles;
}

ReductionTeamShape team_of_cast(const CastChoice& choice, std::uint64_t ctas) {
  return {.threads_per_item = choice.threads, .parts = sat_cast<std::uint32_t>(ctas)};
}

params::CastPlan cast_plan(const Problem& problem, const CastLayout& layout, const CastChoice& choice) {
  params::CastPlan plan{};
  set_address(plan.source, problem.address[1]);
  plan.row = cast_step(problem, 1, layout.row);
  plan.column = cast_step(problem, 1, layout.column);
  if (problem.sources() > 1) set_address(plan.scale, problem.address[2]);
  const std::uint32_t targets = matrices_of(problem);
  for (std::uint32_t k = 0; k < targets; ++k) {
    const std::uint32_t operand = problem.destination_operand(k);
    set_address(plan.target[k].first, problem.address[operand]);
    plan.target[k].row = cast_step(problem, operand, layout.row);
    plan.target[k].column = cast_step(problem, operand, layout.column);
  }
  if (targets < problem.destinations)
    set_address(plan.amax, problem.address[problem.destination_operand(targets)]);
  for (const std::uint32_t d : layout.outer) {
    params::CastDigit& digit = plan.digit[plan.digits++];
    digit.source = problem.step(1, d);
    for (std::uint32_t k = 0; k < targets; ++k)
      digit.target[k] = problem.step(problem.destination_operand(k), d);
    digit.count = make_divider<params::Divider>(problem.nest.shape[d]);
  }
  const CastTiles tiles = tiles_of_cast(problem, layout, choice);
  plan.rows = extent_of(problem.nest, layout.row);
  plan.columns = extent_of(problem.nest, layout.column);
  plan.column_tiles = make_divider<params::Divider>(tiles.columns);
  plan.row_tiles = make_divider<params::Divider>(tiles.rows);
  plan.warps_across = choice.across;
  plan.team = reduction_team(team_of_cast(choice, tiles.all));
  return plan;
}

std::string_view scale_policy(std::uint32_t scale) noexcept {
  switch (static_cast<CastScale>(scale)) {
    case CastScale::none: return "Unscaled";
    case CastScale::memory: return "ScaleInMemory";
    case CastScale::launch: return "ScaleOfLaunch";
  }
  return {};
}

std::string access_of_lines(std::uint32_t alignment) {
  return alignment == 0 ? "Elements" : fmt::format("Vectors<{}>", alignment);
}

class CastTransposeFamily final : public TypedFamily<CastFacts, CastChoice, CastLayout> {
 public:
  CastTransposeFamily()
      : TypedFamily({.name = "cast_transpose",
                     .summary = "scales, converts and transposes blocks in registers; each element is loaded "
                                "once, and stored in up to two orders",
                     .operations = {CastTranspose::operation},
                     .max_inputs = 2}) {}

  void add_candidates(const Problem& problem, std::vector<Candidate>& candidates) const override {
    const CastLayout layout = cast_layout(problem);
    const auto add = [&](const CastChoice& choice) {
      CastLayout own = layout;
      candidates.push_back(
          candidate(cast_facts(problem, layout, choice.side), choice, problem.nest, std::move(own)));
    };
    // Small tiles where large ones would leave SMs idle.
    const CastChoice large{};
    const CastChoice small{.threads = 64, .across = 1};
    const bool few = tiles_of_cast(problem, layout, large).all < std::uint64_t{2} * problem.sm_count;
    const std::size_t first = candidates.size();
    add(few ? small : large);
    candidates[first].default_choice = DefaultChoice::yes;
    add(few ? large : CastChoice{.threads = 128, .across = 1});
    add({.side = 4, .threads = few ? 64U : max_cast_threads, .across = few ? 1U : 2U});
  }

  [[nodiscard]] Footprint footprint(const Candidate& candidate, const Problem& problem) const override {
    const auto& [facts, choice, layout] = parts(candidate);
    const CastTiles tiles = tiles_of_cast(problem, layout, choice);
    const std::uint32_t block_bytes = facts.side * facts.side * problem.element_bytes(1);
    const ReductionTeamShape team = team_of_cast(choice, tiles.all);
    Footprint footprint{.threads = choice.threads,
                        .tiles = tiles.all,
                        .registers = block_bytes >= 256 ? 128U : 96U,
                        .bytes_in_flight = std::uint64_t{choice.threads} * block_bytes};
    if (facts.amax != 0) {
      footprint.dynamic_shared_bytes = combining_bytes(team, ReductionOp::max);
      footprint.max_dynamic_shared_bytes =
          combining_bytes({.threads_per_item = max_cast_threads}, ReductionOp::max);
      footprint.last_waits = waits_of_parts(team);
    }
    std::fill_n(footprint.box.begin(), problem.nest.rank, 1U);
    const auto set_side = [&](std::uint32_t d, std::uint64_t side) {
      if (d < problem.nest.rank)
        footprint.box[d] = sat_cast<std::uint32_t>(std::min(side, problem.nest.shape[d]));
    };
    set_side(layout.column, tile_columns(choice));
    set_side(layout.row, tile_rows(choice));
    // An estimate: conversions, the greatest magnitude, a byte permutation for each second element, accesses.
    footprint.instructions = static_cast<double>(problem.nest.elements()) *
                             (4.0 + facts.targets + 8.0 / std::max(facts.source_alignment, 1U));
    return footprint;
  }

  [[nodiscard]] std::string why(const Candidate& candidate, const Problem& /*problem*/) const override {
    const auto& [facts, choice, layout] = parts(candidate);
    const bool turns = facts.target[0].turned != 0 || facts.target[1].turned != 0;
    return fmt::format("Each thread converts a block of {0}x{0} elements{1}.", facts.side,
                       turns ? " and transposes it in registers" : "");
  }

  void bind(const Candidate& candidate, const Problem& problem, ParameterBlock& parameters,
            LaunchShape& shape) const override {
    const auto& [facts, choice, layout] = parts(candidate);
    const CastTiles tiles = tiles_of_cast(problem, layout, choice);
    shape.grid = grid_of(tiles.all);
    const std::uint32_t at = parameters.add({"params::CastPlan"}, "plan", cast_plan(problem, layout, choice));
    const auto add_address = [&](std::size_t offset, std::uint32_t operand) {
      parameters.add_address(at + static_cast<std::uint32_t>(offset), operand);
    };
    add_address(offsetof(params::CastPlan, source), 1);
    if (problem.sources() > 1) add_address(offsetof(params::CastPlan, scale), 2);
    for (std::uint32_t k = 0; k < facts.targets; ++k) {
      add_address(offsetof(params::CastPlan, target) + k * sizeof(params::CastTarget),
                  problem.destination_operand(k));
    }
    if (facts.amax == 0) return;
    add_address(offsetof(params::CastPlan, amax), problem.destination_operand(facts.targets));
    parameters.add({.name = "u8", .pointer = Pointer::to}, "scratch", DevicePtr{0});
    shape.scratch_bytes = scratch_bytes(team_of_cast(choice, tiles.all), ReductionOp::max);
  }

  [[nodiscard]] SourceParts source(const Candidate& candidate,
                                   std::string_view /*expression*/) const override {
    const CastFacts& facts = data(candidate).facts;
    const auto from = static_cast<ElementType>(facts.from);
    const auto to = static_cast<ElementType>(facts.to);
    SourceParts parts{.why =
                          "Threads load, convert and transpose blocks in registers alone: each element "
                          "is loaded once, and stored in both orders by whole sectors.",
                      .max_threads = max_cast_threads,
                      .call = facts.amax != 0 ? "cast_tile(plan, scratch)" : "cast_tile(plan)"};
    parts.set("has_amax", facts.amax != 0);  // the greatest magnitude is stored, too
    parts.set("columns", false);             // threads of a CTA share one result
    parts.facts = number_fact("side", facts.side, "rows and columns of a thread's block") +
                  number_fact("targets", facts.targets, "matrices that are stored");
    if (facts.amax != 0) parts.facts += flag_fact("columns", false);
    parts.facts += policy_fact("Edges", facts.cut != 0 ? "CutBlocks" : "WholeBlocks") +
                   policy_fact("Scale", scale_policy(facts.scale));
    parts.facts += fmt::format("using From = {};\nusing To = {};\n", device_type(from), device_type(to));
    bool elements = facts.source_alignment == 0;
    bool vectors = !elements;
    for (std::uint32_t k = 0; k < facts.targets; ++k) {
      elements = elements || facts.target[k].alignment == 0;
      vectors = vectors || facts.target[k].alignment != 0;
    }
    if (vectors) parts.facts += "template <u32 alignment>\nstruct Vectors;\n";
    if (elements) parts.facts += "struct Elements;\n";
    parts.facts += fmt::format("using Load = {};\n", access_of_lines(facts.source_alignment));
    parts.facts += "template <u32 k>\nstruct Target;\n";
    for (std::uint32_t k = 0; k < facts.targets; ++k) {
      parts.facts += fmt::format("template <>\nstruct Target<{}> {{\n  using Access = {};\n  static {}}};\n",
                                 k, access_of_lines(facts.target[k].alignment),
                                 flag_fact("is_turned", facts.target[k].turned != 0));
    }
    parts.elements = {from, to};
    parts.result = to;
    return parts;
  }

 private:
  struct Parts {
    const CastFacts& facts;
    const CastChoice& choice;
    const CastLayout& layout;
  };
  static Parts parts(const Candidate& candidate) {
    const Data& own = data(candidate);
    return {own.facts, own.choice, own.layout};
  }
};

}  // namespace

const Family& cast_transpose_family() {
  static const CastTransposeFamily family;
  return family;
}

TMAJIT_END
