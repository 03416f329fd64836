#include "plan/check_windows.hpp"

#include "spec/memory_rules.hpp"

#include <algorithm>
#include <span>
#include <vector>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

std::span<const std::uint64_t> extents(const TensorView& view) {
  return std::span(view.shape).first(view.rank);
}

WindowMistake shape_mistake(std::string_view subject, const TensorView& view,
                            const std::vector<std::uint64_t>& want, std::string_view what) {
  if (std::ranges::equal(extents(view), want)) return {};
  return {.rule = "view.shape",
          .subject = fmt::format("windows: shape of {}", subject),
          .found = shape_text(extents(view)),
          .need = fmt::format("{}: {}", shape_text(want), what),
          .legal = "a reshaped tensor"};
}

/// Bits are moved, or f32 computed.
WindowMistake type_mistake(const Move& move) {
  const ElementType to = move.destination.view.type;
  if (move.sources.size() == 1) {
    const ElementType from = move.sources.front().view.type;
    if (size_of(from) == size_of(to)) return {};
    return {.rule = "view.type",
            .subject = "windows: types",
            .found = fmt::format("{} from {}", name(to), name(from)),
            .need = "types of one size, since bits are moved as they are",
            .legal = "a cast before or after"};
  }
  const auto is_f32 = [](const Tensor& tensor) { return tensor.view.type == ElementType::f32; };
  if (is_f32(move.destination) && std::ranges::all_of(move.sources, is_f32)) return {};
  return {.rule = "view.type",
          .subject = "windows: types",
          .found = fmt::format("{} from {} and {}", name(to), name(move.sources[0].view.type),
                               name(move.sources[1].view.type)),
          .need = "f32, in which convolutions are computed",
          .legal = "casts before and after"};
}

}  // namespace

WindowMistake mistake_of_windows(const Move& move) {
  const std::size_t count = move.sources.size();
  if (!move.expression.empty() || move.padding || move.stencil || move.combine || count < 1 || count > 2) {
    return {.rule = "windows.alone",
            .subject = "windows",
            .found = fmt::format(
                "an expression, a padding, a stencil, a combination or {} sources beside them", count),
            .need = "images and, of a convolution, a filter",
            .legal = "several moves, one after the other"};
  }
  const auto from = extents(move.sources.front().view);
  if (from.size() < 3) {
    return {.rule = "windows.rank",
            .subject = "windows: images",
            .found = fmt::format("{} dimensions", from.size()),
            .need = "images, one to three dimensions of an image, channels",
            .legal = "a reshaped source"};
  }
  WindowGeometry geometry;
  WindowMistake mistake = read_windows(*move.windows, from.subspan(1, from.size() - 2), geometry);
  if (mistake.rule.empty()) mistake = type_mistake(move);
  if (!mistake.rule.empty()) return mistake;
  if (count == 1) {
    return shape_mistake("the destination", move.destination.view,
                         windows_shape(geometry, from.front(), from.back()),
                         "images, windows, taps, channels");
  }
  const TensorView& filter = move.sources[1].view;
  const std::uint64_t outputs = filter.rank > 0 ? filter.shape[0] : 0;
  std::vector<std::uint64_t> taps{outputs};
  taps.insert(taps.end(), geometry.filter.begin(), geometry.filter.begin() + geometry.dims);
  taps.push_back(from.back());
  mistake = shape_mistake("the filter", filter, taps, "outputs, taps, channels");
  if (!mistake.rule.empty()) return mistake;
  return shape_mistake("the destination", move.destination.view,
                       outputs_shape(geometry, from.front(), outputs), "images, windows, outputs");
}

TMAJIT_END
