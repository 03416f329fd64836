#include "families/stencil/stencil_layout.hpp"

#include "spec/limits.hpp"
#include "spec/saturate.hpp"

#include <algorithm>

TMAJIT_BEGIN
namespace {

constexpr std::uint32_t unit_bytes = 16;                // boxes begin, and rows end, at multiples of this
constexpr std::uint32_t image_alignment = 128;          // bytes; alignment of boxes in shared memory
constexpr std::uint32_t stencil_base_alignment = 1024;  // bytes that aligned_shared_memory() may skip
constexpr std::uint64_t waves = 4;                      // wanted CTAs, in multiples of those that run at once
constexpr std::uint64_t max_tiles = 16;                 // most tiles of a CTA whose window has one plane
constexpr std::uint64_t min_planes = 8;  // own planes of a CTA for each plane that it loads in addition

StencilImage image_of(const StencilFacts& facts, const StencilSource& source) {
  const std::uint32_t size = size_of(source.element_type());
  const std::uint32_t unit = unit_bytes / size;
  const std::uint32_t row = facts.row();
  StencilImage image;
  for (std::uint32_t d = 0; d < facts.rank; ++d) {
    image.before[d] = source.before[d];
    image.box[d] = source.before[d] + facts.box[d] + source.after[d];
  }
  if (facts.plane < facts.rank) {
    image.before[facts.plane] = 0;
    image.box[facts.plane] = 1;
  }
  image.before[row] = static_cast<std::uint32_t>(round_up(source.before[row], unit));
  image.box[row] =
      static_cast<std::uint32_t>(round_up(image.before[row] + facts.box[row] + source.after[row], unit));
  image.part_columns = std::min(image.box[row], max_box * source.unit);
  image.parts = static_cast<std::uint32_t>(ceil_div(image.box[row], image.part_columns));
  image.box[row] = image.parts * image.part_columns;
  image.pitch = image.box[row] * size;
  image.bytes = sat_cast<std::uint32_t>(sat_mul(elements_of(image.box, facts.rank), size));
  return image;
}

}  // namespace

std::uint32_t StencilFacts::planes_before() const noexcept {
  std::uint32_t most = 0;
  for (std::uint32_t i = 0; i < sources && plane < rank; ++i) most = std::max(most, source[i].before[plane]);
  return most;
}

std::uint32_t StencilFacts::window_planes() const noexcept {
  std::uint32_t after = 0;
  for (std::uint32_t i = 0; i < sources && plane < rank; ++i) after = std::max(after, source[i].after[plane]);
  return planes_before() + 1 + after;
}

StencilStage stage_of(const StencilFacts& facts) {
  StencilStage stage;
  for (std::uint32_t i = 0; i < facts.sources; ++i) {
    StencilImage& image = stage.image[i];
    image = image_of(facts, facts.source[i]);
    image.offset = stage.bytes;
    stage.bytes = sat_cast<std::uint32_t>(round_up(sat_add(stage.bytes, image.bytes), image_alignment));
  }
  return stage;
}

std::uint64_t shared_bytes(const StencilFacts& facts) {
  return sat_add(sat_mul(stage_of(facts).bytes, facts.stages),
                 facts.engine != 0 ? stencil_base_alignment : 0);
}

std::optional<TensorMapSpec> stencil_map(const StencilFacts& facts, const Problem& problem,
                                         const CanonicalNest& nest, std::uint32_t source) {
  const std::uint32_t operand = source + 1;
  const std::uint32_t row = facts.row();
  const std::uint32_t size = problem.element_bytes(operand);
  const std::uint32_t unit = facts.source[source].unit;
  if (nest.rank > max_map_rank || problem.address[operand] % unit_bytes != 0) return std::nullopt;
  const StencilImage image = stage_of(facts).image[source];
  // Only an image of a single row can have several parts.
  if (image.parts > 1 && image.bytes != image.pitch) return std::nullopt;
  TensorMapSpec map;
  map.type = unsigned_of(size * unit);
  map.rank = static_cast<std::uint8_t>(nest.rank);
  map.l2_promotion = L2Promotion::b128;
  for (std::uint32_t d = 0; d < nest.rank; ++d) {
    const std::int64_t step = nest.operand[operand].strides[d] * std::int64_t{size};
    const bool walked = nest.shape[d] > 1;
    if (d == row && walked && step != std::int64_t{size}) return std::nullopt;
    if (d != row && walked &&
        (step <= 0 || step % unit_bytes != 0 || step >= static_cast<std::int64_t>(max_stride_bytes))) {
      return std::nullopt;
    }
    map.shape[d] = d == row ? nest.shape[d] / unit : nest.shape[d];
    map.strides[d] = d == row ? std::uint64_t{size} * unit
                     : walked ? static_cast<std::uint64_t>(step)
                              : unit_bytes;
    map.box[d] = d == row ? image.part_columns / unit : image.box[d];
    map.element_strides[d] = 1;
    // Coordinates of halos must fit 32 bits, too.
    if (nest.shape[d] >= max_coordinate_extent - 2 * (std::uint64_t{facts.box[d]} + max_box) ||
        map.box[d] > max_box) {
      return std::nullopt;
    }
  }
  return map;
}

TileCounts stencil_tiles(const StencilFacts& facts, const CanonicalNest& nest) {
  return tile_counts(nest, facts.box, facts.rank);
}

std::uint32_t tiles_of_cta(const StencilFacts& facts, const Problem& problem, const CanonicalNest& nest) {
  const TileCounts counts = stencil_tiles(facts, nest);
  const std::uint64_t march_tiles = counts[facts.march];
  const std::uint64_t at_once = std::uint64_t{problem.sm_count} * resident_ctas(stencil_footprint(facts));
  const std::uint64_t extra_planes = facts.window_planes() - 1;
  std::uint64_t tiles = ceil_div(product(counts, facts.rank), at_once * waves);
  tiles = extra_planes > 0 ? std::max(tiles, extra_planes * min_planes) : std::min(tiles, max_tiles);
  tiles = std::clamp<std::uint64_t>(tiles, 1, march_tiles);
  // About the same number of tiles for each CTA.
  return static_cast<std::uint32_t>(ceil_div(march_tiles, ceil_div(march_tiles, tiles)));
}

Footprint stencil_footprint(const StencilFacts& facts) {
  const std::uint32_t ahead = facts.stages - facts.window_planes() + 1;
  return {.box = facts.box,
          .threads = facts.threads,
          .stages = 1,
          .dynamic_shared_bytes = sat_cast<std::uint32_t>(shared_bytes(facts)),
          .static_shared_bytes = facts.engine != 0 ? 8 * facts.stages : 0,  // mbarriers
          .registers = 64,
          .bytes_in_flight = std::uint64_t{ahead} * stage_of(facts).bytes,
          .by_engine = facts.engine != 0};
}

TMAJIT_END
