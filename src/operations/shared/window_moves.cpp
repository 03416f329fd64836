#include "operations/shared/window_moves.hpp"

#include "operations/shared/make.hpp"
#include "spec/counted.hpp"
#include "spec/memory_rules.hpp"
#include "spec/saturate.hpp"

#include <algorithm>
#include <utility>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

TMAJIT_BEGIN

WindowGeometry geometry_of(const Windows& windows, const Tensor& images) {
  const auto from = extents(images.view, "the source");
  if (from.size() < 3 || from.size() > max_window_dims + 2) {
    refuse(
        "the source has {}; windows are those of images [images, extents…, channels], of 3 to {} dimensions",
        counted(from.size(), "dimension"), max_window_dims + 2);
  }
  WindowGeometry geometry;
  const WindowMistake mistake = read_windows(windows, from.subspan(1, from.size() - 2), geometry);
  if (!mistake.rule.empty()) {
    refuse(sentence(mistake.subject, mistake.found, mistake.need, mistake.legal));
  }
  return geometry;
}

Tensor separated(const Tensor& destination, const std::vector<std::uint64_t>& shape,
                 std::string_view joined) {
  if (destination.view.elements() != sat_product(shape)) {
    refuse(
        "the destination has shape {}, but the result has shape {}; legal is that shape, or one that joins "
        "dimensions of it, such as {}",
        fmt::join(shape_of(destination), "x"), fmt::join(shape, "x"), joined);
  }
  return reshaped(destination, shape);
}

WindowMistake shape_mistake(std::string_view subject, const TensorView& view,
                            const std::vector<std::uint64_t>& want, std::string_view dimensions) {
  if (std::ranges::equal(extents(view), want)) return {};
  return {.rule = "view.shape",
          .subject = fmt::format("shape of {}", subject),
          .found = shape_text(extents(view)),
          .need = fmt::format("{}: {}", shape_text(want), dimensions),
          .legal = "a reshaped tensor"};
}

WindowMistake read_move_windows(const Move& move, const Windows& windows, WindowGeometry& geometry) {
  const auto from = extents(move.sources.front().view);
  if (from.size() < 3) {
    return {.rule = "windows.rank",
            .subject = "images",
            .found = counted(from.size(), "dimension"),
            .need = "3 to 5 dimensions: images, one to three of an image, channels",
            .legal = "a reshaped source"};
  }
  return read_windows(windows, from.subspan(1, from.size() - 2), geometry);
}

void add(MoveRules& rules, WindowMistake mistake) {
  if (mistake.rule.empty()) return;
  std::string subject = mistake.subject;
  if (constexpr std::string_view own = "the destination"; subject.ends_with(own)) {
    subject.replace(subject.size() - own.size(), own.size(), rules.destination());
  } else {
    subject += fmt::format(" (to {})", rules.destination());
  }
  rules.add(mistake.rule, std::move(subject), std::move(mistake.found), std::move(mistake.need),
            std::move(mistake.legal));
}

bool check_count(MoveRules& rules, std::size_t count) {
  const std::size_t found = rules.move().sources.size();
  if (found == count) return true;
  add(rules, {.rule = "windows.sources",
              .subject = "sources of the windows",
              .found = counted(found, "source"),
              .need = count == 1 ? "one source, the images" : "two sources, the images and the filter",
              .legal = "im2col of images, or convolution of images and a filter"});
  return false;
}

TMAJIT_END
