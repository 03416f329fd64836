#include "spec/saturate.hpp"

#include <tmajit/error.hpp>
#include <tmajit/tensor_view.hpp>

#include <algorithm>
#include <limits>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

std::uint32_t checked_rank(std::size_t rank) {
  if (rank > max_view_rank) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("a view of {} dimensions; at most {} are possible", rank, max_view_rank));
  }
  return static_cast<std::uint32_t>(rank);
}

std::uint32_t readable_rank(const TensorView& view) noexcept {
  return std::min(view.rank, max_view_rank);
}

}  // namespace

TensorView TensorView::contiguous(ElementType type, std::span<const std::uint64_t> shape) {
  TensorView view{.type = type, .rank = checked_rank(shape.size())};
  constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
  std::uint64_t stride = 1;
  for (std::uint32_t d = view.rank; d-- > 0;) {
    view.shape[d] = shape[d];
    view.strides[d] = static_cast<std::int64_t>(std::min(stride, most));
    stride = sat_mul(stride, std::max<std::uint64_t>(shape[d], 1));
  }
  return view;
}

TensorView TensorView::strided(ElementType type, std::span<const std::uint64_t> shape,
                               std::span<const std::int64_t> strides) {
  if (shape.size() != strides.size()) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("{} strides for {} dimensions; one a dimension is needed", strides.size(), shape.size()));
  }
  TensorView view{.type = type, .rank = checked_rank(shape.size())};
  std::ranges::copy(shape, view.shape.begin());
  std::ranges::copy(strides, view.strides.begin());
  return view;
}

std::uint64_t TensorView::elements() const noexcept {
  const auto dims = std::span(shape).first(readable_rank(*this));
  // Before multiplying: a product that saturates must not hide a zero further on.
  if (std::ranges::find(dims, 0U) != dims.end()) return 0;
  std::uint64_t count = 1;
  for (const auto extent : dims) count = sat_mul(count, extent);
  return count;
}

std::uint64_t TensorView::span_bytes() const noexcept {
  if (elements() == 0) return 0;
  std::uint64_t last = 0;
  for (std::uint32_t d = 0; d < readable_rank(*this); ++d) {
    const auto stride = strides[d] < 0 ? 0U : static_cast<std::uint64_t>(strides[d]);
    last = sat_add(last, sat_mul(shape[d] - 1, stride));
  }
  return sat_mul(sat_add(last, 1), size_of(type));
}

TMAJIT_END
