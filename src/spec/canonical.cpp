#include "spec/canonical.hpp"

#include "spec/counted.hpp"
#include "spec/saturate.hpp"

#include <tmajit/error.hpp>

#include <algorithm>
#include <cstdlib>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

TMAJIT_BEGIN
namespace {

[[noreturn]] void refuse(const std::string& what) {
  throw Error(ErrorCode::invalid_argument, what);
}

std::string extents_text(const TensorView& view) {
  return view.rank == 0
             ? std::string("a single element")
             : fmt::format("{}", fmt::join(view.shape.begin(), view.shape.begin() + view.rank, "x"));
}

void require_same_shape(std::span<const TensorView> views) {
  if (views.empty() || views.size() > max_operands) {
    refuse(fmt::format("{}; a destination and up to {} sources are possible", counted(views.size(), "view"),
                       max_operands - 1));
  }
  const TensorView& first = views.front();
  if (first.rank > max_view_rank) {
    refuse(fmt::format("a view of rank {}; at most {} is possible", first.rank, max_view_rank));
  }
  for (std::size_t i = 1; i < views.size(); ++i) {
    if (views[i].rank != first.rank ||
        !std::equal(first.shape.begin(), first.shape.begin() + first.rank, views[i].shape.begin())) {
      refuse(fmt::format("source {} has the shape {}, the destination {}; broadcast or slice one of them",
                         i - 1, extents_text(views[i]), extents_text(first)));
    }
  }
}

/// One dimension of all operands.
struct Dimension {
  std::uint64_t extent = 1;
  std::uint32_t view_dimension = 0;  // its number in the views; for merged dimensions the innermost one's
  bool reduced = false;
  bool backwards = false;
  std::int64_t place = 0;  // see CanonicalNest::place
  std::int64_t first = 0;  // the window covers indices first to end − 1
  std::int64_t end = 0;
  std::array<std::int64_t, max_operands> strides{};
};

std::vector<Dimension> dimensions_of(std::span<const TensorView> views, const NestOptions& options) {
  const SourceWindow* const window = options.window;
  std::vector<Dimension> result;
  for (std::uint32_t d = 0; d < views.front().rank; ++d) {
    const std::uint64_t extent = views.front().shape[d];
    Dimension dimension{.extent = extent, .view_dimension = d, .end = static_cast<std::int64_t>(extent)};
    if (window != nullptr) {
      // The window is clamped to the destination, because only indices inside it matter.
      const auto limit = static_cast<std::int64_t>(extent);
      dimension.first = std::clamp<std::int64_t>(window->first[d], 0, limit);
      dimension.end =
          std::clamp<std::int64_t>(window->first[d] + static_cast<std::int64_t>(window->extent[d]), 0, limit);
    }
    if (extent == 1 && dimension.first <= 0 && dimension.end >= 1) continue;
    for (std::size_t i = 0; i < views.size(); ++i) dimension.strides[i] = views[i].strides[d];
    if (options.reduced != nullptr) {
      dimension.reduced = options.reduced->reduced[d];
      dimension.place = options.reduced->place[d];
    }
    if (options.primary == 0 && dimension.strides[0] == 0 && extent > 1 && !dimension.reduced) {
      refuse(fmt::format(
          "the destination has stride 0 in dimension {}, of {} elements: one element would be written {} "
          "times. Drop the dimension, or give it a stride.",
          d, dimension.extent, dimension.extent));
    }
    result.push_back(dimension);
  }
  return result;
}

/// Reverses a dimension in which the primary operand, mostly the destination, has a negative stride. In a
/// reduced dimension, where the destination has stride 0, the first source's stride decides.
void walk_forwards(Dimension& dimension, CanonicalNest& nest, std::uint32_t primary) {
  if (dimension.strides[dimension.reduced ? 1 : primary] >= 0) return;
  for (std::uint32_t i = 0; i < nest.operands; ++i) {
    nest.operand[i].offset += dimension.strides[i] * static_cast<std::int64_t>(dimension.extent - 1);
    dimension.strides[i] = -dimension.strides[i];
  }
  nest.first_place += dimension.place * static_cast<std::int64_t>(dimension.extent - 1);
  dimension.place = -dimension.place;
  dimension.backwards = true;
  const auto extent = static_cast<std::int64_t>(dimension.extent);
  dimension.first = extent - std::exchange(dimension.end, extent - dimension.first);
}

/// Whether the window covers all of a dimension, so that it can be the inner one of two merged dimensions.
bool is_full(const Dimension& dimension) {
  return dimension.first <= 0 && dimension.end >= static_cast<std::int64_t>(dimension.extent);
}

/// Whether every operand can walk `outer` and `inner` as one dimension.
bool merges(const Dimension& outer, const Dimension& inner, std::uint32_t operands) {
  if (!is_full(inner) || outer.reduced != inner.reduced) return false;
  if (outer.place != inner.place * static_cast<std::int64_t>(inner.extent)) return false;
  for (std::uint32_t i = 0; i < operands; ++i) {
    if (outer.strides[i] != inner.strides[i] * static_cast<std::int64_t>(inner.extent)) return false;
  }
  return true;
}

}  // namespace

CanonicalNest canonical(std::span<const TensorView> views, const NestOptions& options) {
  require_same_shape(views);
  CanonicalNest nest;
  nest.operands = static_cast<std::uint32_t>(views.size());
  const TensorView& destination = views.front();
  const auto end = destination.shape.begin() + destination.rank;
  if (std::find(destination.shape.begin(), end, 0U) != end) {
    nest.rank = 1;  // of extent 0
    return nest;
  }

  std::vector<Dimension> dimensions = dimensions_of(views, options);
  for (Dimension& dimension : dimensions) walk_forwards(dimension, nest, options.primary);
  const auto order = [&](const Dimension& dimension) {
    const std::uint32_t second = options.primary == 0 ? 1 : 0;
    return std::tuple(!dimension.reduced, dimension.strides[options.primary],
                      std::abs(dimension.strides[second]), dimension.extent);
  };
  std::stable_sort(dimensions.begin(), dimensions.end(),
                   [&](const Dimension& a, const Dimension& b) { return order(a) > order(b); });

  std::vector<Dimension> merged;
  for (const Dimension& dimension : dimensions) {
    if (!options.keep_dimensions && !merged.empty() && merges(merged.back(), dimension, nest.operands)) {
      const Dimension outer = std::exchange(merged.back(), dimension);
      const auto inner_extent = static_cast<std::int64_t>(dimension.extent);
      merged.back().extent = outer.extent * dimension.extent;
      merged.back().first = outer.first * inner_extent;
      merged.back().end = outer.end * inner_extent;
    } else {
      merged.push_back(dimension);
    }
  }

  nest.windowed = options.window != nullptr;
  nest.view_rank = destination.rank;
  nest.dimension_of.fill(static_cast<std::uint32_t>(merged.size()));
  for (const Dimension& dimension : merged) {
    nest.shape[nest.rank] = dimension.extent;
    nest.dimension_of[dimension.view_dimension] = nest.rank;
    nest.backwards[dimension.view_dimension] = dimension.backwards;
    nest.window_first[nest.rank] = dimension.first;
    nest.window_end[nest.rank] = dimension.end;
    nest.place[nest.rank] = dimension.place;
    for (std::uint32_t i = 0; i < nest.operands; ++i)
      nest.operand[i].strides[nest.rank] = dimension.strides[i];
    ++nest.rank;
  }
  return nest;
}

bool CanonicalNest::empty() const noexcept {
  return rank > 0 && shape[0] == 0;
}

std::uint64_t CanonicalNest::elements() const noexcept {
  return sat_product(std::span(shape).first(rank));
}

std::string CanonicalNest::text() const {
  std::string out = fmt::format("{}:", fmt::join(shape.begin(), shape.begin() + rank, "x"));
  for (std::uint32_t i = 0; i < operands; ++i) {
    const auto& strides = operand[i].strides;
    out += fmt::format(" {}{}", i == 1 ? "<- " : "", fmt::join(strides.begin(), strides.begin() + rank, ","));
    if (operand[i].offset != 0) out += fmt::format("{:+}", operand[i].offset);
  }
  return out;
}

TMAJIT_END
