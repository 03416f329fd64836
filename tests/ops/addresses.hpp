#pragma once

#include <tmajit/tensor.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace tests {

/// All indices of `shape` in row-major order. For rank 0 a single index without coordinates.
inline std::vector<std::vector<std::uint64_t>> indices(std::span<const std::uint64_t> shape) {
  std::vector<std::vector<std::uint64_t>> all{{}};
  for (const std::uint64_t extent : shape) {
    std::vector<std::vector<std::uint64_t>> extended;
    for (const auto& index : all) {
      for (std::uint64_t i = 0; i < extent; ++i) {
        extended.push_back(index);
        extended.back().push_back(i);
      }
    }
    all = std::move(extended);
  }
  return all;
}

inline std::span<const std::uint64_t> shape_of(const tmajit::Tensor& tensor) {
  return std::span(tensor.view.shape).first(tensor.view.rank);
}

/// The address of the element at `index`.
inline std::uint64_t address_of(const tmajit::Tensor& tensor, std::span<const std::uint64_t> index) {
  std::int64_t elements = 0;
  for (std::size_t d = 0; d < index.size(); ++d) {
    elements += static_cast<std::int64_t>(index[d]) * tensor.view.strides[d];
  }
  return tensor.address +
         static_cast<std::uint64_t>(elements * static_cast<std::int64_t>(size_of(tensor.view.type)));
}

/// The addresses of all elements in row-major order.
inline std::vector<std::uint64_t> addresses(const tmajit::Tensor& tensor) {
  std::vector<std::uint64_t> all;
  for (const auto& index : indices(shape_of(tensor))) all.push_back(address_of(tensor, index));
  return all;
}

}  // namespace tests
