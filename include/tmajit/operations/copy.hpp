#pragma once

#include <tmajit/tensor.hpp>

#include <string_view>

TMAJIT_BEGIN

class Runtime;
struct Operation;

/// destination = source, bit for bit; both types have the same size.
struct Copy {
  static constexpr std::string_view operation = "copy";
  friend bool operator==(const Copy&, const Copy&) = default;
};

namespace operation {
/// The source is broadcast to the destination's shape where its extents are 1. Throws
/// Error{invalid_argument} if it cannot be broadcast.
[[nodiscard]] TMAJIT_API Operation copy(const Tensor& destination, const Tensor& source);
}  // namespace operation

/// One call: plan(runtime, operation::copy(…)) and a launch (docs/move.md).
TMAJIT_API void copy(const Runtime& runtime, const Tensor& destination, const Tensor& source,
                     Stream stream = nullptr);

TMAJIT_END
