#include "operations/shared/shapes.hpp"

#include "spec/views.hpp"

#include <algorithm>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN

std::vector<std::uint64_t> common_shape(std::span<const TensorView> sources) {
  std::vector<std::uint64_t> shape;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const auto own = extents(sources[i], fmt::format("source {}", i));
    if (own.size() > shape.size()) shape.insert(shape.begin(), own.size() - shape.size(), 1);
    for (std::size_t k = 1; k <= own.size(); ++k) {
      std::uint64_t& extent = shape[shape.size() - k];
      if (extent == 1) extent = own[own.size() - k];
    }
  }
  return shape;
}

ElementType first_type(std::span<const TensorView> sources) noexcept {
  return sources.empty() ? ElementType::f32 : sources.front().type;
}

std::vector<TensorView> dense(std::span<const TensorView> sources, const std::vector<std::uint64_t>& shape) {
  return {TensorView::contiguous(first_type(sources), shape)};
}

std::vector<TensorView> elementwise(std::span<const TensorView> sources) {
  return dense(sources, common_shape(sources));
}

std::array<bool, max_view_rank> row_dimensions(const Dims& axes, std::size_t rank) noexcept {
  std::array<bool, max_view_rank> in_row{};
  for (const std::int64_t axis : axes) {
    if (const auto d = dimension_of(axis, rank)) in_row[*d] = true;
  }
  return in_row;
}

TensorView without_dimension(TensorView view, std::uint32_t d) {
  --view.rank;
  for (std::uint32_t i = d; i < view.rank; ++i) {
    view.shape[i] = view.shape[i + 1];
    view.strides[i] = view.strides[i + 1];
  }
  view.shape[view.rank] = 0;
  view.strides[view.rank] = 0;
  return view;
}

TMAJIT_END
