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

/// A tensor in host memory, whose first element is at the beginning of `bytes`. Strides are not negative.
struct Tensor {
  tmajit::TensorView view;
  std::vector<std::byte> bytes;

  /// Makes a tensor with memory for the view's span, in which every byte is `fill`.
  explicit Tensor(const tmajit::TensorView& view, std::byte fill = std::byte{0});
  /// The element at a row-major index of view.rank coordinates.
  [[nodiscard]] std::byte* at(std::span<const std::uint64_t> index);
  [[nodiscard]] const std::byte* at(std::span<const std::uint64_t> index) const;
};

/// How a kernel divides its tensors into tiles, as far as its output depends on it.
struct Tiling {
  std::vector<std::uint32_t> tile =
      {};  ///< extents of a tile of the output; for bulk the elements of a chunk
  std::vector<std::uint32_t> element_strides = {};  ///< element strides of the inputs; empty: all 1
  tmajit::Swizzle swizzle = tmajit::Swizzle::none;
  tmajit::Interleave interleave = tmajit::Interleave::none;
  tmajit::OobFill oob_fill = tmajit::OobFill::zero;

  [[nodiscard]] std::uint32_t element_stride(std::size_t d) const {
    return element_strides.empty() ? 1 : element_strides.at(d);
  }
};

/// The output element for which an expression is evaluated.
struct Element {
  std::array<std::uint64_t, tmajit::max_map_rank> g{};  ///< coordinates in the output
  std::array<std::uint32_t, tmajit::max_map_rank> t{};  ///< coordinates in the tile
  std::uint32_t tile_index = 0;                         ///< row-major index in the tile
};

/// The function of a map: x[i] is input i's element.
using Function = std::function<Scalar(std::span<const Scalar> x, const Element& element)>;

/// Makes a Function from a generic callable, which computes in the element's own type: unary([](auto x) {
/// return x + 1; }).
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
/// `input` and `output` have one dimension. The tile of `element` is a chunk; chunks begin at the first
/// element.
void bulk(const Tiling& tiling, Tensor& output, const Tensor& input, const Function& f);
/// Returns the images of all tiles in shared memory that held `poison` before the loads: u8, with the shape
/// [tiles, bytes of a tile].
[[nodiscard]] Tensor snapshot(const Tiling& tiling, const Tensor& source, std::byte poison);

/// Whether any elements differ by same_value(). `index` becomes the first index where they do.
[[nodiscard]] bool first_difference(const Tensor& a, const Tensor& b, std::vector<std::uint64_t>& index);

}  // namespace reference
