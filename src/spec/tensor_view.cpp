#include "spec/counted.hpp"
#include "spec/dims.hpp"
#include "spec/saturate.hpp"

#include <tmajit/error.hpp>
#include <tmajit/tensor_view.hpp>

#include <algorithm>
#include <limits>
#include <span>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

TMAJIT_BEGIN
namespace {

/// The numbers as extents. Throws Error{invalid_argument} that names the first negative one.
std::array<std::uint64_t, max_view_rank> extents_of(const Dims& shape) {
  std::array<std::uint64_t, max_view_rank> extents{};
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] < 0) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("dimension {} of the shape {} is {}; an extent is 0 or more", d,
                              fmt::join(shape, ","), shape[d]));
    }
    extents[d] = static_cast<std::uint64_t>(shape[d]);
  }
  return extents;
}

std::uint32_t readable_rank(const TensorView& view) noexcept {
  return std::min(view.rank, max_view_rank);
}

}  // namespace

TensorView dense_view(ElementType type, std::span<const std::uint64_t> shape) noexcept {
  TensorView view{.type = type, .rank = static_cast<std::uint32_t>(shape.size())};
  constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
  std::uint64_t stride = 1;
  for (std::uint32_t d = view.rank; d-- > 0;) {
    view.shape[d] = shape[d];
    view.strides[d] = static_cast<std::int64_t>(std::min(stride, most));
    stride = sat_mul(stride, std::max<std::uint64_t>(shape[d], 1));
  }
  return view;
}

TensorView TensorView::contiguous(ElementType type, const Dims& shape) {
  const auto extents = extents_of(shape);
  return dense_view(type, std::span(extents).first(shape.size()));
}

TensorView TensorView::strided(ElementType type, const Dims& shape, const Dims& strides) {
  if (shape.size() != strides.size()) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} for {}; one stride for each is needed", counted(strides.size(), "stride"),
                            counted(shape.size(), "dimension")));
  }
  TensorView view{.type = type, .rank = static_cast<std::uint32_t>(shape.size()), .shape = extents_of(shape)};
  std::ranges::copy(strides, view.strides.begin());
  return view;
}

std::uint64_t TensorView::elements() const noexcept {
  const auto dims = std::span(shape).first(readable_rank(*this));
  // Before multiplying: a product that saturates must not hide a zero further on.
  if (std::ranges::find(dims, 0U) != dims.end()) return 0;
  return sat_product(dims);
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
