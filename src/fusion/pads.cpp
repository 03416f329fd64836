#include "fusion/fused_body.hpp"
#include "operations/shared/make.hpp"

#include <tmajit/tile_options.hpp>

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

/// A double as an expression. A map converts it to the destination's type as a pad converts its value.
std::string number_text(double value) {
  if (std::isnan(value)) return "NAN";
  if (std::isinf(value)) return value < 0 ? "-INFINITY" : "INFINITY";
  return fmt::format("{:#}", value);
}

/// Extents of a dimension of a pad's destination: before the source, of the source, and after it.
struct Widths {
  std::uint64_t before = 0;
  std::uint64_t inside = 0;
  std::uint64_t after = 0;
};

/// The extents of dimension d; nothing if the pad crops its source.
std::optional<Widths> widths_of(const Move& pad, std::uint32_t d) {
  const std::int64_t first = std::get<Padding>(pad.body).before[d];
  const std::uint64_t inside = pad.sources.front().view.shape[d];
  const std::uint64_t whole = pad.destination.view.shape[d];
  if (first < 0 || inside > whole || static_cast<std::uint64_t>(first) > whole - inside) return std::nullopt;
  const auto before = static_cast<std::uint64_t>(first);
  return Widths{before, inside, whole - inside - before};
}

/// The two sides of a border before and after the source along dimension `axis`. Sides of the same width are
/// one tensor with a further dimension.
std::vector<Tensor> sides(const Tensor& whole, std::uint32_t axis, const Widths& widths) {
  const Tensor first = part_of(whole, axis, 0, widths.before);
  if (widths.before == widths.after && whole.view.rank < max_view_rank) {
    Tensor both = first;
    both.view.shape[both.view.rank] = 2;
    both.view.strides[both.view.rank] =
        whole.view.strides[axis] * static_cast<std::int64_t>(widths.before + widths.inside);
    ++both.view.rank;
    return {both};
  }
  return {first, part_of(whole, axis, widths.before + widths.inside, widths.after)};
}

}  // namespace

std::optional<Tensor> interior_of(const Move& pad) {
  Tensor interior = pad.destination;
  for (std::uint32_t d = 0; d < pad.destination.view.rank; ++d) {
    const std::optional<Widths> widths = widths_of(pad, d);
    if (!widths) return std::nullopt;
    interior = part_of(interior, d, widths->before, widths->inside);
  }
  return interior;
}

std::vector<Move> border_of(const Move& pad) {
  const Map fill{number_text(std::get<Padding>(pad.body).value)};
  std::vector<Move> border;
  Tensor remaining = pad.destination;
  for (std::uint32_t d = 0; d < pad.destination.view.rank; ++d) {
    const Widths widths = widths_of(pad, d).value();
    for (const Tensor& side : sides(remaining, d, widths))
      if (side.view.elements() > 0) border.push_back({.destination = side, .sources = {}, .body = fill});
    remaining = part_of(remaining, d, widths.before, widths.inside);
  }
  return border;
}

TMAJIT_END
