#include "families/list.hpp"
#include "families/stencil/stencil_planner.hpp"
#include "families/stencil/stencil_source.hpp"
#include "spec/limits.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

/// The first is as good as any for windows of one plane, the second for windows of several. The rest are
/// candidates for measurements.
constexpr std::array stencil_tunings{
    StencilTuning{1024, 16, 4, 2}, StencilTuning{512, 32, 4, 1}, StencilTuning{1024, 32, 4, 1},
    StencilTuning{512, 32, 8, 2},  StencilTuning{512, 32, 4, 2}, StencilTuning{512, 16, 2, 2},
    StencilTuning{512, 16, 4, 3},  StencilTuning{1024, 8, 4, 3}, StencilTuning{256, 16, 4, 2}};

constexpr std::array<std::string_view, max_inputs> map_names{"map0", "map1", "map2", "map3",
                                                             "map4", "map5", "map6", "map7"};

/// The policy struct of templates/kernels/stencil.cu that supplies elements beyond an edge.
std::string_view edge_policy(Boundary boundary) {
  switch (boundary) {
    case Boundary::constant: return "Number";
    case Boundary::clamp: return "Clamp";
    case Boundary::wrap: return "Wrap";
    case Boundary::reflect: return "Reflect";
    default: return "Zeros";
  }
}

struct StencilChoice {
  PerDimension tile{};
  std::uint32_t threads = 0;
  std::uint32_t strip = 1;   ///< rows that a thread computes
  std::uint32_t stages = 1;  ///< planes in shared memory
  static constexpr auto members() {
    return std::array{
        choice_box("tile", &StencilChoice::tile), choice_number("threads", &StencilChoice::threads),
        choice_number("strip", &StencilChoice::strip), choice_number("stages", &StencilChoice::stages)};
  }
  [[nodiscard]] std::string text() const {
    return fmt::format("{}, {} in flight", ChunkChoice{tile, threads, strip}.text(), stages);
  }
};

[[noreturn]] void refuse(const Problem& problem) {
  throw Error(
      ErrorCode::unsupported,
      fmt::format(
          "the stencil \"{}\" reads neighbours so far away that the planes of even the smallest tile have no "
          "room "
          "in the {} bytes of shared memory of a CTA; smaller offsets, or several stencils one after the "
          "other, fit",
          problem.expression(), max_shared_bytes_per_cta));
}

class StencilFamily final : public TypedFamily<StencilFacts, StencilChoice> {
 public:
  StencilFamily()
      : TypedFamily(
            {.name = "stencil",
             .summary = "computes an expression of neighbours, from tiles with a halo in shared memory",
             .operations = {"stencil"},
             .computes = true,
             .max_inputs = max_inputs}) {}

  void add_candidates(const Problem& problem, std::vector<Candidate>& candidates) const override {
    const CanonicalNest nest = stencil_nest(problem);
    const std::size_t first = candidates.size();
    for (const StencilTuning& tuning : stencil_tunings) {
      const auto facts = plan_stencil(problem, nest, tuning);
      if (!facts) continue;
      const StencilChoice choice{facts->box, facts->threads, facts->strip, facts->stages};
      add_once(candidates, candidate(*facts, choice, nest));
    }
    if (first == candidates.size()) refuse(problem);
    const bool has_deep_window = facts_of<StencilFacts>(candidates[first]).window_planes() > 1;
    Candidate& default_candidate =
        candidates[has_deep_window && first + 1 < candidates.size() ? first + 1 : first];
    default_candidate.default_choice = DefaultChoice::yes;
  }

  [[nodiscard]] Footprint footprint(const Candidate& candidate, const Problem& problem) const override {
    const auto facts = facts_of<StencilFacts>(candidate);
    Footprint footprint = stencil_footprint(facts);
    footprint.tiles_per_cta = tiles_of_cta(facts, problem, candidate.nest);
    // A CTA also loads the halo of its tiles, and planes before its first tile and after its last.
    const double ctas =
        std::ceil(static_cast<double>(tiles_of(footprint, candidate.nest)) / footprint.tiles_per_cta);
    const double loads = footprint.tiles_per_cta + facts.window_planes() - 1;
    footprint.halo_bytes =
        std::max(0.0, ctas * loads * stage_of(facts).bytes - static_cast<double>(problem.bytes_read()));
    const auto elements = static_cast<double>(candidate.nest.elements());
    footprint.instructions = instructions_of_chunk * elements / facts.chunk;
    return footprint;
  }

  [[nodiscard]] std::string why(const Candidate& candidate, const Problem& /*problem*/) const override {
    const auto facts = facts_of<StencilFacts>(candidate);
    const std::string_view planes =
        facts.window_planes() > 1 ? " Planes follow each other in a ring, so that each is loaded once." : "";
    return facts.engine != 0
               ? fmt::format(
                     "The copy engine loads tiles with their halo{}, threads compute strips of rows "
                     "from registers.{}",
                     facts.boundary_kind() == Boundary::zero ? " and fills elements beyond an edge"
                                                             : "; threads fill elements beyond an edge",
                     planes)
               : fmt::format("No tensor map describes the sources: threads load tiles with their halo.{}",
                             planes);
  }

  void bind(const Candidate& candidate, const Problem& problem, ParameterBlock& parameters,
            LaunchShape& shape) const override {
    const auto facts = facts_of<StencilFacts>(candidate);
    const CanonicalNest& nest = candidate.nest;
    for (std::uint32_t i = 0; i < facts.sources && facts.engine != 0; ++i) {
      parameters.add_map(map_names[i], i + 1, stencil_map(facts, problem, nest, i).value(),
                         problem.address[i + 1]);
    }
    TileCounts counts = stencil_tiles(facts, nest);
    const std::uint32_t tiles = tiles_of_cta(facts, problem, nest);
    counts[facts.march] = (counts[facts.march] + tiles - 1) / tiles;
    add_views(parameters, shape, problem, nest, facts.rank, counts);
    parameters.add({"u32"}, "tiles", tiles);
    if (facts.boundary_kind() == Boundary::constant)
      parameters.add({"f64"}, "value", problem.as<StencilProblem>().value);
  }

  [[nodiscard]] SourceParts source(const Candidate& candidate, std::string_view expression) const override {
    const auto facts = facts_of<StencilFacts>(candidate);
    const Boundary boundary = facts.boundary_kind();
    const bool engine = facts.engine != 0;
    SourceParts parts{
        .why = engine ? "The copy engine loads boxes with their halo, several at once, while threads compute "
                        "others; results go from registers to memory."
                      : "Threads load what no tensor map describes; results go from registers to memory."};
    add_chunk_parts(parts, facts, expression);
    parts.rank = 0;
    parts.map_rank = engine ? facts.rank : 0;
    parts.neighbours = true;
    parts.set("engine", engine);  // the copy engine loads planes
    // Threads write the elements beyond an edge of the source.
    parts.set("edges", !engine || boundary != Boundary::zero);
    parts.facts = chunk_fact_text(facts, {}, false) + stencil_fact_text(facts, expression);
    parts.facts += policy_fact("Edges", edge_policy(boundary), "elements beyond an edge");
    const bool maps = boundary != Boundary::zero && boundary != Boundary::constant;
    parts.facts +=
        number_fact("mapped", engine && maps && facts.window_planes() > 1 ? facts.march : facts.rank,
                    "dimension whose planes beyond an edge are loaded from inside; the rank: none");
    parts.facts += flag_fact("loads_by_engine", engine);
    std::string maps_text;
    parts.numbers = facts.numbers;
    parts.set("numbers", facts.numbers > 0);  // the last sources are numbers of the launch
    for (std::uint32_t i = 0; i < facts.sources + facts.numbers; ++i) {
      const ElementType type = facts.source[i].element_type();
      parts.elements.push_back(type);
      parts.inputs.push_back(type);
      if (engine && i < facts.sources) maps_text += fmt::format(", {}", map_names[i]);
    }
    parts.call = fmt::format("stencil_by_{}(tmajit::AllSources{{}}, views, tiles, {}{})",
                             engine ? "engine" : "threads", boundary == Boundary::constant ? "value" : "0.0",
                             maps_text);
    return parts;
  }
};

}  // namespace

const Family& stencil_family() {
  static const StencilFamily family;
  return family;
}

TMAJIT_END
