#include "families/im2col/window_tiles.hpp"
#include "families/list.hpp"
#include "families/shared/window_parameters.hpp"
#include "spec/limits.hpp"
#include "spec/saturate.hpp"

#include <tmajit/bank_conflicts.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <utility>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

constexpr std::uint32_t pixel_box_alignment = 1024;     // bytes that aligned_shared_memory() may skip
constexpr std::uint32_t max_shared_bytes = 132 * 1024;  // shared memory of a CTA, in any launch
constexpr std::uint64_t max_im2col_count = 1ULL << 31;  // kernels count windows, vectors and boxes in 31 bits
constexpr std::uint64_t vectors_of_cta = 8192;          // approximate, if threads move vectors
constexpr std::uint32_t thread_count = 256;
constexpr std::uint32_t turns_in_flight = 4;  // vectors of a thread in flight

/// The first is as good as any. The rest are candidates for measurements.
constexpr WindowTuning window_tunings[] = {{16384, 4}, {16384, 6}, {32768, 3}, {32768, 4},
                                           {8192, 6},  {8192, 4},  {4096, 8}};

/// The facts that an `im2col` kernel is specialised for.
struct Im2colFacts {
  std::uint32_t dimensions = 1;  ///< dimensions of an image
  std::uint32_t stages = 0;      ///< boxes in flight through the copy engine; 0: threads move vectors
  std::uint32_t vector = 0;      ///< bytes that a thread moves at a time; 0: the copy engine moves
};

struct Im2colChoice {
  std::uint32_t windows = 0;       ///< windows of a CTA
  std::uint32_t box_bytes = 0;     ///< wanted bytes of a box; 0: threads move vectors
  std::uint32_t words = 0;         ///< channels of a box, in words of 8 bytes; 0: threads move vectors
  std::uint32_t stages = 0;        ///< boxes in flight; 0: threads move vectors
  std::uint32_t vector_bytes = 0;  ///< bytes that a thread moves at a time
  static constexpr auto members() {
    return std::array{
        choice_side("windows", &Im2colChoice::windows), choice_side("box_bytes", &Im2colChoice::box_bytes),
        choice_side("words", &Im2colChoice::words), choice_number("stages", &Im2colChoice::stages),
        choice_number("vector_bytes", &Im2colChoice::vector_bytes)};
  }
  [[nodiscard]] std::string text() const {
    return stages == 0
               ? fmt::format("{} windows by {} threads, {} bytes at a time", windows, thread_count,
                             vector_bytes)
               : fmt::format("{} windows of {} words of 8 bytes, {} in flight", windows, words, stages);
  }
};
using Im2colBase = TypedFamily<Im2colFacts, Im2colChoice>;

/// The tile of a launch whose boxes the copy engine moves.
WindowTile tile_of(const Candidate& candidate, const Problem& problem) {
  const Im2colChoice& choice = Im2colBase::data(candidate).choice;
  return window_tile(problem, {choice.box_bytes, choice.stages});
}

/// Bytes of the widest vector such that all vectors of channels are aligned, in both tensors.
std::uint32_t store_vector_bytes(const Problem& problem) {
  const WindowProblem& windows = *problem.windows();
  const std::uint32_t size = problem.element_bytes(0);
  // The lowest bit of all addresses, sizes and strides is their common alignment.
  std::uint64_t bits = 16 | problem.address[0] | problem.address[1] | windows.channels() * size;
  for (const TensorView* view : {&windows.destination, &windows.images}) {
    const std::uint32_t last = view->rank - 1;
    if (view->shape[last] > 1 && view->strides[last] != 1) return size;
    for (std::uint32_t d = 0; d < last; ++d)
      if (view->shape[d] > 1) bits |= static_cast<std::uint64_t>(view->strides[d]) * size;
  }
  return std::max(1U << std::countr_zero(bits), size);
}

/// The number of vectors of a window.
std::uint64_t row_vectors(const Problem& problem, std::uint32_t vector) {
  const WindowProblem& windows = *problem.windows();
  return sat_mul(windows.taps(), windows.channels() * problem.element_bytes(0) / vector);
}

/// The number of windows of a CTA whose threads move vectors.
std::uint64_t windows_of_cta(const Problem& problem, std::uint32_t vector) {
  const std::uint64_t most = std::max<std::uint64_t>(vectors_of_cta / row_vectors(problem, vector), 1);
  return std::min(most, problem.windows()->windows());
}

void require_countable(const Problem& problem, std::uint32_t vector) {
  const std::uint64_t windows = problem.windows()->windows();
  if (windows < max_im2col_count && row_vectors(problem, vector) < max_im2col_count) return;
  throw Error(
      ErrorCode::unsupported,
      fmt::format("{} windows of {} elements: kernels count both in 31 bits; legal are fewer than 2^31 of "
                  "each, in several operations on some of the images or channels",
                  windows, sat_mul(problem.windows()->taps(), problem.windows()->channels())));
}

template <std::uint32_t dimensions>
params::WindowViews<dimensions> views_of(const Problem& problem, std::uint32_t vector) {
  const auto& [geometry, destination, images, filter] = *problem.windows();
  const std::uint32_t size = problem.element_bytes(0);
  const auto step = [&](const TensorView& view, std::uint32_t d) {
    return view.strides[d] * static_cast<std::int64_t>(size);
  };
  params::WindowViews<dimensions> views{};
  set_address(views.destination, problem.address[0]);
  set_address(views.source, problem.address[1]);
  views.source_image = step(images, 0);
  views.image = step(destination, 0);
  const std::int64_t elements = vector / size;
  views.source_channel = step(images, dimensions + 1) * elements;
  views.channel = step(destination, 2 * dimensions + 1) * elements;
  for (std::uint32_t k = 0; k < dimensions; ++k) {
    const std::uint32_t d = dimensions - 1 - k;
    views.source_pixel[k] = step(images, d + 1);
    views.window[k] = step(destination, d + 1);
    views.tap[k] = step(destination, dimensions + d + 1);
    views.extent[k] = static_cast<std::uint32_t>(geometry.extent[d]);
  }
  views.vectors = make_divider<params::Divider>(problem.windows()->channels() * size / vector);
  views.share = static_cast<std::uint32_t>(windows_of_cta(problem, vector));
  return views;
}

class Im2colFamily final : public Im2colBase {
 public:
  Im2colFamily()
      : TypedFamily({.name = "im2col",
                     .summary = "moves the pixels of each window of a filter on images, side by side",
                     .operations = {"im2col"}}) {}

  void add_candidates(const Problem& problem, std::vector<Candidate>& candidates) const override {
    const std::uint32_t dimensions = problem.windows()->geometry.dims;
    const std::uint32_t vector = store_vector_bytes(problem);
    require_countable(problem, vector);
    const std::size_t first = candidates.size();
    for (const WindowTuning& tuning : window_tunings) {
      const WindowTile tile = window_tile(problem, tuning);
      const bool fits = tile.stages * tile.box_bytes() + pixel_box_alignment <= max_shared_bytes;
      const bool is_countable =
          tile.tiles < max_im2col_count && tile.steps < max_im2col_count && tile.shares() < 1U << 16;
      if (!fits || !is_countable || !images_map(problem, tile) || !windows_map(problem, tile)) continue;
      add_once(candidates,
               candidate({.dimensions = dimensions, .stages = tile.stages},
                         {.windows = tile.windows,
                          .box_bytes = tuning.box_bytes,
                          .words = tile.channels,
                          .stages = tile.stages},
                         problem.nest),
               candidates.size() == first);
    }
    add_once(candidates,
             candidate({.dimensions = dimensions, .vector = vector},
                       {.windows = static_cast<std::uint32_t>(windows_of_cta(problem, vector)),
                        .vector_bytes = vector},
                       problem.nest),
             candidates.size() == first);
    candidates[first].default_choice = DefaultChoice::yes;
  }

  [[nodiscard]] Footprint footprint(const Candidate& candidate, const Problem& problem) const override {
    const auto facts = facts_of<Im2colFacts>(candidate);
    if (facts.vector != 0) {
      const std::uint32_t windows = data(candidate).choice.windows;
      Footprint footprint{.threads = thread_count,
                          .tiles = ceil_div(problem.windows()->windows(), windows),
                          .bytes_in_flight = std::uint64_t{thread_count} * turns_in_flight * facts.vector};
      footprint.box = {windows, sat_cast<std::uint32_t>(problem.windows()->taps()),
                       sat_cast<std::uint32_t>(problem.windows()->channels())};
      // A load and a store for each vector.
      footprint.instructions = 2 * static_cast<double>(problem.bytes_written()) / facts.vector;
      return footprint;
    }
    const WindowTile tile = tile_of(candidate, problem);
    Footprint footprint{.tiles = sat_mul(tile.tiles, tile.steps),
                        .stages = tile.stages,
                        .tiles_per_cta = sat_cast<std::uint32_t>(ceil_div(tile.share, tile.stages)),
                        .dynamic_shared_bytes = tile.stages * tile.box_bytes() + pixel_box_alignment,
                        .max_dynamic_shared_bytes = max_shared_bytes,
                        .static_shared_bytes = 8 * tile.stages,  // an mbarrier for each box
                        .bytes_in_flight = std::uint64_t{tile.stages} * tile.box_bytes(),
                        .by_engine = true};
    footprint.box = {tile.windows, 1, tile.channels * 8 / problem.element_bytes(0)};
    return footprint;
  }

  [[nodiscard]] std::string why(const Candidate& candidate, const Problem& /*problem*/) const override {
    const auto facts = facts_of<Im2colFacts>(candidate);
    return facts.vector == 0
               ? "Tensor maps describe images and windows: the copy engine gathers the pixels of a tap in "
                 "im2col "
                 "mode, and stores them."
               : fmt::format("No tensor maps describe images and windows: threads move vectors of {} bytes.",
                             facts.vector);
  }

  void bind(const Candidate& candidate, const Problem& problem, ParameterBlock& parameters,
            LaunchShape& shape) const override {
    const auto facts = facts_of<Im2colFacts>(candidate);
    if (facts.vector == 0) {
      const WindowTile tile = tile_of(candidate, problem);
      parameters.add_map("destination", 0, windows_map(problem, tile).value(), problem.address[0]);
      parameters.add_map("source", 1, images_map(problem, tile).value(), problem.address[1]);
      with_image_dimensions(facts.dimensions, [&](auto dimensions) {
        parameters.add({"params::Windows", dimensions}, "windows",
                       windows_of<dimensions>(*problem.windows()));
      });
      parameters.add({"params::WindowTiles"}, "tiles",
                     params::WindowTiles{.windows = tile.windows,
                                         .channels = tile.channels,
                                         .bytes = tile.box_bytes(),
                                         .taps = static_cast<std::uint32_t>(problem.windows()->taps()),
                                         .steps = static_cast<std::uint32_t>(tile.steps),
                                         .share = static_cast<std::uint32_t>(tile.share)});
      shape.grid = grid_of(tile.tiles);
      shape.grid[1] = static_cast<std::uint32_t>(tile.shares());
      return;
    }
    with_image_dimensions(facts.dimensions, [&](auto dimensions) {
      parameters.add({"params::Windows", dimensions}, "windows", windows_of<dimensions>(*problem.windows()));
      using Views = params::WindowViews<dimensions>;
      const std::uint32_t at = parameters.add({"params::WindowViews", dimensions}, "views",
                                              views_of<dimensions>(problem, facts.vector));
      parameters.add_address(at + offsetof(Views, destination), 0);
      parameters.add_address(at + offsetof(Views, source), 1);
    });
    shape.grid = grid_of(ceil_div(problem.windows()->windows(), data(candidate).choice.windows));
  }

  [[nodiscard]] SourceParts source(const Candidate& candidate,
                                   std::string_view /*expression*/) const override {
    const auto facts = facts_of<Im2colFacts>(candidate);
    SourceParts parts{.facts = number_fact("dimensions", facts.dimensions, "of an image"),
                      .max_threads = facts.vector == 0 ? warp_lanes : thread_count};
    parts.set("engine", facts.vector == 0);  // the copy engine loads windows
    if (facts.vector == 0) {
      parts.why = "The copy engine gathers boxes and stores them again: no thread touches the data.";
      parts.map_rank = facts.dimensions + 2;
      parts.set("rank3");
      parts.facts += number_fact("stages", facts.stages, "boxes of a CTA in flight");
      parts.call = "im2col(destination, source, windows, tiles)";
      return parts;
    }
    parts.why = "Neighbouring threads move vectors that are neighbours in the destination.";
    parts.element_bytes = facts.vector;
    parts.facts += number_fact("threads", thread_count, "of a CTA");
    parts.facts += number_fact("vector", facts.vector, "bytes that a thread moves at a time");
    parts.call = "im2col(windows, views)";
    return parts;
  }

  void classify(const Candidate& /*candidate*/, const Problem& problem, ShapeClass& shape) const override {
    shape.length = problem.windows()->taps();
  }
};

}  // namespace

const Family& im2col_family() {
  static const Im2colFamily family;
  return family;
}

TMAJIT_END
