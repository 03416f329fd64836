#pragma once

#include <tmajit/tensor.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace reference {

/// The number of elements of a view. TensorView::elements() cannot be used: the reference does not link the
/// library.
[[nodiscard]] inline std::uint64_t element_count(const tmajit::TensorView& view) {
  std::uint64_t count = 1;
  for (std::uint32_t d = 0; d < view.rank; ++d) count *= view.shape[d];
  return count;
}

/// The element of a tensor in host memory at a distance of `offset` elements from the first one.
/// The value of a number, which is no tensor, is in place of its address.
[[nodiscard]] inline std::byte* element_at(const tmajit::Tensor& tensor, std::int64_t offset) {
  if (tensor.view.is_number)
    return reinterpret_cast<std::byte*>(
        const_cast<tmajit::DevicePtr*>(&tensor.address));  // NOLINT: never written
  const auto bytes = offset * static_cast<std::int64_t>(size_of(tensor.view.type));
  // NOLINTNEXTLINE(performance-no-int-to-ptr): host memory by contract
  return reinterpret_cast<std::byte*>(tensor.address + static_cast<tmajit::DevicePtr>(bytes));
}

/// An element's index, or extents. Entries beyond a tensor's rank are 0.
using Index = std::array<std::uint64_t, tmajit::max_view_rank>;

/// A box of a tensor's elements.
struct Part {
  Index first{};
  Index count{};
};

/// The part that is the whole tensor.
[[nodiscard]] inline Part whole(const tmajit::TensorView& view) {
  Part part;
  for (std::uint32_t d = 0; d < view.rank; ++d) part.count.at(d) = view.shape.at(d);
  return part;
}

[[nodiscard]] inline std::uint64_t element_count(const Part& part, std::uint32_t rank) {
  std::uint64_t count = 1;
  for (std::uint32_t d = 0; d < rank; ++d) count *= part.count.at(d);
  return count;
}

/// The offset, in elements, of the element at `index` from the view's first element.
[[nodiscard]] inline std::int64_t offset_of(const tmajit::TensorView& view, const Index& index) {
  std::int64_t offset = 0;
  for (std::uint32_t d = 0; d < view.rank; ++d)
    offset += static_cast<std::int64_t>(index.at(d)) * view.strides.at(d);
  return offset;
}

/// The tensor restricted to a part.
[[nodiscard]] inline tmajit::Tensor part_of(const tmajit::Tensor& tensor, const Part& part) {
  tmajit::Tensor result = tensor;
  result.address =
      reinterpret_cast<tmajit::DevicePtr>(element_at(tensor, offset_of(tensor.view, part.first)));
  for (std::uint32_t d = 0; d < tensor.view.rank; ++d) result.view.shape.at(d) = part.count.at(d);
  return result;
}

/// A tensor with the rank and shape of `like`, of which only the elements of `part` exist: they are at
/// `elements`, dense and row-major.
[[nodiscard]] inline tmajit::Tensor only_part(const tmajit::TensorView& like, const Part& part,
                                              tmajit::ElementType type, void* elements) {
  tmajit::Tensor result{like, reinterpret_cast<tmajit::DevicePtr>(elements)};
  result.view.type = type;
  std::int64_t stride = 1;
  for (std::uint32_t d = like.rank; d-- > 0;) {
    result.view.strides.at(d) = stride;
    stride *= static_cast<std::int64_t>(part.count.at(d));
  }
  const std::int64_t first = offset_of(result.view, part.first);
  result.address -= static_cast<tmajit::DevicePtr>(first * static_cast<std::int64_t>(size_of(type)));
  return result;
}

/// Calls visit(index) for each element of a part of a tensor of that rank, in row-major order.
template <class Visit>
void for_each_index(std::uint32_t rank, const Part& part, const Visit& visit) {
  for (std::uint32_t d = 0; d < rank; ++d) {
    if (part.count.at(d) == 0) return;
  }
  Index index = part.first;
  for (;;) {
    visit(index);
    std::uint32_t d = rank;
    for (; d > 0; --d) {
      if (++index.at(d - 1) < part.first.at(d - 1) + part.count.at(d - 1)) break;
      index.at(d - 1) = part.first.at(d - 1);
    }
    if (d == 0) return;
  }
}

/// Calls visit(a, b) for each pair of elements of the same index of two tensors in host memory, in row-major
/// order. `source` has the destination's shape.
template <class Visit>
void for_each_pair(const tmajit::Tensor& destination, const tmajit::Tensor& source, const Visit& visit) {
  const tmajit::TensorView& view = destination.view;
  std::array<std::uint64_t, tmajit::max_view_rank> index{};
  std::int64_t to = 0;
  std::int64_t from = 0;
  for (std::uint64_t remaining = element_count(view); remaining > 0; --remaining) {
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
