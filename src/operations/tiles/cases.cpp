#include "operations/cases.hpp"

#include "operations/drawing/draw_expression.hpp"

#include <tmajit/combine.hpp>
#include <tmajit/tiles.hpp>

#include <algorithm>
#include <array>

namespace reference::tiles_operation {

using namespace tmajit;

namespace {

/// A kernel with a chosen tile, and the views of its destination and sources.
struct TileCase {
  Tiles tiles;
  TensorView to;
  std::vector<TensorView> from;
};

/// A number from `least` to `most`, or 0 for the family's default.
std::uint32_t count(TestCaseDraw& draw, std::uint64_t least, std::uint64_t most) {
  return one_in(draw.kernel_property_random, 2)
             ? 0
             : static_cast<std::uint32_t>(between(draw.kernel_property_random, least, most));
}

/// Draws all options except the box and element strides.
void draw_options(TestCaseDraw& draw, TileOptions& options, bool computes) {
  Random& random = draw.kernel_property_random;
  if (one_in(random, 3)) options.swizzle = static_cast<Swizzle>(between(random, 0, 3));
  options.l2_promotion = static_cast<L2Promotion>(between(random, 0, 3));
  if (can_fill_nan(draw.type) && one_in(random, 3)) options.oob_fill = OobFill::nan;
  options.stages = count(draw, 1, 5);
  options.ctas_per_sm = count(draw, 1, 3);
  if (one_in(random, 2)) options.tiles_per_cta = static_cast<std::uint32_t>(between(random, 0, 3));
  if (!computes) return;
  options.output_stages = count(draw, 2, 3);
  options.warps = count(draw, 1, 6);
}

/// Draws a box whose rows have a multiple of 16 bytes, and the element strides.
void draw_box(TestCaseDraw& draw, TileOptions& options, std::size_t rank, bool is_flat) {
  std::vector<std::int64_t> box(rank, 1);
  std::vector<std::int64_t> strides(rank, 1);
  std::uint64_t left = is_flat ? 4096 : 1024;
  for (std::size_t d = rank; d-- > 0;) {
    const std::uint64_t unit = d + 1 == rank ? 16 / size_of(draw.type) : 1;
    const std::uint64_t most = std::max<std::uint64_t>(std::min<std::uint64_t>(left, 64) / unit, 1);
    box[d] = static_cast<std::int64_t>(unit *
                                       between(draw.kernel_property_random, 1, is_flat ? left / unit : most));
    left = std::max<std::uint64_t>(left / static_cast<std::uint64_t>(box[d]), 1);
    if (d + 1 < rank && one_in(draw.kernel_property_random, 3))
      strides[d] = static_cast<std::int64_t>(between(draw.kernel_property_random, 1, 4));
    box[d] *= strides[d];
  }
  if (one_in(draw.kernel_property_random, 2)) options.box = box;
  if (!is_flat && one_in(draw.kernel_property_random, 3)) options.element_strides = strides;
}

TensorView tile_view(TestCaseDraw& draw, ElementType type, const Shape& shape, bool is_flat) {
  return is_flat ? TensorView::contiguous(type, shape) : draw.row_major_view(type, shape);
}

TileCase draw_tile_case(TestCaseDraw& draw) {
  TileCase tile_case;
  auto& [tiles, to, from] = tile_case;
  tiles.family = one_of(draw.kernel_property_random, std::array{"copy", "map", "map", "bulk", "reduce_into"});
  const bool is_flat = tiles.family == "bulk";
  const bool computes = is_flat || tiles.family == "map";
  tiles.combine = one_of(draw.kernel_property_random, all_combine_ops);
  while (tiles.family == "reduce_into" && !combined_as(tiles.combine, draw.type)) draw.type = draw.any_type();
  draw.may_misalign = is_flat;
  draw.aligned = !is_flat;
  const Shape shape = draw.tensor_shape(1, is_flat ? 3 : max_map_rank);
  draw_options(draw, tiles.options, computes);
  draw_box(draw, tiles.options, is_flat ? 1 : shape.size(), is_flat);
  Shape walked = shape;
  for (std::size_t d = 0; d < tiles.options.element_strides.size(); ++d) {
    const auto stride = static_cast<std::uint64_t>(tiles.options.element_strides[d]);
    walked[d] = (shape[d] + stride - 1) / stride;
  }
  to = tile_view(draw, draw.type, walked, is_flat);
  const std::uint64_t sources = tiles.family == "map" ? between(draw.kernel_property_random, 1, 4) : 1;
  for (std::uint64_t i = 0; i < sources; ++i)
    from.push_back(tile_view(draw, computes ? draw.any_type() : draw.type, shape, is_flat));
  if (computes) tiles.expression = draw_expression(draw, sources, is_flat ? 1 : shape.size());
  return tile_case;
}

bool is_legal(const TileCase& tile_case) {
  const auto seen = [&](const TensorView& view) {
    return tile_case.tiles.family == "bulk" ? reshaped(Tensor{view}, {view.elements()}) : Tensor{view};
  };
  TileRequest request{.family = tile_case.tiles.family,
                      .destination = seen(tile_case.to),
                      .expression = tile_case.tiles.expression,
                      .combine = tile_case.tiles.combine,
                      .tiles = tile_case.tiles.options};
  for (const TensorView& view : tile_case.from) request.sources.push_back(seen(view));
  return validate(request).empty();
}

void set_arguments(const TileCase& tile_case, Arguments& arguments) {
  const auto& [box, element_strides, swizzle, interleave, l2, oob, stages, output_stages, warps, ctas,
               tiles] = tile_case.tiles.options;
  arguments = {{"family", tile_case.tiles.family},
               {"swizzle", std::string(name(swizzle))},
               {"l2", std::string(name(l2))},
               {"oob", std::string(name(oob))}};
  if (!tile_case.tiles.expression.empty()) arguments.set("expression", tile_case.tiles.expression);
  if (tile_case.tiles.family == "reduce_into")
    arguments.set("op", std::string(name(tile_case.tiles.combine)));
  if (!box.empty()) arguments.set("box", box);
  if (!element_strides.empty()) arguments.set("element_strides", element_strides);
  const auto set_count = [&](std::string_view argument, std::uint32_t number) {
    if (number != 0) arguments.set(argument, std::int64_t{number});
  };
  set_count("stages", stages);
  set_count("output_stages", output_stages);
  set_count("warps", warps);
  set_count("ctas_per_sm", ctas);
  if (tiles) arguments.set("tiles_per_cta", std::int64_t{*tiles});
}

/// Draws any family except `snapshot`, whose results are images of shared memory, which the reference cannot
/// compute.
void draw_test_case(TestCaseDraw& draw) {
  TileCase tile_case = draw_tile_case(draw);
  while (!is_legal(tile_case)) tile_case = draw_tile_case(draw);
  set_arguments(tile_case, draw.test_case.arguments);
  const bool is_flat = tile_case.tiles.family == "bulk";
  if (!is_flat) draw.test_case.alignment = 16;
  if (tile_case.tiles.family == "reduce_into") draw.test_case.contents = Contents::numbers;
  draw.add_destination(tile_case.to);
  for (const TensorView& view : tile_case.from) draw.add_source(view);
  if (!tile_case.tiles.expression.empty())
    draw.test_case.arguments.set("expression", draw.with_numbers(tile_case.tiles.expression));
}

}  // namespace

const OperationCases cases{.draw_test_case = draw_test_case};

}  // namespace reference::tiles_operation
