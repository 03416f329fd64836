#include "operations/tiles/tiles.hpp"

#include "operations/list.hpp"
#include "operations/shared/make.hpp"
#include "spec/dims.hpp"
#include "spec/views.hpp"
#include "tiles/tile_rules.hpp"

#include <tmajit/tiles.hpp>

#include <utility>
#include <vector>

TMAJIT_BEGIN
namespace {

TileSpec spec_of(const Tiles& tiles, std::span<const TensorView> views) {
  return tile_spec(tile_traits(tiles.family), tiles.expression, views, tiles.options, tiles.combine);
}

/// The destination and all sources, numbers included.
std::vector<Tensor> tensors_of(const Move& move) {
  std::vector<Tensor> tensors{move.destination};
  tensors.insert(tensors.end(), move.sources.begin(), move.sources.end());
  return tensors;
}

std::vector<TensorView> views_of(std::span<const Tensor> tensors) {
  std::vector<TensorView> views;
  for (const Tensor& tensor : tensors) views.push_back(tensor.view);
  return views;
}

void check_tiles(const Move& move, Violations& violations) {
  const auto& tiles = std::get<Tiles>(move.body);
  MoveRules rules({&move, 1}, 0, violations);
  rules.check_numbers();
  rules.check_numbers_read(tiles.expression);
  if (violations.count() > 0) return;  // the spec needs numbers after all tensors
  const std::vector<Tensor> tensors = tensors_of(move);
  const TileSpec spec = spec_of(tiles, views_of(tensors));
  check_tiles(spec, std::span(tensors).first(1U + spec.inputs), violations);
}

Problem tiles_problem(const Move& move) {
  const auto& tiles = std::get<Tiles>(move.body);
  const std::vector<Tensor> tensors = tensors_of(move);
  std::vector<TensorView> views = views_of(tensors);
  // The extents over which tiles are laid: the destination's or, if it holds images of tiles, the source's.
  const TensorView walked = tile_traits(tiles.family).writes_images
                                ? over_strides(views[1], tiles.options.element_strides)
                                : views[0];
  Problem problem{.nest = {.rank = walked.rank, .operands = static_cast<std::uint32_t>(views.size())},
                  .numbers = count_numbers(move.sources)};
  problem.nest.shape = walked.shape;
  for (std::uint32_t i = 0; i < problem.nest.operands; ++i) {
    problem.type[i] = views[i].type;
    problem.address[i] = tensors[i].address;
    problem.nest.operand[i].strides = views[i].strides;
  }
  problem.body = TileProblem{std::move(views), tiles};
  return problem;
}

// In families that compute, a source may be the destination. check_tiles() rejects that for other families.
constexpr OperationRules tiles_rules{.in_place = true, .check_alone = check_tiles, .problem = tiles_problem};

/// A dense tensor as a single row. A number stays one.
Tensor flattened(const Tensor& tensor) {
  return tensor.view.rank == 1 || tensor.view.is_number ? tensor : reshaped(tensor, {tensor.view.elements()});
}

Tiles tiles_of(const TileRequest& request) {
  return {.family = std::string(request.family),
          .expression = std::string(request.expression),
          .combine = request.combine,
          .options = request.tiles};
}

}  // namespace

const OperationRules& rules_of(const Tiles&) noexcept {
  return tiles_rules;
}

TensorView destination_of(const Tiles& tiles, std::span<const TensorView> sources, ElementType type) {
  const TileTraits& traits = tile_traits(tiles.family);
  if (sources.empty() || sources.front().is_number) refuse("a tile kernel needs a source");
  std::vector<TensorView> views{over_strides(sources.front(), tiles.options.element_strides)};
  TensorView& view = views.front();
  if (traits.computes && is_known(type)) view.type = type;
  if (traits.by_addresses) return dense_view(view.type, std::span(view.shape).first(view.rank));
  views.insert(views.end(), sources.begin(), sources.end());
  return output_view(spec_of(tiles, views), sources.front());
}

Operation operation::tiles(const Tensor& destination, const Tiles& tiles, List<Tensor> sources) {
  const bool is_flat = tile_traits(tiles.family).by_addresses;
  Move move{.destination = is_flat ? flattened(destination) : destination, .sources = {}, .body = tiles};
  for (const Tensor& source : sources) move.sources.push_back(is_flat ? flattened(source) : source);
  return one_move(std::move(move), sources);
}

Operation operation_of(const TileRequest& request) {
  Move move{.destination = request.destination, .sources = request.sources, .body = tiles_of(request)};
  return one_move(std::move(move), request.sources);
}

std::vector<Violation> validate(const TileRequest& request) {
  Violations violations;
  check_tiles(operation_of(request).moves.front(), violations);
  return violations.take();
}

TensorView destination_view(const TileRequest& request) {
  return destination_of(tiles_of(request), views_of(request.sources), request.destination.view.type);
}

TMAJIT_END
