#include "families/tiles/tile_family.hpp"

#include "families/shared/chunks.hpp"
#include "spec/dims.hpp"
#include "spec/limits.hpp"
#include "tiles/tile_rules.hpp"

#include <algorithm>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

TMAJIT_BEGIN
namespace {

constexpr double computed_chunk_bytes = 16;  // bytes that a thread computes at a time

/// Whether tensor maps can describe every operand: a quick check before the rules.
bool may_fit(const Problem& problem, const TileTraits& traits) {
  const CanonicalNest& nest = problem.nest;
  if (nest.rank == 0 || nest.rank > traits.max_rank || nest.windowed) return false;
  if (problem.sources() == 0 || problem.sources() > traits.max_inputs || problem.numbers > 0) return false;
  if (problem.element_bytes(0) > sizeof(std::uint64_t)) return false;
  for (std::uint32_t i = 0; i < nest.operands; ++i) {
    if (nest.operand[i].strides[nest.rank - 1] != 1) return false;
    if (problem.alignment(i, nest.rank - 1) < bulk_bytes) return false;
    for (std::uint32_t d = 0; d < nest.rank; ++d) {
      if (nest.operand[i].strides[d] <= 0) return false;
    }
  }
  return true;
}

}  // namespace

TileFamily::TileFamily(const TileTraits& traits, std::string_view summary, std::string_view why,
                       std::string_view call)
    : TypedFamily({.name = traits.name,
                   .summary = summary,
                   .operations = {TileProblem::operation,
                                  traits.combines ? CombineProblem::operation : std::string_view()},
                   .computes = traits.computes,
                   .max_inputs = traits.max_inputs,
                   .flat = traits.by_addresses,
                   .writes_images = traits.writes_images}),
      traits_(traits),
      why_(why),
      call_(call) {}

// If the caller chose no tile, only `reduce_into` offers a candidate. For other operations, other families
// are faster.
void TileFamily::add_candidates(const Problem& problem, std::vector<Candidate>& candidates) const {
  const auto* const chosen = std::get_if<TileProblem>(&problem.body);
  if (chosen != nullptr && chosen->tiles.family != name()) return;
  if (chosen == nullptr && (!problem.is<CombineProblem>() || !may_fit(problem, traits_))) return;
  std::vector<TensorView> views;
  for (std::uint32_t i = 0; i < problem.nest.operands; ++i) views.push_back(problem.view(i));
  const Tiles tiles = chosen != nullptr ? chosen->tiles : Tiles{.combine = problem.as<CombineProblem>().op};
  const TileSpec spec = tile_spec(traits_, tiles.expression, views, tiles.options, tiles.combine);
  Violations violations;
  check_spec(spec, violations);
  check_views(spec, std::span(views).first(1U + spec.inputs), violations);
  if (!violations.take().empty()) return;
  Candidate added = candidate(spec, problem.nest);
  if (chosen == nullptr) added.default_choice = DefaultChoice::yes;
  add_once(candidates, std::move(added));
}

TileSpec TileFamily::spec_of(const Candidate& candidate, std::string_view expression) const {
  TileSpec spec;
  static_cast<TileFacts&>(spec) = facts_of<TileFacts>(candidate);
  spec.traits = &traits_;
  spec.expression = expression;
  return spec;
}

Footprint TileFamily::footprint(const Candidate& candidate, const Problem& problem) const {
  const TileSpec spec = spec_of(candidate, problem.expression());
  Footprint footprint{.threads = threads(spec),
                      .stages = spec.stages,
                      .dynamic_shared_bytes = launch_shared_bytes(spec),
                      .bytes_in_flight = stage_transaction_bytes(spec) * spec.stages,
                      .by_engine = true,
                      .stored_by_engine = true};
  if (info().computes) {
    footprint.instructions =
        instructions_of_chunk * static_cast<double>(problem.bytes_written()) / computed_chunk_bytes;
  }
  std::copy_n(spec.tile.begin(), spec.rank, footprint.box.begin());
  return footprint;
}

std::string TileChoice::text() const {
  return fmt::format("{}, {} stage{}, {} threads, {} CTA{} an SM, {}", box_text(tile), stages,
                     stages == 1 ? "" : "s", threads, ctas_per_sm, ctas_per_sm == 1 ? "" : "s",
                     tiles_per_cta == 0
                         ? std::string("a persistent grid")
                         : fmt::format("{} tile{} a CTA", tiles_per_cta, tiles_per_cta == 1 ? "" : "s"));
}

Candidate TileFamily::candidate(const TileSpec& spec, const CanonicalNest& nest) const {
  TileChoice choice{.stages = spec.stages,
                    .threads = threads(spec),
                    .ctas_per_sm = spec.ctas_per_sm,
                    .tiles_per_cta = spec.tiles_per_cta};
  std::copy_n(spec.tile.begin(), spec.rank, choice.tile.begin());
  return TypedFamily::candidate(spec, choice, nest);
}

std::string TileFamily::why(const Candidate& /*candidate*/, const Problem& /*problem*/) const {
  return std::string(why_);
}

TMAJIT_END
