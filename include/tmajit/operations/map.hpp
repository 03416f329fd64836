#pragma once

#include <tmajit/list.hpp>
#include <tmajit/tensor.hpp>

#include <string>
#include <string_view>

TMAJIT_BEGIN

class Runtime;
struct Operation;

/// An expression, computed for each element of the destination.
struct Map {
  static constexpr std::string_view operation = "map";
  /// In x0 … x7 (x for one source), p0 … for number(), and g[d], the element's coordinates in the
  /// destination: "x0 * 0.5f + x1".
  std::string expression = {};
};

namespace operation {
/// destination = expression(sources…). The sources, at most 8 and maybe none, numbers included, are broadcast
/// to the destination's shape where their extents are 1. Throws Error{invalid_argument} for an empty
/// expression.
[[nodiscard]] TMAJIT_API Operation map(const Tensor& destination, std::string_view expression,
                                       List<Tensor> sources);
}  // namespace operation

/// One call: plan(runtime, operation::map(…)) and a launch (docs/move.md).
TMAJIT_API void map(const Runtime& runtime, const Tensor& destination, std::string_view expression,
                    List<Tensor> sources, Stream stream = nullptr);

TMAJIT_END
