#include "families/multicast/multicast_layout.hpp"

#include "families/shared/chunks.hpp"
#include "families/shared/copy_engine_tiles.hpp"
#include "spec/limits.hpp"
#include "spec/saturate.hpp"

#include <algorithm>
#include <bit>

TMAJIT_BEGIN
namespace {

constexpr std::uint32_t word_bytes = 16;          // of the widest operand, that a thread does at a time
constexpr std::uint32_t box_alignment = 128;      // of what a load brings, in shared memory
constexpr std::uint32_t memory_alignment = 1024;  // of the first stage (aligned_shared_memory())
constexpr std::uint32_t widest_unit = 8;          // bytes of a tensor map's elements
// Of a stage, were every source's elements as wide as the widest: a thread does a few words of a tile, lest
// finding the tile take longer.
constexpr std::uint32_t most_stage = 24 * 1024;
constexpr std::uint32_t most_stages = 4;
constexpr std::uint32_t least_stages = 2;
constexpr std::uint32_t wanted_shared = 72 * 1024;  // of a CTA, so that an SM has three

std::uint32_t widest_bytes(const Problem& problem) noexcept {
  std::uint32_t widest = 1;
  for (std::uint32_t i = 0; i < problem.nest.operands; ++i)
    widest = std::max(widest, problem.element_bytes(i));
  return widest;
}

/// The widest element of a map whose rows are whole ones.
std::uint32_t unit_of(std::uint64_t row_bytes) noexcept {
  return static_cast<std::uint32_t>(std::uint64_t{1} << std::countr_zero(row_bytes | widest_unit));
}

void choose_box(MulticastFacts& facts, const Problem& problem, std::uint32_t elements) {
  const CanonicalNest& nest = problem.nest;
  const std::uint32_t row = facts.rank - 1;
  std::uint64_t most = elements;
  std::uint32_t least = facts.in_word;
  for (std::uint32_t s = 0; s < facts.sources; ++s) {
    const std::uint32_t size = size_of(facts.source_type(s));
    least = std::max(least, bulk_bytes / size);
  }
  std::ranges::fill_n(facts.box.begin(), facts.rank, 1U);
  facts.box[row] = static_cast<std::uint32_t>(
      std::max<std::uint64_t>(std::min(std::bit_ceil(nest.shape[row]), most), least));
  std::uint64_t left = std::max(elements / facts.box[row], 1U);
  for (std::uint32_t d = row; d-- > 0;) {
    if (d == facts.along) continue;
    const std::uint64_t side = std::min<std::uint64_t>(left, max_box);
    facts.box[d] = static_cast<std::uint32_t>(std::min(std::bit_ceil(nest.shape[d]), side));
    left /= facts.box[d];
  }
}

/// Loads that a source's tile takes: one for each CTA that brings a part, or more where a row is longer than
/// a box can be. Powers of two.
std::uint32_t wanted_parts(const MulticastFacts& facts, std::uint32_t s) noexcept {
  const std::uint32_t ctas = facts.is_shared(s) ? facts.cluster : 1;
  const std::uint32_t row = facts.rank - 1;
  const std::uint32_t of_row = facts.box[row] * size_of(facts.source_type(s)) / (max_box * facts.unit[s]);
  if (of_row < 2) return ctas;
  std::uint32_t rows = 1;
  for (std::uint32_t d = 0; d < row; ++d) rows *= facts.has(s, d) ? facts.box[d] : 1;
  return std::max(ctas, rows * of_row);
}

std::uint32_t shared_bytes(const MulticastFacts& facts, const MulticastLayout& layout) noexcept {
  return facts.stages * layout.stage_bytes + memory_alignment;
}

/// Whether each CTA has a part of a shared tile, and parts are what a load can bring.
bool can_be_cut(const MulticastFacts& facts, const MulticastLayout& layout) noexcept {
  for (std::uint32_t s = 0; s < facts.sources; ++s) {
    const MulticastImage& image = layout.image[s];
    const std::uint32_t parts = image.all_parts();
    if (parts != wanted_parts(facts, s) || (parts > 1 && image.bytes / parts < box_alignment)) return false;
  }
  return true;
}

}  // namespace

std::uint32_t MulticastImage::all_parts() const noexcept {
  std::uint32_t all = 1;
  for (std::uint32_t k = 0; k < rank; ++k) all *= parts[k];
  return all;
}

MulticastLayout multicast_layout(const MulticastFacts& facts) noexcept {
  MulticastLayout layout;
  for (std::uint32_t s = 0; s < facts.sources; ++s) {
    MulticastImage& image = layout.image[s];
    std::uint32_t left = wanted_parts(facts, s);  // that dimensions further in are cut into
    for (std::uint32_t d = 0; d < facts.rank; ++d) {
      if (!facts.has(s, d)) continue;
      image.dimension[image.rank] = d;
      image.parts[image.rank] = std::min(left, facts.box[d]);
      left /= image.parts[image.rank];
      ++image.rank;
    }
    image.bytes = size_of(facts.source_type(s));
    for (std::uint32_t k = image.rank; k-- > 0;) {
      image.step[k] = image.bytes;
      image.bytes *= facts.box[image.dimension[k]];
    }
    image.offset = layout.stage_bytes;
    layout.stage_bytes += static_cast<std::uint32_t>(round_up(image.bytes, box_alignment));
    layout.load_bytes += image.bytes;
    layout.asked_bytes += image.bytes / (facts.is_shared(s) ? facts.cluster : 1);
  }
  return layout;
}

std::optional<std::uint32_t> multicast_dimension(const Problem& problem) noexcept {
  const CanonicalNest& nest = problem.nest;
  if (nest.rank < 2 || nest.windowed || !goes_element_by_element(problem)) return std::nullopt;
  const std::uint32_t row = nest.rank - 1;
  std::optional<std::uint32_t> best;
  std::uint64_t most = 0;
  std::array<std::uint64_t, max_view_rank> saved{};
  for (std::uint32_t i = 1; i < nest.operands; ++i) {
    const auto& strides = nest.operand[i].strides;
    if (strides[row] != 1) return std::nullopt;
    std::uint32_t dimensions = 0;
    for (std::uint32_t d = 0; d < nest.rank; ++d) {
      if (strides[d] == 0) saved[d] += problem.element_bytes(i);
      if (strides[d] != 0) ++dimensions;
    }
    if (dimensions > max_map_rank) return std::nullopt;
  }
  for (std::uint32_t d = 0; d < row; ++d) {
    if (saved[d] == 0) continue;
    // Of two as good the longer, which clusters fill better.
    const std::uint64_t worth = sat_mul(saved[d], std::min<std::uint64_t>(nest.shape[d], max_box));
    if (worth > most) best = d;
    most = std::max(most, worth);
  }
  return best;
}

std::optional<MulticastFacts> multicast_facts(const Problem& problem, std::uint32_t along) {
  const CanonicalNest& nest = problem.nest;
  const std::uint32_t widest = widest_bytes(problem);
  MulticastFacts facts{.type = static_cast<std::uint32_t>(type_in_chunks(problem, 0)),
                       .rank = nest.rank,
                       .along = along,
                       .stages = most_stages,
                       .in_word = word_bytes / widest,
                       .computes = problem.expression().empty() ? 0U : 1U,
                       .sources = problem.sources()};
  if (problem.reads().g) {
    const ChunkFacts chunks = chunk_facts(problem);
    facts.coordinates = chunks.coordinates;
    facts.wide_coordinates = chunks.wide_coordinates;
    facts.dimension_of = chunks.dimension_of;
    facts.backwards = chunks.backwards;
  }
  const std::uint32_t row = nest.rank - 1;
  facts.alignment = std::min(facts.in_word * problem.element_bytes(0), problem.alignment(0, row));
  for (std::uint32_t s = 0; s < facts.sources; ++s) {
    facts.source[s] = static_cast<std::uint32_t>(type_in_chunks(problem, s + 1));
    facts.unit[s] = unit_of(nest.shape[row] * problem.element_bytes(s + 1));
    for (std::uint32_t d = 0; d < nest.rank; ++d) {
      if (nest.operand[s + 1].strides[d] != 0) facts.dimensions[s] |= 1U << d;
    }
  }
  choose_box(facts, problem, std::bit_floor(most_stage / facts.sources) / widest);
  facts.wide_offsets = has_wide_offsets(problem, facts.box, 0) ? 1 : 0;
  const MulticastLayout layout = multicast_layout(facts);
  while (facts.stages > least_stages && shared_bytes(facts, layout) > wanted_shared) --facts.stages;
  if (shared_bytes(facts, layout) > max_shared_bytes_per_cta) return std::nullopt;
  if (!can_be_cut(facts, layout)) return std::nullopt;
  for (std::uint32_t s = 0; s < facts.sources; ++s) {
    if (!multicast_map(facts, problem, s)) return std::nullopt;
  }
  return facts;
}

std::optional<MulticastFacts> in_clusters(const MulticastFacts& facts, const Problem& problem,
                                          std::uint32_t cluster) {
  if (cluster > std::bit_ceil(problem.nest.shape[facts.along])) return std::nullopt;
  MulticastFacts clustered = facts;
  clustered.cluster = cluster;
  if (!can_be_cut(clustered, multicast_layout(clustered))) return std::nullopt;
  return clustered;
}

std::optional<TensorMapSpec> multicast_map(const MulticastFacts& facts, const Problem& problem,
                                           std::uint32_t source) {
  const MulticastImage image = multicast_layout(facts).image[source];
  const std::uint32_t unit = facts.unit[source];
  const std::uint32_t size = size_of(facts.source_type(source));
  std::array<MapDimension, max_map_rank> dimensions{};
  for (std::uint32_t k = 0; k < image.rank; ++k) {
    const std::uint32_t d = image.dimension[k];
    const std::uint32_t scale = d + 1 == facts.rank ? size : 1;  // rows are counted in the map's elements
    const std::uint32_t each = d + 1 == facts.rank ? unit : 1;
    dimensions[k] = {.extent = problem.nest.shape[d] * scale / each,
                     .step = problem.step(source + 1, d),
                     .box = facts.box[d] / image.parts[k] * scale / each};
  }
  return plain_map(std::span(dimensions).first(image.rank), unit, problem.address[source + 1]);
}

std::uint32_t multicast_shared_bytes(const MulticastFacts& facts) noexcept {
  return shared_bytes(facts, multicast_layout(facts));
}

TMAJIT_END
