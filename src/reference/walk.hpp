#pragma once

#include <tmajit/tensor.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace reference {

/// The number of elements of a view: the reference does not link the library, which has
/// TensorView::elements().
[[nodiscard]] inline std::uint64_t element_count(const tmajit::TensorView& view) {
  std::uint64_t count = 1;
  for (std::uint32_t d = 0; d < view.rank; ++d) count *= view.shape[d];
  return count;
}

/// The element of a tensor in host memory that lies `offset` elements from its first one.
[[nodiscard]] inline std::byte* element_at(const tmajit::Tensor& tensor, std::int64_t offset) {
  const auto bytes = offset * static_cast<std::int64_t>(size_of(tensor.view.type));
  // NOLINTNEXTLINE(performance-no-int-to-ptr): host memory by contract
  return reinterpret_cast<std::byte*>(tensor.address + static_cast<tmajit::DevicePtr>(bytes));
}

/// Calls visit(a, b) for each pair of elements of the same index of two tensors in host memory, in row-major
/// order. `source` has the destination's shape.
template <class Visit>
void for_each_pair(const tmajit::Tensor& destination, const tmajit::Tensor& source, const Visit& visit) {
  const tmajit::TensorView& view = destination.view;
  std::array<std::uint64_t, tmajit::max_view_rank> index{};
  std::int64_t to = 0;
  std::int64_t from = 0;
  for (std::uint64_t left = element_count(view); left > 0; --left) {
    visit(element_at(destination, to), element_at(source, from));
    for (std::uint32_t d = view.rank; d-- > 0;) {
      to += view.strides[d];
      from += source.view.strides[d];
      if (++index[d] < view.shape[d]) break;
      to -= view.strides[d] * static_cast<std::int64_t>(view.shape[d]);
      from -= source.view.strides[d] * static_cast<std::int64_t>(view.shape[d]);
      index[d] = 0;
    }
  }
}

}  // namespace reference
