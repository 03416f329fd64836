#pragma once

#include <tmajit/dims.hpp>
#include <tmajit/tensor.hpp>

#include <string_view>

TMAJIT_BEGIN

class Runtime;
struct Operation;

/// The position of a source in the larger destination, and the value around it.
struct Padding {
  static constexpr std::string_view operation = "pad";
  /// Destination index of the source's first element, one number for each dimension; a negative
  /// number crops.
  Dims before = {};
  double value = 0;  ///< the value of elements without a source, converted to the destination's type
};

namespace operation {
/// Copies the source to index `padding.before` of the destination, bit for bit, and writes `padding.value`
/// around it. Both types have the same size. Both tensors have the same rank; plan() throws SpecError
/// otherwise.
[[nodiscard]] TMAJIT_API Operation pad(const Tensor& destination, const Tensor& source,
                                       const Padding& padding);
}  // namespace operation

/// One call: plan(runtime, operation::pad(…)) and a launch (docs/move.md).
TMAJIT_API void pad(const Runtime& runtime, const Tensor& destination, const Tensor& source,
                    const Padding& padding, Stream stream = nullptr);

TMAJIT_END
