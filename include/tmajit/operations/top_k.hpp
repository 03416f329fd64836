#pragma once

#include <tmajit/list.hpp>
#include <tmajit/tensor.hpp>

#include <cstdint>
#include <string_view>

TMAJIT_BEGIN

class Runtime;
struct Operation;

/// Takes the k greatest or least elements of each row, in order, in one launch. Equal calls leave equal bits.
struct TopK {
  static constexpr std::string_view operation = "top_k";
  std::int64_t axis = -1;  ///< dimension of x along which rows run; a negative one counts from the end
  bool largest = true;     ///< the greatest elements, descending; if false, the least, ascending
  // Set by operation::top_k().
  std::uint64_t count = 0;  ///< k: the extent of `values` along the axis
  enum class Result : std::uint8_t { values, index };
  Result result = Result::values;  ///< the destination that a move computes
};

namespace operation {
/// Destinations are {values, index}, or {values} alone:
///
/// - `x`: elements of any type, in at most 2^31 - 1 rows along the axis, of at most 2^31 - 1 elements each.
/// - `values`: x's type, and x's shape with k along the axis; k is 1 to 2048 and at most a row's length. Bits
///   are moved.
/// - `index`, i32 or i64: the shape of `values`; the index of each of these elements in its row.
///
/// NaN is greater than all numbers. 0 and -0 are equal, as are all NaN. Equal elements are in the order of
/// their indices. All tensors may have any strides; a destination may not overlap another tensor.
///
/// Throws Error{invalid_argument} unless there are one or two destinations. plan() throws SpecError for an
/// axis, shapes, types or numbers of elements that are not legal (docs/top_k.md).
[[nodiscard]] TMAJIT_API Operation top_k(List<Tensor> destinations, const Tensor& x, const TopK& what = {});
}  // namespace operation

/// One call: plan(runtime, operation::top_k(…)) and a launch (docs/top_k.md).
TMAJIT_API void top_k(const Runtime& runtime, List<Tensor> destinations, const Tensor& x,
                      const TopK& what = {}, Stream stream = nullptr);

TMAJIT_END
