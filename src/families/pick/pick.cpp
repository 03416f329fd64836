#include "families/list.hpp"
#include "families/pick/pick_layout.hpp"
#include "families/shared/chunks.hpp"
#include "spec/saturate.hpp"

#include <tmajit/pick_tile.cuh>
#include <tmajit/views.cuh>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

constexpr std::uint32_t words_at_once = 4;  // that a thread has under way

constexpr LineTuning tunings[] = {
    {256, 256, 16 << 10}, {256, 256, 32 << 10}, {512, 128, 16 << 10}, {128, 512, 16 << 10},
    {512, 256, 32 << 10}, {256, 512, 32 << 10}, {256, 128, 8 << 10},  {128, 256, 8 << 10},
    {128, 128, 8 << 10},  {128, 128, 16 << 10}, {1024, 64, 16 << 10}, {64, 1024, 16 << 10},
};

// What does not fit is made smaller, a few times at most: several sources share the memory of one.
constexpr int most_tries = 3;
constexpr int most_tries_of_several = 5;

struct TriedBox {
  PerDimension box{};
  bool fits = false;
};

/// What a `pick` kernel is specialised for. Types are those that kernels of chunks know, too: of bits that
/// are moved as they are only the size counts.
struct PickFacts {
  std::uint32_t rank = 1;
  Flag wide_offsets = 0;
  Flag computes = 0;
  Flag padded = 0;
  std::uint32_t sources = 1;
  std::uint32_t type = 0;  ///< of the destination, an ElementType
  std::array<std::uint32_t, max_inputs> source{};

  [[nodiscard]] ElementType element_type() const noexcept { return static_cast<ElementType>(type); }
  [[nodiscard]] ElementType source_type(std::uint32_t s) const noexcept {
    return static_cast<ElementType>(source[s]);
  }
  /// Of the smallest element of a source.
  [[nodiscard]] std::uint32_t source_bytes() const noexcept {
    std::uint32_t least = sizeof(std::uint64_t);
    for (std::uint32_t s = 0; s < sources; ++s) least = std::min(least, size_of(source_type(s)));
    return least;
  }
};

PickFacts facts_of_layout(const Problem& problem, const PickLayout& layout) {
  PickFacts facts{.rank = layout.rank,
                  .wide_offsets = layout.wide_offsets ? 1U : 0U,
                  .computes = problem.expression.empty() ? 0U : 1U,
                  .padded = problem.nest.windowed ? 1U : 0U,
                  .sources = layout.sources,
                  .type = static_cast<std::uint32_t>(type_in_chunks(problem, 0))};
  for (std::uint32_t s = 0; s < facts.sources; ++s) {
    // What surrounds a padded source has the destination's type.
    facts.source[s] =
        facts.padded != 0 ? facts.type : static_cast<std::uint32_t>(type_in_chunks(problem, s + 1));
  }
  return facts;
}

/// Bytes of a launch's parameters.
std::size_t parameter_bytes(const Problem& problem) {
  const std::size_t sources = problem.sources();
  return with_rank(problem.nest.rank, [&](auto r) {
    using Tile = params::PickTile<r, 1>;
    return sizeof(params::ViewsHead<r>) + sources * sizeof(params::View<r>) + offsetof(Tile, source) +
           sources * sizeof(params::PickSource<r>) + (problem.nest.windowed ? sizeof(params::Window<r>) : 0);
  });
}

/// Whether a problem is one for such kernels, were there room for its images.
bool is_for_pick(const Problem& problem) {
  const CanonicalNest& nest = problem.nest;
  if (problem.reads_bits()) return tmajit::layout_of(problem) != Layout::rows && takes_lines(problem);
  if (nest.rank < 2 || nest.operand[0].strides[nest.rank - 1] != 1 || problem.sources() == 0) return false;
  if (problem.reads.g || problem.reads.t || problem.reads.tile_index) return false;
  bool across = false;
  for (std::uint32_t i = 1; i <= problem.sources(); ++i) {
    if (problem.interleaved[i]) return false;  // lines hold what lies between the elements, too
    across = across || lies_across(problem, i);
    for (std::uint32_t d = 0; d < nest.rank; ++d) {
      // An image has one index of a repeated dimension, whether the source reaches it or not.
      if (nest.operand[i].strides[d] == 0 && is_padded(problem, d)) return false;
    }
  }
  return across && parameter_bytes(problem) <= ParameterBlock::max_bytes;
}

/// The part of a problem's tiles that its source does not reach all of.
double padded_part(const PickLayout& layout, const Problem& problem) {
  if (!problem.nest.windowed) return 0;
  double covered = 1;
  for (std::uint32_t d = 0; d < layout.rank; ++d) {
    const auto side = static_cast<std::int64_t>(layout.box[d]);
    const auto extent = static_cast<std::int64_t>(problem.nest.shape[d]);
    const std::int64_t first = std::clamp<std::int64_t>(problem.nest.window_first[d], 0, extent);
    const std::int64_t end = std::clamp<std::int64_t>(problem.nest.window_end[d], first, extent);
    // The last tile may be cut by the tensor's edge.
    const std::int64_t tiles = (extent + side - 1) / side;
    const std::int64_t whole = (end == extent ? tiles : end / side) - (first + side - 1) / side;
    covered *= static_cast<double>(std::max<std::int64_t>(whole, 0)) / static_cast<double>(tiles);
  }
  return 1 - covered;
}

/// The layout of a candidate, which was worked out when it was added.
const PickLayout& layout_of(const Candidate& candidate) {
  return *static_cast<const PickLayout*>(candidate.layout.get());
}

params::Digit digit_of(std::uint32_t d, std::uint64_t count, std::int64_t step) {
  return {.step = step, .count = make_divider<params::Divider>(count), .dimension = d};
}
params::ImageStep image_step(const PickLines& source, std::uint32_t d) {
  return {.bytes = source.image_step[d], .skew = d == source.skewed ? source.skew_log : no_skew};
}

template <std::uint32_t rank>
params::PickSource<rank> source_of(const PickLayout& layout, const Problem& problem, std::uint32_t s) {
  const PickLines& lines = layout.source[s];
  params::PickSource<rank> source{};
  std::fill_n(source.line, rank, digit_of(0, 1, 0));
  std::uint32_t taken = 0;
  // The source's own order, the nearest first: lanes that load side by side then load what lies together.
  for (std::uint32_t k = rank; k-- > 0;) {
    const std::uint32_t d = lines.order[k];
    if (lines.spans(d) || problem.nest.operand[s + 1].strides[d] == 0) continue;
    source.in_line[taken] = image_step(lines, d);
    source.line[taken++] = digit_of(d, layout.box[d], problem.step(s + 1, d));
  }
  for (std::uint32_t d = 0; d < rank; ++d) {
    source.reach[d] = lines.spans(d) && layout.box[d] > 1 ? std::abs(lines.image_step[d]) : 0;
  }
  source.along = layout.along_image(s);
  source.units = make_divider<params::Divider>(lines.units);
  source.lines = lines.count;
  source.line_bytes = lines.bytes;
  source.below = lines.below;
  source.image = lines.image;
  source.first_line = lines.first;
  return source;
}

template <std::uint32_t rank>
params::PickTile<rank, max_inputs> tile_of(const PickLayout& layout, const Problem& problem) {
  params::PickTile<rank, max_inputs> tile{};
  const std::uint32_t along = layout.run.dimension;
  for (auto* list : {&tile.run, &tile.place}) std::fill_n(*list, rank, digit_of(0, 1, 0));
  for (std::uint32_t s = 0; s < layout.sources; ++s) tile.source[s] = source_of<rank>(layout, problem, s);
  std::uint32_t runs = 0;
  // The leading source's order, the nearest first: lanes that do several runs then read what lies together.
  for (std::uint32_t k = rank; k-- > 0;) {
    const std::uint32_t d = layout.source[layout.lead].order[k];
    if (d >= along || (layout.parts == 1 && d == layout.along)) continue;
    for (std::uint32_t s = 0; s < layout.sources; ++s)
      tile.source[s].run[runs] = image_step(layout.source[s], d);
    tile.run[runs++] = digit_of(d, layout.box[d], problem.step(0, d));
  }
  for (std::uint32_t d = rank; d-- > along;) {
    const std::uint32_t count = d == along && layout.part != 0 ? layout.part : layout.box[d];
    tile.place[rank - 1 - d] = digit_of(d, count, 0);
    for (std::uint32_t s = 0; s < layout.sources; ++s)
      tile.source[s].place[rank - 1 - d] = image_step(layout.source[s], d);
  }
  std::copy_n(layout.box.begin(), rank, tile.box);
  tile.parts = layout.parts > 1 ? 1 : 0;
  tile.along = digit_of(layout.along, layout.chunks_along,
                        layout.parts > 1 ? std::int64_t{layout.part_elements} * layout.element_bytes
                                         : problem.step(0, layout.along));
  tile.chunks = layout.chunks;
  tile.chunk = layout.chunk;
  tile.every = layout.every;
  tile.run_dimension = along;
  tile.inner = layout.run.elements / layout.box[along];
  tile.part_elements = layout.part_elements;
  tile.words = layout.words;
  tile.lanes_log = layout.lanes_log;
  tile.warps_log = layout.warps_log;
  tile.image_bytes = layout.image_bytes;
  tile.images = layout.images;
  tile.lines = layout.lines;
  tile.tiles = sat_cast<std::uint32_t>(layout.tiles);
  tile.tiles_per_cta = layout.tiles_per_cta;
  return tile;
}

/// The types of a kernel that knows its elements' values.
void add_types(SourceParts& parts, const PickFacts& facts) {
  const ElementType to = facts.element_type();
  parts.elements = {to};
  parts.result = to;
  parts.facts += fmt::format("struct Destination {{\n  using Element = {};\n}};\n", device_type(to));
  if (facts.computes == 0) return;
  parts.facts += "template <u32 i>\nstruct Source;\n";
  for (std::uint32_t s = 0; s < facts.sources; ++s) {
    const ElementType from = facts.source_type(s);
    parts.facts +=
        fmt::format("template <>\nstruct Source<{}> {{\n  using Element = {};\n}};\n", s, device_type(from));
    parts.elements.push_back(from);
    parts.inputs.push_back(from);
  }
  parts.facts += all_sources_fact(facts.sources);
}

class Pick final : public Family {
 public:
  Pick()
      : Family({.name = "pick",
                .summary =
                    "moves, pads, converts or computes to runs of memory word by word, from lines that "
                    "come to shared memory: tiles of any shape",
                .operation = {},
                .computes = true,
                .most_inputs = max_inputs}) {}

  void add_candidates(const Problem& problem, std::vector<Candidate>& candidates) const override {
    if (!is_for_pick(problem)) return;
    LineBoxes boxes(problem);
    std::vector<TriedBox> tried;
    tried.reserve(std::size(tunings));
    // Of bits that are moved as they are, `spans` is better known: where `pick` is predicted to be the
    // fastest, it mostly is not, and what it wins by where it is is less.
    const bool common = !problem.reads_bits() && !is_small(problem) && !repeats(problem);
    for (LineTuning tuning : tunings) {
      for (int tries = 0; tries < (problem.sources() > 1 ? most_tries_of_several : most_tries); ++tries) {
        const PerDimension box = boxes.box(tuning);
        auto known = std::ranges::find(tried, box, &TriedBox::box);
        if (known == tried.end()) {
          const std::optional<PickLayout> layout = pick_layout(problem, box);
          known = tried.insert(known, {box, layout.has_value()});
          if (layout) {
            Candidate one = candidate(facts_of_layout(problem, *layout), problem.nest,
                                      {.box = box, .threads = pick_threads});
            one.layout = std::make_shared<const PickLayout>(*layout);
            add_once(candidates, std::move(one), common);
          }
        }
        if (known->fits) break;
        (tuning.source_run > tuning.destination_run ? tuning.source_run : tuning.destination_run) /= 2;
        tuning.tile_bytes /= 2;
      }
    }
  }

  [[nodiscard]] Footprint footprint(const Candidate& candidate, const Problem& problem) const override {
    const PickLayout& layout = layout_of(candidate);
    const auto tiles = static_cast<double>(layout.tiles);
    const std::uint64_t words = std::uint64_t{layout.runs} * layout.parts * layout.words;
    const std::uint32_t in_word = layout.run.in_word;
    const std::uint32_t sources = layout.sources;
    std::uint64_t loaded = 0;  // bytes of an element of each
    for (const PickLines& source : std::span(layout.source).first(sources)) loaded += source.element_bytes;
    // Elements that are converted count as those that are picked by themselves.
    const double converted = problem.expression.empty() ? 0 : static_cast<double>(words) * in_word * sources;
    // What surrounds a padded source is written by another walk over the lines.
    const double walks = 1 + padded_part(layout, problem);
    const double entries = static_cast<double>(layout.chunks) + layout.lines +
                           static_cast<double>(std::uint64_t{layout.words} * in_word * sources);
    // Where a run begins or ends within a word, the lanes beside wait while its elements are stored one by
    // one.
    const bool cut_words = problem.alignment(0, layout.rank - 1) < 4;
    const double ends = cut_words ? 2.0 * layout.runs * in_word * (1U << layout.lanes_log) : 0;
    return {.box = layout.box,
            .threads = candidate.tile.threads,
            .tiles_per_cta = layout.tiles_per_cta,
            .dynamic_shared_bytes = layout.bytes,
            .most_dynamic_shared_bytes = most_pick_bytes,
            .registers = 64,
            .bytes_in_flight = elements_of(layout.box, layout.rank) * loaded,
            .rounds = layout.tiles_per_cta,
            .passes = static_cast<std::uint32_t>(
                ceil_div(words * layout.tiles_per_cta, std::uint64_t{pick_threads} * words_at_once)),
            .work = {.end = tiles * ends,
                     .pick = tiles * converted,
                     .picked_word = tiles * static_cast<double>(words) * sources,
                     .wavefront = tiles * static_cast<double>(words) * in_word * layout.banks_taken,
                     .line_unit = tiles * walks * static_cast<double>(layout.line_units()),
                     .entry = tiles / layout.tiles_per_cta * entries}};
  }

  [[nodiscard]] KernelChoice choice(const Candidate& candidate) const override {
    return {.family = name(), .tile = candidate.tile.box, .threads = candidate.tile.threads};
  }
  [[nodiscard]] std::string why(const Candidate& candidate, const Problem& problem) const override {
    const PickLayout& layout = layout_of(candidate);
    const bool several = layout.sources > 1;
    return fmt::format(
        "{} is contiguous in dimension {}, the destination in dimension {}: lines of {} meet in shared "
        "memory, "
        "and words of runs of {} elements are picked from there{}.",
        several ? fmt::format("Source {}", layout.lead) : "The source",
        layout.source[layout.lead].order[layout.rank - 1], layout.rank - 1,
        several ? "all sources" : "the source", layout.run.elements,
        problem.expression.empty() ? "" : " and computed");
  }
  [[nodiscard]] std::vector<std::string> rewrites(const Candidate& candidate) const override {
    const CanonicalNest& nest = candidate.nest;
    const auto& strides = nest.operand[0].strides;
    std::uint32_t first = nest.rank - 1;
    while (first > 0 && candidate.tile.box[first] == nest.shape[first] &&
           strides[first - 1] == strides[first] * static_cast<std::int64_t>(nest.shape[first])) {
      --first;
    }
    return run_rewrite(first, nest.rank);
  }

  void bind(const Candidate& candidate, const Problem& problem, ParameterBlock& parameters,
            LaunchShape& shape) const override {
    const auto facts = facts_of<PickFacts>(candidate);
    const TileCounts counts = tile_counts(problem.nest, candidate.tile.box, facts.rank);
    add_views(parameters, shape, problem, candidate.nest, facts.rank, counts);
    const PickLayout& layout = layout_of(candidate);
    shape.grid = grid_of(ceil_div(layout.tiles, std::uint64_t{layout.tiles_per_cta}));
    with_rank(facts.rank, [&](auto r) {
      // What stands last is as long as there are sources: the kernel's own type has no more of them.
      const auto tile = tile_of<r>(layout, problem);
      using Tile = decltype(tile_of<r>(layout, problem));
      const std::size_t bytes = offsetof(Tile, source) + layout.sources * sizeof(params::PickSource<r>);
      parameters.add_bytes({"params::PickTile", r, layout.sources}, "plan",
                           std::as_bytes(std::span(&tile, 1)).first(bytes), alignof(Tile));
    });
    if (facts.padded != 0) add_window(parameters, candidate.nest, facts.rank, problem.padding);
  }

  [[nodiscard]] SourceParts source(const Candidate& candidate,
                                   std::string_view /*expression*/) const override {
    const auto facts = facts_of<PickFacts>(candidate);
    SourceParts parts{
        .why =
            "Whole lines of the source come to shared memory by asynchronous copies, and words of the "
            "destination are picked from there element by element: dimensions of any length fill a tile. "
            "The copy engine is not used: its boxes would be mostly empty.",
        .element_bytes = size_of(facts.element_type()),
        .most_threads = pick_threads,
        .least_ctas = 4,
        .call = facts.padded != 0 ? "pick_tiles(views, plan, window)" : "pick_tiles(views, plan)"};
    parts.facts = number_fact("rank", facts.rank) + offset_fact(facts.wide_offsets);
    parts.facts += number_fact("element_bytes", parts.element_bytes, "of the destination");
    parts.facts += number_fact("sources", facts.sources);
    parts.facts += number_fact("source_bytes", facts.source_bytes(), "of the smallest element of a source");
    parts.set("computes", facts.computes != 0);
    parts.set("padded", facts.padded != 0);
    if (facts.computes != 0 || facts.padded != 0) add_types(parts, facts);
    return parts;
  }

  void classify(const Candidate& /*candidate*/, const Problem& problem, ShapeClass& shape) const override {
    const PerDimension order = farthest_first(problem.nest, 1, problem.nest.rank);
    shape.column = log2_of(problem.nest.shape[order[problem.nest.rank - 1]]);
  }
};

}  // namespace

const Family& pick_family() {
  static const Pick family;
  return family;
}

TMAJIT_END
