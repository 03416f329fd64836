#include "families/shared/window_parameters.hpp"

TMAJIT_BEGIN

std::optional<std::int64_t> joined_stride(const TensorView& view, std::uint32_t first,
                                          std::uint32_t count) noexcept {
  std::optional<std::int64_t> stride;
  std::int64_t expected = 0;
  for (std::uint32_t d = first + count; d-- > first;) {
    if (view.shape[d] == 1) continue;
    if (stride && view.strides[d] != expected) return std::nullopt;
    if (!stride) stride = view.strides[d];
    expected = view.strides[d] * static_cast<std::int64_t>(view.shape[d]);
  }
  return stride.value_or(0);
}

TMAJIT_END
