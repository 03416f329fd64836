#pragma once

#include <tmajit/list.hpp>
#include <tmajit/stencil.hpp>
#include <tmajit/tensor.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

TMAJIT_BEGIN

/// What lies around the source of a padded move.
struct Padding {
  /// Where the source's first element lies in the destination, a number a dimension; negative crops.
  Dims before = {};
  double value = 0;  ///< of destination elements that the source does not reach, converted to their type
};

/// One destination computed from sources of its shape, element by element. What all operations below are made
/// of.
struct Move {
  Tensor destination;
  std::vector<Tensor> sources;  ///< up to 8, each of the destination's shape but where there is a padding
  /// In x0 … x7 (x for one source) and g[d], the element's coordinates in the destination. Empty: the one
  /// source's bits as they are; its elements have the size of the destination's.
  std::string expression = {};
  std::optional<Padding> padding = std::nullopt;  ///< one source and no expression
  /// With it sources are called in the expression, with offsets of neighbours: x0(-1, 0).
  std::optional<Stencil> stencil = std::nullopt;
};

/// An operation on tensors, as the moves that do it: a pure value.
struct Operation {
  std::vector<Move> moves;
  std::vector<Tensor> destinations;  ///< that the operation was given; those of the moves are parts of them
  std::vector<Tensor> sources;

  /// Moves whose tensors are all given by themselves. All of them may run in any order.
  [[nodiscard]] TMAJIT_API static Operation of(std::vector<Move> moves);
};

/// What each operation is. Sources are broadcast to the destination's shape where they are repeatable. They
/// throw Error{invalid_argument} where shapes, axes or types do not go together.
namespace operation {

/// destination = source, of types of one size: bits as they are.
[[nodiscard]] TMAJIT_API Operation copy(const Tensor& destination, const Tensor& source);
/// Dimension d of the destination is dimension axes[d] of the source.
[[nodiscard]] TMAJIT_API Operation permute(const Tensor& destination, const Tensor& source, const Dims& axes);
/// The source at `padding.before` in the destination, `padding.value` around it.
[[nodiscard]] TMAJIT_API Operation pad(const Tensor& destination, const Tensor& source,
                                       const Padding& padding);
/// destination = source[slices].
[[nodiscard]] TMAJIT_API Operation slice(const Tensor& destination, const Tensor& source, List<Slice> slices);
/// The sources one after the other along `axis`.
[[nodiscard]] TMAJIT_API Operation concat(const Tensor& destination, List<Tensor> sources, std::int64_t axis);
/// The other way round: the source is cut along `axis`, by the destinations' extents.
[[nodiscard]] TMAJIT_API Operation split(List<Tensor> destinations, const Tensor& source, std::int64_t axis);
/// Values converted to the destination's type, by the rules of expressions' results (docs/move.md).
[[nodiscard]] TMAJIT_API Operation cast(const Tensor& destination, const Tensor& source);
/// destination = expression(sources…): "x0 * 0.5f + x1".
[[nodiscard]] TMAJIT_API Operation map(const Tensor& destination, std::string_view expression,
                                       List<Tensor> sources);
/// The same of neighbours: "0.25f * (x0(-1, 0) + x0(1, 0) + x0(0, -1) + x0(0, 1))"; x0 alone is x0(0, 0).
/// Offsets are whole numbers, written out, one for each of 1 to 3 dimensions (`stencil.dims`). No source may
/// be the destination.
[[nodiscard]] TMAJIT_API Operation stencil(const Tensor& destination, std::string_view expression,
                                           List<Tensor> sources, const Stencil& stencil = {});

}  // namespace operation

TMAJIT_END
