#include "families/tiles/tile_family.hpp"

#include "families/list.hpp"
#include "families/shared/chunks.hpp"
#include "families/tiles/tile_rules.hpp"
#include "kernel/plan_state.hpp"
#include "spec/chip_rules.hpp"
#include "spec/dims.hpp"
#include "spec/limits.hpp"

#include <algorithm>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

TMAJIT_BEGIN
namespace {

constexpr double chunk_bytes = 16;  // that a thread computes at a time

/// Whether tensor maps can describe every operand: a quick look before the rules.
bool may_fit(const Problem& problem, const TileTraits& traits) {
  const CanonicalNest& nest = problem.nest;
  if (nest.rank == 0 || nest.rank > traits.max_rank || nest.windowed) return false;
  if (problem.sources() == 0 || problem.sources() > traits.max_inputs) return false;
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
                   .operations = {traits.combines ? CombineProblem::operation : std::string_view()},
                   .takes_tiles = true,
                   .computes = traits.computes,
                   .most_inputs = traits.max_inputs,
                   .flat = traits.by_addresses,
                   .writes_images = traits.writes_images}),
      traits_(traits),
      why_(why),
      call_(call) {}

// Only `reduce_into` has no family beside it whose tiles a planner chooses faster.
void TileFamily::add_candidates(const Problem& problem, std::vector<Candidate>& candidates) const {
  const auto* const chosen = std::get_if<TileProblem>(&problem.body);
  if (chosen == nullptr && (!problem.is<CombineProblem>() || !may_fit(problem, traits_))) return;
  std::vector<TensorView> views;
  for (std::uint32_t i = 0; i < problem.nest.operands; ++i) views.push_back(problem.view(i));
  const TileSpec spec = chosen != nullptr
                            ? tile_spec(traits_, chosen->expression, views, chosen->options, chosen->combine)
                            : tile_spec(traits_, {}, views, {}, problem.as<CombineProblem>().op);
  Violations violations;
  check_spec(spec, violations);
  check_views(spec, views, violations);
  if (!violations.take().empty()) return;
  Candidate one = candidate(spec, problem.nest);
  if (chosen == nullptr) one.usual = Usual::yes;
  add_once(candidates, std::move(one));
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
                      .by_engine = true};
  if (info().computes) {
    footprint.instructions =
        instructions_of_chunk * static_cast<double>(problem.bytes_written()) / chunk_bytes;
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

const TileFamily& tile_family(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Family* family : all_families()) {
    if (!family->info().takes_tiles) continue;
    if (family->name() == name) return static_cast<const TileFamily&>(*family);
    names.push_back(family->name());
  }
  throw Error(
      ErrorCode::invalid_argument,
      fmt::format("no kernel family takes tiles of the caller's choice for \"{}\"; those that do are {}",
                  name, fmt::join(names, ", ")));
}

namespace {

std::vector<TensorView> views_of(const TileRequest& request) {
  std::vector<TensorView> views{request.destination.view};
  for (const Tensor& source : request.sources) views.push_back(source.view);
  return views;
}

TileSpec spec_of(const TileRequest& request) {
  return tile_spec(tile_family(request.family).traits(), request.expression, views_of(request), request.tiles,
                   request.combine);
}

Problem problem_of(const TileRequest& request, const TileTraits& traits) {
  const std::vector<TensorView> views = views_of(request);
  // One walk over all tiles visits these extents: where the output is images, the source's.
  const TensorView walked =
      traits.writes_images ? over_strides(views[1], request.tiles.element_strides) : views[0];
  Problem problem{.nest = {.rank = walked.rank, .operands = static_cast<std::uint32_t>(views.size())},
                  .body = TileProblem{views, request.tiles, std::string(request.expression), request.combine},
                  .sm_count = request.chip.sm_count};
  problem.nest.shape = walked.shape;
  for (std::uint32_t i = 0; i < problem.nest.operands; ++i) {
    problem.type[i] = views[i].type;
    problem.address[i] = i == 0 ? request.destination.address : request.sources[i - 1].address;
    problem.nest.operand[i].strides = views[i].strides;
  }
  return problem;
}

}  // namespace

KernelPlan plan_tiles(const TileRequest& request) {
  check_chip(request.chip);
  if (auto broken = validate(request); !broken.empty()) throw SpecError(std::move(broken));
  const TileFamily& family = tile_family(request.family);
  Problem problem = problem_of(request, family.traits());
  std::vector<Candidate> candidates;
  family.add_candidates(problem, candidates);
  return make_kernel_plan(std::move(candidates.front()), std::move(problem));
}

std::vector<Violation> validate(const TileRequest& request) {
  const TileSpec spec = spec_of(request);
  std::vector<Tensor> tensors{request.destination};
  tensors.insert(tensors.end(), request.sources.begin(), request.sources.end());
  Violations violations;
  check_tiles(spec, tensors, violations);
  return violations.take();
}

TensorView destination_view(const TileRequest& request) {
  const TileFamily& family = tile_family(request.family);
  if (request.sources.empty()) throw Error(ErrorCode::invalid_argument, "a tile kernel needs a source");
  TileRequest guess = request;
  TensorView& view = guess.destination.view;
  view = over_strides(request.sources.front().view, request.tiles.element_strides);
  if (family.info().computes && is_known(request.destination.view.type))
    view.type = request.destination.view.type;
  if (family.info().flat) return dense_view(view.type, std::span(view.shape).first(view.rank));
  return output_view(spec_of(guess), request.sources.front().view);
}

TMAJIT_END
