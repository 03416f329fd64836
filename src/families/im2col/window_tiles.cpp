#include "families/im2col/window_tiles.hpp"

#include "families/shared/image_map.hpp"
#include "families/shared/window_parameters.hpp"
#include "spec/limits.hpp"
#include "spec/saturate.hpp"

#include <tmajit/validate.hpp>

#include <algorithm>

TMAJIT_BEGIN
namespace {

constexpr std::uint32_t window_word_bytes = 8;   // elements of the maps: the widest that exist
constexpr std::uint64_t window_ctas_per_sm = 4;  // wanted CTAs: if tiles are fewer, CTAs share their steps

/// The words of a pixel's channels, if these are contiguous and a multiple of 16 bytes; else 0.
std::uint64_t channel_words(const TensorView& view, std::uint32_t element_bytes) {
  const std::uint32_t last = view.rank - 1;
  const std::uint64_t bytes = sat_mul(view.shape[last], element_bytes);
  const bool contiguous = view.shape[last] == 1 || view.strides[last] == 1;
  return contiguous && bytes % bulk_bytes == 0 ? bytes / window_word_bytes : 0;
}

/// The words of channels of a box: boxes cut the channels into as few equal parts as possible.
std::uint64_t box_channels(std::uint64_t words, std::uint32_t box_bytes) {
  const std::uint64_t most = std::min<std::uint64_t>(max_box, box_bytes / window_word_bytes);
  return std::max<std::uint64_t>(round_up(ceil_div(words, ceil_div(words, most)), 2), 2);
}

}  // namespace

WindowTile window_tile(const Problem& problem, const WindowTuning& tuning) {
  const WindowProblem& windows = *problem.windows();
  const std::uint64_t words =
      std::max<std::uint64_t>(sat_mul(windows.channels(), problem.element_bytes(1)) / window_word_bytes, 2);
  WindowTile tile{.stages = tuning.stages};
  tile.channels = static_cast<std::uint32_t>(box_channels(words, tuning.box_bytes));
  const std::uint64_t most =
      std::min<std::uint64_t>(max_box, tuning.box_bytes / (tile.channels * window_word_bytes));
  tile.windows = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(most, 1, windows.windows()));
  // Boxes begin at multiples of 128 bytes.
  while (tile.box_bytes() % 128 != 0) ++tile.windows;
  tile.tiles = ceil_div(windows.windows(), tile.windows);
  tile.steps = sat_mul(windows.taps(), ceil_div(words, tile.channels));
  const std::uint64_t wanted = std::uint64_t{problem.sm_count} * window_ctas_per_sm;
  const std::uint64_t shares = std::clamp<std::uint64_t>(ceil_div(wanted, tile.tiles), 1, tile.steps);
  tile.share = ceil_div(tile.steps, shares);
  return tile;
}

std::optional<TensorMapSpec> images_map(const Problem& problem, const WindowTile& tile) {
  if (channel_words(problem.windows()->images, problem.element_bytes(1)) == 0) return std::nullopt;
  return image_map(*problem.windows(), problem.address[1],
                   {.channels = tile.channels, .windows = tile.windows});
}

std::optional<TensorMapSpec> windows_map(const Problem& problem, const WindowTile& tile) {
  const WindowProblem& windows = *problem.windows();
  const std::uint32_t dims = windows.geometry.dims;
  const std::int64_t size = problem.element_bytes(0);
  const auto window = joined_stride(windows.destination, 0, dims + 1);
  const auto tap = joined_stride(windows.destination, dims + 1, dims);
  if (!window || !tap) return std::nullopt;
  const auto window_bytes = map_stride(*window * size, windows.windows() > 1);
  const auto tap_bytes = map_stride(*tap * size, windows.taps() > 1);
  if (!window_bytes || !tap_bytes) return std::nullopt;
  TensorMapSpec map{.type = ElementType::u64, .rank = 3};
  map.shape = {windows.windows(), windows.taps(),
               channel_words(windows.destination, problem.element_bytes(0))};
  map.strides = {*window_bytes, *tap_bytes, window_word_bytes};
  map.box = {tile.windows, 1, tile.channels};
  map.element_strides = {1, 1, 1};
  if (!validate(map, problem.address[0]).empty()) return std::nullopt;
  return map;
}

TMAJIT_END
