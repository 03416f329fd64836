#pragma once

#include <tmajit/list.hpp>
#include <tmajit/tensor.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

TMAJIT_BEGIN

class Runtime;
struct Operation;

/// The arguments of recipes. docs/operations.md lists those of each recipe. A recipe rejects other arguments
/// that differ from their defaults.
struct RecipeOptions {
  std::int64_t axis = -1;          ///< the dimension of a row; negative ones count from the end
  std::optional<double> eps = {};  ///< nullopt: the recipe's default; a number of the launch
  /// Elements of a row that share a scale, or rows and columns of a square block; 0: the whole row, or 128.
  std::uint32_t block = 0;
  std::optional<ElementType> to = {};  ///< type of quantised elements; nullopt: the destination's
  std::string_view layout = {};        ///< "halves" or "pairs"; empty: halves
};

/// A rowwise operation (docs/rowwise.md) by its name: softmax, a norm, a quantisation … Its steps follow from
/// the name, the sources and the options. The results are computed in f32, or in f64 if a source is f64.
///
/// Destinations and sources are in the order of the declarations below. Sources in square brackets may be
/// left out from the end.
struct TMAJIT_API Recipe {
  std::string_view name;

  /// The operation. Throws Error{invalid_argument} for numbers, shapes or types of tensors and for options
  /// that do not match; plan() throws SpecError for a destination's shape that does not fit.
  [[nodiscard]] Operation operator()(List<Tensor> destinations, List<Tensor> sources,
                                     const RecipeOptions& options = {}) const;
  /// One call: plan(runtime, the operation) and a launch.
  void operator()(const Runtime& runtime, List<Tensor> destinations, List<Tensor> sources,
                  const RecipeOptions& options = {}, Stream stream = nullptr) const;
};

// For example: softmax(runtime, {y}, {x}, {.axis = 0}). A tensor marked "a row's" has one number for each
// row: the dimension `axis` is missing, or has an extent of 1. Weights and biases have one dimension.
inline namespace recipes {

inline constexpr Recipe softmax{"softmax"};                            ///< {y}, {x}
inline constexpr Recipe softmax_backward{"softmax_backward"};          ///< {dx}, {dy, y}
inline constexpr Recipe log_softmax{"log_softmax"};                    ///< {y}, {x}
inline constexpr Recipe log_softmax_backward{"log_softmax_backward"};  ///< {dx}, {dy, y}
inline constexpr Recipe logsumexp{"logsumexp"};                        ///< {y: a row's}, {x}
inline constexpr Recipe rms_norm{"rms_norm"};                          ///< {y}, {x, [weight]}
inline constexpr Recipe rms_norm_backward{"rms_norm_backward"};        ///< {dx}, {dy, x, [weight]}
inline constexpr Recipe add_rms_norm{"add_rms_norm"};                  ///< {y, sum}, {x, residual, [weight]}
inline constexpr Recipe layer_norm{"layer_norm"};                      ///< {y}, {x, [weight, bias]}
inline constexpr Recipe layer_norm_backward{"layer_norm_backward"};    ///< {dx}, {dy, x, [weight]}
inline constexpr Recipe l2_normalize{"l2_normalize"};                  ///< {y}, {x}
/// {loss: a row's}, {logits, labels: a row's}
inline constexpr Recipe cross_entropy{"cross_entropy"};
/// {loss: a row's, dlogits}, {logits, labels: a row's}
inline constexpr Recipe cross_entropy_with_gradient{"cross_entropy_with_gradient"};
/// {dlogits}, {dloss: a row's, logits, labels: a row's}
inline constexpr Recipe cross_entropy_backward{"cross_entropy_backward"};
inline constexpr Recipe max_with_index{"max_with_index"};    ///< {y: a row's, index: a row's}, {x}
inline constexpr Recipe quantize_rows{"quantize_rows"};      ///< {q, scale: a row's or a block's}, {x}
inline constexpr Recipe dequantize_rows{"dequantize_rows"};  ///< {y}, {q, scale: a row's or a block's}
/// {q, scale}, {x}: each square block of the last two dimensions has one element of `scale`
inline constexpr Recipe quantize_blocks{"quantize_blocks"};
inline constexpr Recipe dequantize_blocks{"dequantize_blocks"};  ///< {y}, {q, scale}
/// {q, scale}, {x}: all elements share a scale, which has no dimensions
inline constexpr Recipe quantize_tensor{"quantize_tensor"};
inline constexpr Recipe dequantize_tensor{"dequantize_tensor"};  ///< {y}, {q, scale}
/// {y}, {a, b}: silu(a) * b. Without b, a holds both, one half after the other along `axis`.
inline constexpr Recipe swiglu{"swiglu"};
/// {da, db}, {dy, a, b}, or {da}, {dy, a} if a holds both halves
inline constexpr Recipe swiglu_backward{"swiglu_backward"};
/// {y}, {x, cos, sin}: cos and sin have half of x's extent along `axis`, and are broadcast by NumPy's rules
inline constexpr Recipe rotary{"rotary"};

}  // namespace recipes

namespace operation {
using namespace recipes;
}  // namespace operation

TMAJIT_END
