#include "operations/entry.hpp"
#include "operations/shared/combine_names.hpp"
#include "operations/shared/result_types.hpp"
#include "operations/shared/shapes.hpp"
#include "operations/tiles/tiles.hpp"

#include <array>

TMAJIT_BEGIN
namespace {

using Text = std::string_view;
constexpr std::array<Text, 5> families{"copy", "map", "bulk", "snapshot", "reduce_into"};
constexpr std::array<Text, 4> swizzles{"none", "32B", "64B", "128B"};
constexpr std::array<Text, 3> interleaves{"none", "16B", "32B"};
constexpr std::array<Text, 2> fills{"zero", "nan"};
constexpr std::array<Text, 4> promotions{"none", "64B", "128B", "256B"};

constexpr Argument count(Text name, Text option, Text sentence, Text example) {
  return {.name = name,
          .option = option,
          .type = ArgumentType::count,
          .fallback = "the family's",
          .sentence = sentence,
          .example = example};
}

constexpr Argument choice(Text name, Text option, Text fallback, Text sentence, Text example,
                          std::span<const Text> choices) {
  return {.name = name,
          .option = option,
          .type = ArgumentType::choice,
          .fallback = fallback,
          .sentence = sentence,
          .example = example,
          .choices = choices};
}

constexpr std::array tiles_arguments{
    choice("family", "--family", "copy", "the family of kernels", "map", families),
    Argument{.name = "expression",
             .option = "--expr",
             .fallback = "none",
             .sentence =
                 "the expression of map or bulk; it may read p0 …, t[d], the element's position in the tile, "
                 "and tile_index, its number",
             .example = "x*2+1"},
    choice("op", "--op", "add", "how each source element is combined with the destination's", "add",
           combine_names),
    Argument{.name = "box",
             .option = "--box",
             .type = ArgumentType::extents,
             .fallback = "the family's",
             .sentence = "the tile of the first source, in elements; for bulk one number",
             .example = "32x64"},
    Argument{.name = "element_strides",
             .option = "--element-strides",
             .type = ArgumentType::extents,
             .fallback = "every element",
             .sentence = "for each dimension a number n, 1 to 8: a tile loads every n-th element",
             .example = "2x1"},
    choice("swizzle", "--swizzle", "none", "how rows of the tile are permuted in shared memory", "128B",
           swizzles),
    choice("interleave", "--interleave", "none", "the layout of channels; every family supports only none",
           "none", interleaves),
    choice("oob", "--oob", "zero", "the values that elements outside the tensor have", "nan", fills),
    choice("l2", "--l2", "256B", "the granularity of fetches into L2", "128B", promotions),
    count("stages", "--stages", "input tiles in flight", "3"),
    count("output_stages", "--output-stages", "output tiles in flight", "2"),
    count("warps", "--warps", "warps that compute", "4"),
    count("ctas_per_sm", "--ctas-per-sm", "CTAs that share an SM", "2"),
    count("tiles_per_cta", "--tiles-per-cta",
          "tiles that a CTA processes before it ends; 0: a persistent grid", "1")};

Tiles tiles_of(const Arguments& given) {
  Tiles tiles{.family = std::string(given.text("family", "copy")),
              .expression = std::string(given.text("expression")),
              .combine = parse<CombineOp>(given.text("op", "add")),
              .options = {.box = given.dims("box"),
                          .element_strides = given.dims("element_strides"),
                          .swizzle = parse<Swizzle>(given.text("swizzle", "none")),
                          .interleave = parse<Interleave>(given.text("interleave", "none")),
                          .l2_promotion = parse<L2Promotion>(given.text("l2", "256B")),
                          .oob_fill = parse<OobFill>(given.text("oob", "zero")),
                          .stages = given.count("stages"),
                          .output_stages = given.count("output_stages"),
                          .warps = given.count("warps"),
                          .ctas_per_sm = given.count("ctas_per_sm")}};
  if (given.has("tiles_per_cta")) tiles.options.tiles_per_cta = given.count("tiles_per_cta");
  return tiles;
}

}  // namespace

const OperationEntry tiles_entry{
    .info =
        {.name = "tiles",
         .summary =
             "copies, combines or computes by a kernel whose tile you choose, without rewriting the tensors",
         .arguments = tiles_arguments,
         .max_sources = max_inputs,
         .needs_mapped_rows = true,
         .takes_numbers = true},
    .destinations =
        [](std::span<const TensorView> sources, const Arguments& given) {
          const Tiles tiles = tiles_of(given);
          return std::vector{destination_of(tiles, sources, value_type(tiles.expression, sources))};
        },
    .make =
        [](std::span<const Tensor> to, std::span<const Tensor> from, const Arguments& given) {
          const Tiles tiles = tiles_of(given);
          return operation::tiles(to.front(), tiles, from);
        }};

TMAJIT_END
