#pragma once

#include <tmajit/combine.hpp>
#include <tmajit/list.hpp>
#include <tmajit/stencil.hpp>
#include <tmajit/tensor.hpp>
#include <tmajit/windows.hpp>

#include <array>
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

/// What a reduction makes of the elements that come together.
enum class ReductionOp : std::uint8_t {
  sum,
  mean,  ///< the sum over the count; of integers as f64
  min,   ///< NaN wins, as in NumPy and PyTorch; of max likewise
  max,
  any,      ///< 1 if an element is not 0 (NaN is not), else 0
  all,      ///< 1 if no element is 0, else 0
  arg_min,  ///< the first place of the least element, of NaN if there is one; counted in row-major order over
            ///< the axes that are reduced
  arg_max,  ///< likewise of the greatest
};
inline constexpr std::array all_reduction_ops{ReductionOp::sum,     ReductionOp::mean,   ReductionOp::min,
                                              ReductionOp::max,     ReductionOp::any,    ReductionOp::all,
                                              ReductionOp::arg_min, ReductionOp::arg_max};
/// "sum", "arg_min".
[[nodiscard]] TMAJIT_API std::string_view name(ReductionOp op) noexcept;
/// The operation of that name. Throws Error{invalid_argument} that lists the names.
[[nodiscard]] TMAJIT_API ReductionOp parse_reduction(std::string_view text);

/// A reduction of some dimensions of its sources; twice run, the same bits. Sums of f64 are f64, of other
/// floating point f32, of integers 64 bits long, and wrap; integers' extremes have 32 bits at least,
/// places 64.
struct Reduction {
  ReductionOp op = ReductionOp::sum;
  Dims axes = {};  ///< of the sources; a negative one counts from the end
  /// What is reduced, of x0 … x7 (x for one source): "x * x". Empty: the one source's values.
  std::string expression = {};
  /// What becomes of each result x, which is of n elements: "sqrt(x / n)"; n has the type of x. Empty: x.
  std::string then = {};
};

/// One destination computed from sources of its shape, element by element. What all operations below are made
/// of.
struct Move {
  Tensor destination;
  /// Up to 8, each of the destination's shape but where there is a padding or a reduction.
  std::vector<Tensor> sources;
  /// In x0 … x7 (x for one source) and g[d], the element's coordinates in the destination. Empty: the one
  /// source's bits as they are; its elements have the size of the destination's.
  std::string expression = {};
  std::optional<Padding> padding = std::nullopt;  ///< one source and no expression
  /// With it sources are called in the expression, with offsets of neighbours: x0(-1, 0).
  std::optional<Stencil> stencil = std::nullopt;
  /// Its own expressions and no other. Sources have one shape, the destination their dimensions without the
  /// axes, in order.
  std::optional<Reduction> reduction = std::nullopt;
  /// The destination's elements become what this makes of them and the one source's, of the same type.
  std::optional<CombineOp> combine = std::nullopt;
  /// Windows of the first source, [images, extents…, channels], and no expression. Of one source its pixels,
  /// to [images, windows…, taps…, channels]; with a second one, a filter [outputs, taps…, channels], what it
  /// makes of them, to [images, windows…, outputs].
  std::optional<Windows> windows = std::nullopt;
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
/// destination = what(sources…). The sources are broadcast to each other's shapes; the destination has the
/// dimensions that are not reduced, in order. To keep those that are as extents of 1, reduce into a
/// reshaped() view.
[[nodiscard]] TMAJIT_API Operation reduce(const Tensor& destination, const Reduction& what,
                                          List<Tensor> sources);
/// destination = destination op source, by the copy engine: both have one type of those that combined_as()
/// says it combines so. Each element is combined atomically at the scope of the GPU, so that several may be
/// under way on one destination at once. Both have a contiguous dimension in common; all others, and the
/// addresses, are multiples of 16 bytes.
[[nodiscard]] TMAJIT_API Operation reduce_into(const Tensor& destination, CombineOp op, const Tensor& source);
/// The pixels of each window of images [images, extents…, channels], side by side, 0 outside of an image:
/// bits, of types of one size. The destination is [images · windows…, taps… · channels], the rows of a matrix
/// that a filter multiplies, or has those dimensions apart, some or all of them: [images, windows…, taps…,
/// channels].
[[nodiscard]] TMAJIT_API Operation im2col(const Tensor& destination, const Tensor& source,
                                          const Windows& windows);
/// Forward convolution in f32: each element [images, windows…, outputs] of the destination is the sum over a
/// window of images [images, extents…, channels] of pixel times filter, which is [outputs, taps…, channels].
/// Products are added by one fma each, tap by tap in row-major order and in each the channels in order; zeros
/// around an image take part. The destination may have images and windows put together: [images · windows…,
/// outputs]. `windows.filter` is the filter tensor's, and may be left empty.
[[nodiscard]] TMAJIT_API Operation convolution(const Tensor& destination, const Tensor& images,
                                               const Tensor& filter, const Windows& windows = {});

}  // namespace operation

TMAJIT_END
