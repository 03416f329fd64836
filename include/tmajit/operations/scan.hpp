#pragma once

#include <tmajit/dims.hpp>
#include <tmajit/list.hpp>
#include <tmajit/names.hpp>
#include <tmajit/tensor.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

TMAJIT_BEGIN

class Runtime;
struct Operation;

/// How a scan combines an element with those before it.
enum class ScanOp : std::uint8_t {
  sum,
  product,
  min,  ///< NaN propagates, as in NumPy and PyTorch
  max,  ///< NaN propagates
};
inline constexpr std::array all_scan_ops{ScanOp::sum, ScanOp::product, ScanOp::min, ScanOp::max};
/// "sum", "product".
[[nodiscard]] TMAJIT_API std::string_view name(ScanOp op) noexcept;
/// The operation of that name. Throws Error{invalid_argument} that lists the names.
template <>
[[nodiscard]] TMAJIT_API ScanOp parse<ScanOp>(std::string_view name);

/// A cumulative sum, product, minimum or maximum along one axis; deterministic: equal launches leave equal
/// bits. Sums and products of f64 accumulate in f64, of other floating-point types in f32, of integers in
/// 64 bits, where they wrap. The result is converted to the destination's type.
struct Scan {
  static constexpr std::string_view operation = "scan";
  ScanOp op = ScanOp::sum;
  std::int64_t axis = -1;  ///< dimension of the destination; a negative one counts from the end
  /// Each result combines only the elements before its own. The first result is the identity: 0 for `sum`, 1
  /// for `product`, the greatest value of the expression's type for `min`, the least for `max` (infinities
  /// for floating-point types).
  bool exclusive = false;
  bool reverse = false;  ///< from the last element of the axis to the first
  /// The expression that is scanned, of x0 … x7 (x for one source) and p0 …: "x * x". Empty: the one source's
  /// values.
  std::string expression = {};
};

namespace operation {
/// The scan `what` of 1 to 8 sources of any element types, which are broadcast to the destination's shape. A
/// source may be the destination: every element is read before it is overwritten.
/// Throws Error{invalid_argument} without a source, or for one that cannot be broadcast; plan() throws
/// SpecError for an axis that the destination does not have.
[[nodiscard]] TMAJIT_API Operation scan(const Tensor& destination, const Scan& what, List<Tensor> sources);
}  // namespace operation

/// One call: plan(runtime, operation::scan(…)) and a launch (docs/scan.md).
TMAJIT_API void scan(const Runtime& runtime, const Tensor& destination, const Scan& what,
                     List<Tensor> sources, Stream stream = nullptr);

TMAJIT_END
