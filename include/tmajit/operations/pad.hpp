#pragma once

#include <tmajit/dims.hpp>
#include <tmajit/tensor.hpp>

#include <string_view>

TMAJIT_BEGIN

class Runtime;
struct Operation;

/// Where the source of a padded move lies in the destination, and the value around it.
struct Padding {
  static constexpr std::string_view operation = "pad";
  /// Destination index of the source's first element, a number a dimension; negative crops.
  Dims before = {};
  double value = 0;  ///< the value of elements without a source, converted to the destination's type
};

namespace operation {
/// The source at `padding.before` in the destination, `padding.value` around it; types of one size, bits as
/// they are. Both have the same rank; plan() throws SpecError if they do not.
[[nodiscard]] TMAJIT_API Operation pad(const Tensor& destination, const Tensor& source,
                                       const Padding& padding);
}  // namespace operation

/// One call: plan(runtime, operation::pad(…)) and a launch (docs/move.md).
TMAJIT_API void pad(const Runtime& runtime, const Tensor& destination, const Tensor& source,
                    const Padding& padding, Stream stream = nullptr);

TMAJIT_END
