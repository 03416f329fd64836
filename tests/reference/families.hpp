#pragma once

#include "reference/scalar.hpp"

#include <tmajit/combine.hpp>
#include <tmajit/tensor_map_spec.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

namespace reference {

/// A tensor in host memory. `bytes` begins with its first element; strides are not negative.
struct Tensor {
  tmajit::TensorView view;
  std::vector<std::byte> bytes;

  /// Makes a tensor of the view's span, every byte `fill`.
  explicit Tensor(const tmajit::TensorView& view, std::byte fill = std::byte{0});
  /// The element at a row-major index of view.rank coordinates.
  [[nodiscard]] std::byte* at(std::span<const std::uint64_t> index);
  [[nodiscard]] const std::byte* at(std::span<const std::uint64_t> index) const;
};

/// How a kernel cuts its tensors into tiles, as far as its output depends on it.
struct Tiling {
  std::vector<std::uint32_t> tile = {};  ///< elements of the output, row-major; for bulk those of a chunk
  std::vector<std::uint32_t> element_strides = {};  ///< element strides of the inputs; empty: all 1
  tmajit::Swizzle swizzle = tmajit::Swizzle::none;
  tmajit::Interleave interleave = tmajit::Interleave::none;
  tmajit::OobFill oob_fill = tmajit::OobFill::zero;

  [[nodiscard]] std::uint32_t element_stride(std::size_t d) const {
    return element_strides.empty() ? 1 : element_strides.at(d);
  }
};

/// The place at which an expression is evaluated.
struct Element {
  std::array<std::uint64_t, tmajit::max_map_rank> g{};  ///< coordinates in the output
  std::array<std::uint32_t, tmajit::max_map_rank> t{};  ///< coordinates in the tile
  std::uint32_t tile_index = 0;                         ///< row-major number in the tile
};

/// The function of a map: x[i] is input i's element.
using Function = std::function<Scalar(std::span<const Scalar> x, const Element& element)>;

/// Makes a Function of a generic callable on x, computed in the element's own type: unary([](auto x) { return
/// x + 1; }).
template <typename F>
[[nodiscard]] Function unary(F f) {
  return [f](std::span<const Scalar> x, const Element&) {
    return std::visit([&f](auto v) { return scalar(f(v)); }, x[0]);
  };
}

/// Like unary(), for two inputs of one type. Throws std::bad_variant_access if their types differ.
template <typename F>
[[nodiscard]] Function binary(F f) {
  return [f](std::span<const Scalar> x, const Element&) {
    return std::visit([&](auto a) { return scalar(f(a, std::get<decltype(a)>(x[1]))); }, x[0]);
  };
}

// Each function computes the output of a whole kernel. Elements of `output` that the kernel does not write
// are unchanged.

void copy(const Tiling& tiling, Tensor& output, const Tensor& source);
/// Combines the source's elements into those of `output` by `op`; no tensor map converts them.
void reduce_into(const Tiling& tiling, tmajit::CombineOp op, Tensor& output, const Tensor& source);
void map(const Tiling& tiling, Tensor& output, std::span<const Tensor> inputs, const Function& f);
/// Takes one input and output of one dimension. `element` counts chunks from the first element.
void bulk(const Tiling& tiling, Tensor& output, const Tensor& input, const Function& f);
/// u8 [tiles, bytes of a tile]: the image of every tile in shared memory that held `poison` before the load.
[[nodiscard]] Tensor snapshot(const Tiling& tiling, const Tensor& source, std::byte poison);

/// The first index whose elements differ (same_value()), if any.
[[nodiscard]] bool first_difference(const Tensor& a, const Tensor& b, std::vector<std::uint64_t>& index);

}  // namespace reference
