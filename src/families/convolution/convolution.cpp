#include "families/list.hpp"
#include "families/shared/image_map.hpp"
#include "families/shared/window_parameters.hpp"
#include "spec/limits.hpp"
#include "spec/saturate.hpp"

#include <tmajit/bank_conflicts.hpp>
#include <tmajit/validate.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <limits>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

// A step of a kernel covers one tap of the filter and some channels.
constexpr std::uint32_t base_alignment = 1024;  // bytes that aligned_shared_memory() may skip
constexpr std::uint32_t max_channels = 32;      // a step's: 128 bytes, the widest swizzle
constexpr std::uint32_t min_channels = 4;       // a step's: 16 bytes
// Limit of the windows, and of the products in a sum. Kernels count both in 31 bits, and may count up to one
// tile beyond the end.
constexpr std::uint64_t max_counted_windows = (1ULL << 31) - 1024;

/// A tile of windows by outputs, and the part of it that a thread computes.
struct ConvolutionTile {
  std::uint32_t windows, outputs;
  std::uint32_t thread_windows, thread_outputs;
  [[nodiscard]] constexpr std::uint32_t computing_threads() const {
    return windows / thread_windows * (outputs / thread_outputs);
  }
};
constexpr ConvolutionTile convolution_tiles[] = {
    {128, 128, 8, 8}, {128, 64, 8, 4}, {64, 64, 4, 4}, {64, 32, 4, 2}};
constexpr std::uint32_t stage_counts[] = {4, 3};

/// The facts that a `convolution` kernel is specialised for.
struct ConvolutionFacts {
  std::uint32_t dimensions = 1;  ///< dimensions of an image
  ConvolutionTile tile{};
  std::uint32_t channels = min_channels;  ///< channels of a step
  std::uint32_t stages = 0;               ///< steps through the copy engine in flight; 0: threads load

  [[nodiscard]] std::uint32_t threads() const {
    return tile.computing_threads() + (stages > 0 ? warp_lanes : 0);
  }
  [[nodiscard]] std::uint32_t step_bytes() const { return 4 * channels * (tile.windows + tile.outputs); }
  [[nodiscard]] Swizzle swizzle() const {
    return static_cast<Swizzle>(std::countr_zero(channels / min_channels));
  }
};

struct ConvolutionChoice {
  std::uint32_t windows = 0;   ///< windows of a tile
  std::uint32_t outputs = 0;   ///< outputs of a tile
  std::uint32_t channels = 0;  ///< channels of a step
  std::uint32_t threads = 0;
  std::uint32_t stages = 0;  ///< steps in flight; 0: threads load
  static constexpr auto members() {
    return std::array{choice_side("windows", &ConvolutionChoice::windows),
                      choice_side("outputs", &ConvolutionChoice::outputs),
                      choice_side("channels", &ConvolutionChoice::channels),
                      choice_number("threads", &ConvolutionChoice::threads),
                      choice_number("stages", &ConvolutionChoice::stages)};
  }
  [[nodiscard]] std::string text() const {
    return fmt::format("{} windows by {} outputs, {} channels at a time, {} threads, {}", windows, outputs,
                       channels, threads,
                       stages == 0 ? "which load" : fmt::format("{} steps in flight", stages));
  }
};

/// The tensor map of the images, in mode im2col.
std::optional<TensorMapSpec> images_of(const ConvolutionFacts& facts, const Problem& problem) {
  return image_map(*problem.windows(), problem.address[1],
                   {.type = ElementType::f32,
                    .channels = facts.channels,
                    .windows = facts.tile.windows,
                    .swizzle = facts.swizzle()});
}

/// The tensor map of the filter as [outputs, taps, channels].
std::optional<TensorMapSpec> filter_of(const ConvolutionFacts& facts, const Problem& problem) {
  const TensorView& filter = problem.windows()->filter;
  const std::uint32_t inner = filter.rank - 1;
  const auto tap = joined_stride(filter, 1, problem.windows()->geometry.dims);
  if (!tap || (filter.shape[inner] > 1 && filter.strides[inner] != 1)) return std::nullopt;
  const auto output_bytes = map_stride(filter.strides[0] * 4, filter.shape[0] > 1);
  const auto tap_bytes = map_stride(*tap * 4, problem.windows()->taps() > 1);
  if (!output_bytes || !tap_bytes) return std::nullopt;
  TensorMapSpec map{
      .type = ElementType::f32, .rank = 3, .swizzle = facts.swizzle(), .l2_promotion = L2Promotion::b256};
  map.shape = {filter.shape[0], problem.windows()->taps(), filter.shape[inner]};
  map.strides = {*output_bytes, *tap_bytes, 4};
  map.box = {facts.tile.outputs, 1, facts.channels};
  map.element_strides = {1, 1, 1};
  if (!validate(map, problem.address[2]).empty()) return std::nullopt;
  return map;
}

/// Cycles that an SM needs for one channel of one tap, of all its tiles. Each cycle it starts 4 multiply-adds
/// or 1 load from shared memory of a whole warp; the slower of the two counts.
std::uint64_t cycles_per_channel(const ConvolutionTile& tile, const Problem& problem) {
  const std::uint64_t ctas = sat_mul(ceil_div(problem.windows()->windows(), tile.windows),
                                     ceil_div(problem.windows()->outputs(), tile.outputs));
  const std::uint64_t warps = tile.computing_threads() / warp_lanes;
  const std::uint64_t fma = warps * tile.thread_windows * tile.thread_outputs / 4;
  const std::uint64_t loads = warps * (tile.thread_windows + tile.thread_outputs);
  return sat_mul(ceil_div(ctas, problem.sm_count), std::max(fma, loads));
}

template <std::uint32_t dimensions>
params::Convolution<dimensions> convolution_of(const Problem& problem) {
  const auto& [geometry, destination, images, filter] = *problem.windows();
  const auto step = [](const TensorView& view, std::uint32_t d) { return view.strides[d] * std::int64_t{4}; };
  params::Convolution<dimensions> result{};
  set_address(result.destination, problem.address[0]);
  set_address(result.images, problem.address[1]);
  set_address(result.filter, problem.address[2]);
  for (std::uint32_t k = 0; k <= dimensions; ++k) {
    result.window[k] = step(destination, dimensions - k);
    result.image_pixel[k] = step(images, dimensions - k);
  }
  result.output = step(destination, dimensions + 1);
  result.image_channel = step(images, dimensions + 1);
  result.filter_output = step(filter, 0);
  result.filter_channel = step(filter, dimensions + 1);
  for (std::uint32_t k = 0; k < dimensions; ++k) {
    result.filter_tap[k] = step(filter, dimensions - k);
    result.extent[k] = static_cast<std::uint32_t>(geometry.extent[dimensions - 1 - k]);
  }
  result.taps = static_cast<std::uint32_t>(problem.windows()->taps());
  result.channels = static_cast<std::uint32_t>(problem.windows()->channels());
  result.outputs = static_cast<std::uint32_t>(problem.windows()->outputs());
  return result;
}

class ConvolutionFamily final : public TypedFamily<ConvolutionFacts, ConvolutionChoice> {
 public:
  ConvolutionFamily()
      : TypedFamily({.name = "convolution",
                     .summary = "computes the forward convolution of images and a filter, in f32",
                     .operations = {"convolution"},
                     .max_inputs = 2}) {}

  void add_candidates(const Problem& problem, std::vector<Candidate>& candidates) const override {
    require_countable(problem);
    const std::uint32_t dimensions = problem.windows()->geometry.dims;
    const std::uint64_t channels = std::bit_ceil(problem.windows()->channels());
    const std::size_t first = candidates.size();
    std::size_t best = first;
    std::uint64_t fewest_cycles = std::numeric_limits<std::uint64_t>::max();
    for (const ConvolutionTile& tile : convolution_tiles) {
      for (const std::uint32_t stages : stage_counts) {
        ConvolutionFacts facts{.dimensions = dimensions,
                               .tile = tile,
                               .channels = static_cast<std::uint32_t>(
                                   std::clamp<std::uint64_t>(channels, min_channels, max_channels)),
                               .stages = stages};
        if (!images_of(facts, problem) || !filter_of(facts, problem)) facts.stages = 0;
        if (const std::uint64_t cycles = cycles_per_channel(tile, problem); cycles < fewest_cycles) {
          fewest_cycles = cycles;
          best = candidates.size();
        }
        const ConvolutionChoice choice{.windows = tile.windows,
                                       .outputs = tile.outputs,
                                       .channels = facts.channels,
                                       .threads = facts.threads(),
                                       .stages = facts.stages};
        add_once(candidates, candidate(facts, choice, problem.nest), false);
      }
    }
    candidates[best].default_choice = DefaultChoice::yes;
    candidates[best].common = true;
  }

  [[nodiscard]] Footprint footprint(const Candidate& candidate, const Problem& problem) const override {
    const auto facts = facts_of<ConvolutionFacts>(candidate);
    Footprint footprint{.box = {facts.tile.windows, facts.tile.outputs},
                        .threads = facts.threads(),
                        // The thread's sums, and about 80 registers for operands and addresses.
                        .registers = facts.tile.thread_windows * facts.tile.thread_outputs + 80,
                        .bytes_in_flight = std::uint64_t{std::max(facts.stages, 1U)} * facts.step_bytes(),
                        .by_engine = facts.stages > 0};
    if (facts.stages > 0) {
      footprint.dynamic_shared_bytes = facts.stages * facts.step_bytes() + base_alignment;
      footprint.static_shared_bytes = 16 * facts.stages;  // two mbarriers for each stage
    } else {
      footprint.static_shared_bytes = facts.step_bytes();
    }
    footprint.rounds = sat_cast<std::uint32_t>(
        sat_mul(problem.windows()->taps(), ceil_div(problem.windows()->channels(), facts.channels)));
    return footprint;
  }

  [[nodiscard]] std::string why(const Candidate& candidate, const Problem& /*problem*/) const override {
    return facts_of<ConvolutionFacts>(candidate).stages > 0
               ? "The copy engine gathers the pixels of windows in im2col mode, straight into shared memory; "
                 "threads "
                 "compute from there."
               : "No tensor maps describe images and filter: threads load both into shared memory.";
  }

  void bind(const Candidate& candidate, const Problem& problem, ParameterBlock& parameters,
            LaunchShape& shape) const override {
    const auto facts = facts_of<ConvolutionFacts>(candidate);
    if (facts.stages > 0) {
      parameters.add_map("images", 1, images_of(facts, problem).value(), problem.address[1]);
      parameters.add_map("filter", 2, filter_of(facts, problem).value(), problem.address[2]);
    }
    with_image_dimensions(facts.dimensions, [&](auto dimensions) {
      parameters.add({"params::Windows", dimensions}, "windows", windows_of<dimensions>(*problem.windows()));
      using Convolution = params::Convolution<dimensions>;
      const std::uint32_t at =
          parameters.add({"params::Convolution", dimensions}, "c", convolution_of<dimensions>(problem));
      parameters.add_address(at + offsetof(Convolution, destination), 0);
      parameters.add_address(at + offsetof(Convolution, images), 1);
      parameters.add_address(at + offsetof(Convolution, filter), 2);
    });
    shape.grid = grid_of(ceil_div(problem.windows()->windows(), facts.tile.windows));
    shape.grid[1] = static_cast<std::uint32_t>(ceil_div(problem.windows()->outputs(), facts.tile.outputs));
  }

  [[nodiscard]] SourceParts source(const Candidate& candidate,
                                   std::string_view /*expression*/) const override {
    const auto facts = facts_of<ConvolutionFacts>(candidate);
    SourceParts parts{
        .why = "Pixels and filter are multiplied from shared memory: the matrix of windows is never stored.",
        .call = "convolution(windows, c)"};
    parts.facts = number_fact("dimensions", facts.dimensions, "of an image");
    parts.facts += number_fact("tile_windows", facts.tile.windows, "of a CTA");
    parts.facts += number_fact("tile_outputs", facts.tile.outputs);
    parts.facts += number_fact("thread_windows", facts.tile.thread_windows, "of a thread");
    parts.facts += number_fact("thread_outputs", facts.tile.thread_outputs);
    parts.facts += number_fact("channels", facts.channels, "of a step");
    parts.set("engine", facts.stages != 0);  // the copy engine loads windows
    if (facts.stages == 0) return parts;
    parts.map_rank = facts.dimensions + 2;
    parts.set("rank3");
    parts.facts += number_fact("stages", facts.stages, "steps in flight");
    parts.call = "convolution(images, filter, windows, c)";
    return parts;
  }

  void classify(const Candidate& /*candidate*/, const Problem& problem, ShapeClass& shape) const override {
    shape.length = sat_mul(problem.windows()->taps(), problem.windows()->channels());
  }

 private:
  static void require_countable(const Problem& problem) {
    const WindowProblem& windows = *problem.windows();
    const std::uint64_t sums = sat_mul(windows.taps(), windows.channels());
    constexpr std::uint64_t max_outputs = 65535ULL * 32;  // 65535 CTAs in dimension y, of 32 outputs or more
    if (windows.windows() < max_counted_windows && sums < max_counted_windows &&
        windows.outputs() <= max_outputs)
      return;
    throw Error(
        ErrorCode::unsupported,
        fmt::format("{} windows, {} outputs, sums of {} products: kernels count windows and products in 31 "
                    "bits, and outputs up to {}; legal are several convolutions of some of them",
                    windows.windows(), windows.outputs(), sums, max_outputs));
  }
};

}  // namespace

const Family& convolution_family() {
  static const ConvolutionFamily family;
  return family;
}

TMAJIT_END
