#include "families/stencil/stencil_planner.hpp"

#include "spec/limits.hpp"
#include "spec/saturate.hpp"

#include <tmajit/bank_conflicts.hpp>

#include <algorithm>
#include <bit>

TMAJIT_BEGIN
namespace {

constexpr std::uint32_t min_rank = 2;
constexpr std::uint32_t max_engine_sources = 4;  // more tensor maps do not fit the parameters
constexpr std::uint32_t widest_map_element = 8;  // bytes
constexpr std::uint32_t row_bytes_alone = 8192;  // wanted bytes of a tile that is a single row
constexpr std::uint32_t min_row_bytes = 64;  // rows of a tile that exceeds shared memory may shrink to this
constexpr std::uint32_t wanted_threads = 256;
constexpr std::uint32_t max_stencil_threads = 512;
constexpr std::uint32_t max_loaded_strip = 2;  // most rows of a thread if threads also load
constexpr std::uint64_t few_tiles = 4;         // CTAs do not march along a dimension with fewer tiles

/// For each offset of a call: the nest's dimension, and whether the nest walks it backwards.
struct Dimensions {
  std::array<std::uint32_t, max_stencil_dims> dim{};
  std::array<std::uint32_t, max_stencil_dims> reversed{};
};

Dimensions dimensions_of(const StencilProblem& stencil, const CanonicalNest& nest) {
  Dimensions dimensions;
  for (std::uint32_t k = 0; k < stencil.calls.offsets; ++k) {
    dimensions.dim[k] = nest.dimension_of[stencil.dim[k]];
    dimensions.reversed[k] = nest.backwards[stencil.dim[k]] ? 1 : 0;
  }
  return dimensions;
}

/// Plans the facts of one kernel.
class StencilPlanner {
 public:
  StencilPlanner(const Problem& problem, const CanonicalNest& nest) : nest_(nest), walked_(problem) {
    walked_.nest = nest;
    static_cast<ChunkFacts&>(facts_) = chunk_facts(walked_);
    facts_.turns = 1;
    // Unaligned rows are stored in pieces as large as their alignment.
    if (facts_.contiguous != 0) {
      facts_.alignment = std::min(problem_alignment(), facts_.chunk * facts_.element_bytes);
    }
    facts_.staggered = 0;
    facts_.whole = nest.shape[row()] % facts_.chunk == 0 ? 1 : 0;
    facts_.numbers = problem.numbers;
    facts_.sources = problem.sources() - problem.numbers;
    facts_.boundary = static_cast<std::uint32_t>(problem.as<StencilProblem>().boundary);
    read_offsets();
    choose_dimensions();
  }

  std::optional<StencilFacts> plan(const StencilTuning& tuning) {
    choose_tile(tuning);
    facts_.stages = facts_.window_planes() + tuning.ahead;
    facts_.engine = 1;
    while (!fits(max_shared_bytes_per_cta)) {
      if (!shrink_tile()) return std::nullopt;
    }
    if (!fits_engine()) {
      facts_.engine = 0;
      facts_.stages = facts_.window_planes();
      facts_.strip = std::min(facts_.strip, max_loaded_strip);
    }
    spread_work();
    facts_.threads = threads();
    return facts_;
  }

 private:
  [[nodiscard]] std::uint32_t row() const { return facts_.row(); }
  [[nodiscard]] std::uint32_t problem_alignment() const { return walked_.alignment(0, row()); }

  void read_offsets() {
    const StencilProblem& stencil = walked_.as<StencilProblem>();
    const Dimensions dimensions = dimensions_of(stencil, nest_);
    facts_.offsets = stencil.calls.offsets;
    facts_.dim = dimensions.dim;
    facts_.reversed = dimensions.reversed;
    for (std::uint32_t i = 0; i < facts_.sources; ++i) {
      StencilSource& source = facts_.source[i];
      source.type = static_cast<std::uint32_t>(type_in_chunks(walked_, i + 1));
      source.unit = widest_map_element / size_of(source.element_type());
      while (nest_.shape[row()] % source.unit != 0) source.unit /= 2;
      for (const StencilOffsets& tap : stencil.calls.taps[i]) {
        for (std::uint32_t k = 0; k < facts_.offsets; ++k) {
          const std::int32_t offset = facts_.reversed[k] != 0 ? -tap[k] : tap[k];
          std::uint32_t& reach = offset < 0 ? source.before[facts_.dim[k]] : source.after[facts_.dim[k]];
          reach = std::max(reach, static_cast<std::uint32_t>(offset < 0 ? -offset : offset));
        }
      }
    }
    for (std::uint32_t i = facts_.sources; i < walked_.sources(); ++i)
      facts_.source[i].type = static_cast<std::uint32_t>(type_in_chunks(walked_, i + 1));
    const auto is_wide = [](std::uint64_t n) { return n >= max_coordinate_extent / 2; };
    facts_.wide_index = std::ranges::any_of(nest_.shape, is_wide) ? 1 : 0;
  }

  [[nodiscard]] bool has_halo(std::uint32_t d) const {
    return std::any_of(facts_.source.begin(), facts_.source.begin() + facts_.sources,
                       [&](const StencilSource& source) { return source.before[d] + source.after[d] > 0; });
  }

  /// Strips run along the innermost dimension with a halo, except the row's. If another dimension has a halo,
  /// planes of the window follow each other along the outermost one.
  void choose_dimensions() {
    facts_.column = row() - 1;
    facts_.plane = facts_.rank;
    std::uint32_t halos = 0;
    for (std::uint32_t d = row(); d-- > 0;) {
      if (!has_halo(d)) continue;
      if (halos++ == 0) {
        facts_.column = d;
      } else {
        facts_.plane = d;
      }
    }
  }

  void choose_tile(const StencilTuning& tuning) {
    std::uint32_t widest = 1;
    for (std::uint32_t i = 0; i < nest_.operands; ++i) widest = std::max(widest, walked_.element_bytes(i));
    std::fill_n(facts_.box.begin(), facts_.rank, 1U);
    const bool alone = nest_.shape[facts_.column] == 1;  // a tile is a single row
    const std::uint64_t columns = (alone ? row_bytes_alone : tuning.row_bytes) / widest;
    std::uint32_t& along = facts_.box[row()];
    set_columns(std::min<std::uint64_t>(columns, nest_.shape[row()]));
    // A single row consists of whole boxes.
    if (alone && along > max_box) {
      std::uint64_t halo = 0;
      std::uint64_t widest_box = max_box;
      for (std::uint32_t i = 0; i < facts_.sources; ++i) {
        const StencilSource& source = facts_.source[i];
        widest_box = std::max<std::uint64_t>(widest_box, std::uint64_t{max_box} * source.unit);
        const std::uint32_t unit = 16 / size_of(source.element_type());
        halo = std::max(halo, round_up(source.before[row()], unit) + round_up(source.after[row()], unit));
      }
      const std::uint64_t whole = round_up(along, widest_box);
      if (halo < whole) along = static_cast<std::uint32_t>((whole - halo) / 16 * 16);
    }
    // With short rows, a tile has more rows.
    const std::uint64_t rows = std::max<std::uint64_t>(
        tuning.rows, std::uint64_t{tuning.rows} * tuning.row_bytes / widest / along / 2);
    facts_.strip = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(tuning.strip, std::bit_floor(nest_.shape[facts_.column])));
    set_rows(std::min<std::uint64_t>({rows, nest_.shape[facts_.column], max_box / 2}));
    choose_march();
  }

  /// Sets the columns of the tile, rounded up so that tiles begin at multiples of a chunk, and of 16 bytes in
  /// every source.
  void set_columns(std::uint64_t columns) {
    std::uint32_t narrowest = size_of(facts_.element_type());
    for (std::uint32_t i = 0; i < facts_.sources; ++i)
      narrowest = std::min(narrowest, size_of(facts_.source[i].element_type()));
    facts_.box[row()] = static_cast<std::uint32_t>(
        round_up(std::max<std::uint64_t>(columns, 1), std::max(facts_.chunk, bulk_bytes / narrowest)));
  }

  /// Halves the columns of the tile. Returns false if that is impossible.
  bool halve_columns() {
    const std::uint32_t before = facts_.box[row()];
    set_columns(before / 2);
    return facts_.box[row()] < before;
  }

  void set_rows(std::uint64_t rows) {
    facts_.box[facts_.column] =
        static_cast<std::uint32_t>(round_up(std::max<std::uint64_t>(rows, 1), facts_.strip));
  }

  void choose_march() {
    facts_.march = facts_.plane;
    if (facts_.plane < facts_.rank) return;
    facts_.march = nest_.shape[facts_.column] == 1 ? row() : facts_.column;
    const TileCounts counts = stencil_tiles(facts_, nest_);
    if (counts[facts_.march] >= few_tiles) return;
    for (std::uint32_t d = 0; d < facts_.rank; ++d) {
      if (counts[d] > counts[facts_.march]) facts_.march = d;
    }
  }

  [[nodiscard]] bool fits(std::uint64_t bytes) const {
    return shared_bytes(facts_) <= bytes && stage_of(facts_).bytes <= max_transaction_bytes;
  }

  /// Removes a stage, or else shrinks the tile. Returns false if that is impossible.
  bool shrink_tile() {
    std::uint32_t& rows = facts_.box[facts_.column];
    const std::uint32_t along = facts_.box[row()];
    if (facts_.stages > facts_.window_planes()) {
      --facts_.stages;
      return true;
    }
    if (along * facts_.element_bytes > min_row_bytes && along >= rows && halve_columns()) return true;
    if (rows == 1) return halve_columns();
    facts_.strip = std::max(facts_.strip / 2, 1U);
    set_rows(rows / 2);
    return true;
  }

  /// Whether the copy engine can load all sources. Shrinks the tile if its boxes are too large.
  bool fits_engine() {
    if (facts_.sources > max_engine_sources) return false;
    for (;;) {
      const auto has_map = [&](std::uint32_t i) {
        return stencil_map(facts_, walked_, nest_, i).has_value();
      };
      std::uint32_t i = 0;
      while (i < facts_.sources && has_map(i)) ++i;
      if (i == facts_.sources) return true;
      const StencilImage image = stage_of(facts_).image[i];
      const std::uint32_t rows = facts_.box[facts_.column];
      if (image.parts > 1 && image.bytes != image.pitch) {
        if (!halve_columns()) return false;
      } else if (image.box[facts_.column] > max_box && rows > facts_.strip) {
        set_rows(rows / 2);
      } else {
        return false;
      }
    }
  }

  /// Shrinks tiles while there are fewer of them than SMs.
  void spread_work() {
    for (;;) {
      std::uint32_t& rows = facts_.box[facts_.column];
      const std::uint64_t tiles = product(stencil_tiles(facts_, nest_), facts_.rank);
      if (tiles >= walked_.sm_count) return;
      if (rows > 2 * facts_.strip) {
        set_rows(rows / 2);
      } else if (facts_.strip > 1) {
        facts_.strip /= 2;
      } else {
        return;
      }
    }
  }

  [[nodiscard]] std::uint32_t threads() const {
    const std::uint64_t strips =
        std::uint64_t{facts_.box[row()] / facts_.chunk} * (facts_.box[facts_.column] / facts_.strip);
    const std::uint64_t most =
        strips > std::uint64_t{2} * wanted_threads ? wanted_threads : max_stencil_threads;
    return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(
        round_up(strips, warp_lanes), warp_lanes, std::min<std::uint64_t>(most, max_stencil_threads)));
  }

  const CanonicalNest& nest_;
  Problem walked_;  ///< the problem with `nest_` as its nest
  StencilFacts facts_;
};

}  // namespace

CanonicalNest stencil_nest(const Problem& problem) {
  const StencilProblem& stencil = problem.as<StencilProblem>();
  CanonicalNest nest = problem.nest;
  std::uint32_t added = 0;
  std::array<std::uint32_t, max_stencil_dims> dropped{};
  for (std::uint32_t k = 0; k < stencil.calls.offsets; ++k) {
    if (nest.dimension_of[stencil.dim[k]] == problem.nest.rank) dropped[added++] = stencil.dim[k];
  }
  const std::uint32_t units = std::max(added, nest.rank < min_rank ? min_rank - nest.rank : 0);
  const std::uint32_t rank = problem.nest.rank + units;
  nest.rank = rank;
  nest.shape.fill(0);
  std::fill_n(nest.shape.begin(), units, 1U);
  std::copy_n(problem.nest.shape.begin(), problem.nest.rank, nest.shape.begin() + units);
  for (std::uint32_t i = 0; i < nest.operands; ++i) {
    nest.operand[i].strides.fill(0);
    std::copy_n(problem.nest.operand[i].strides.begin(), problem.nest.rank,
                nest.operand[i].strides.begin() + units);
  }
  for (std::uint32_t d = 0; d < nest.view_rank; ++d) {
    std::uint32_t& mapped = nest.dimension_of[d];
    mapped = mapped == problem.nest.rank ? rank : mapped + units;
  }
  for (std::uint32_t k = 0; k < added; ++k) nest.dimension_of[dropped[k]] = k;
  return nest;
}

std::optional<StencilFacts> plan_stencil(const Problem& problem, const CanonicalNest& nest,
                                         const StencilTuning& tuning) {
  return StencilPlanner(problem, nest).plan(tuning);
}

TMAJIT_END
