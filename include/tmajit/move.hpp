#pragma once

#include <tmajit/runtime.hpp>
#include <tmajit/tensor.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

TMAJIT_BEGIN

/// What lies around the source of a padded move.
struct Padding {
  /// Where the source's first element lies in the destination, a number a dimension; negative crops.
  std::vector<std::int64_t> before;
  double value = 0;  ///< of destination elements that the source does not reach, converted to their type
};

/// One destination computed from sources of its shape, element by element. What all operations below are
/// made of.
struct Move {
  Tensor destination;
  std::vector<Tensor> sources;  ///< up to 8, each of the destination's shape but where there is a padding
  /// As for Family::map, in x0 … x7 (x for one source) and g[d], the element's coordinates in the
  /// destination. Empty: the one source's bits as they are; its elements have the size of the destination's.
  std::string expression = {};
  std::optional<Padding> padding = std::nullopt;  ///< one source and no expression
};

/// One kernel launch of a plan: what it does, and why so. Numbers are of this launch.
struct MoveStep {
  std::string kernel;                 ///< "transpose"
  std::string why;                    ///< one sentence
  std::string canonical;              ///< the loop nest, "64x128: 1,64 <- 128,1" (strides in elements)
  std::vector<std::string> rewrites;  ///< what led from the user's views to it, a sentence each
  std::vector<std::uint64_t> shape;   ///< of the canonical nest
  std::vector<std::uint32_t> tile;    ///< elements of a CTA's tile in each of its dimensions
  std::uint64_t tiles = 0;            ///< that CTAs do, `stages` each
  std::uint32_t threads = 0;          ///< of a CTA
  std::uint32_t stages = 1;           ///< tiles of a CTA in flight at once
  std::uint32_t shared_bytes = 0;     ///< of a CTA, static and dynamic
  std::uint32_t registers = 0;        ///< of a thread
  std::uint32_t ctas_per_sm = 0;      ///< that fit
  std::uint64_t bytes_in_flight = 0;  ///< of loads, of an SM full of CTAs
  std::uint64_t bytes_read = 0;       ///< each element once
  std::uint64_t bytes_written = 0;
  double predicted_us = 0;  ///< by the cost model
  bool tuned = false;       ///< chosen by a measurement (Runtime::tuning), not by the model
  struct Alternative {
    std::string choice;  ///< "transpose 256x256, 256 threads"
    double predicted_us = 0;
  };
  std::string choice;                     ///< of this kernel, as Alternative::choice
  std::vector<Alternative> alternatives;  ///< the model's view of the others, fastest first
};

/// How a plan moves what it moves.
struct MoveExplanation {
  std::vector<MoveStep> steps;  ///< in order; none if there is nothing to move
  std::string shape_class;      ///< what tuned choices are kept by
  double planning_us = 0;       ///< views to kernel choice, without making the kernels
  /// A page of text, without colour.
  [[nodiscard]] TMAJIT_API std::string text() const;
};

class GivenTensors;  // inside: which tensor of an operation each tensor of its moves is a part of

/// A move whose kernels are chosen, compiled and loaded. Cheap to copy; const use is thread-safe. Must not
/// outlive its Runtime.
class TMAJIT_API MovePlan {
 public:
  /// Enqueues the move between the tensors it was planned for. Works inside graph capture.
  void operator()(Stream stream = nullptr) const;
  /// The same move on other memory: addresses of the destinations and of the sources, in the order in which
  /// the operation was given them (for plan_moves(), each source of each move). Addresses that are less
  /// aligned than those planned for are taken too: other kernels are then made, once. Throws
  /// Error{invalid_argument} if the numbers are wrong or the tensors overlap.
  void operator()(std::span<const DevicePtr> destinations, std::span<const DevicePtr> sources,
                  Stream stream = nullptr) const;

  [[nodiscard]] std::uint64_t bytes_moved() const noexcept;        ///< read and written, each element once
  [[nodiscard]] std::span<const Kernel> kernels() const noexcept;  ///< of the steps, in order
  [[nodiscard]] std::span<const Move> moves() const noexcept;      ///< what was planned
  /// Looks at every candidate again, which takes longer than planning did.
  [[nodiscard]] MoveExplanation explain() const;

 private:
  friend MovePlan plan_moves(Runtime& runtime, std::span<const Move> moves, GivenTensors given);
  friend class Runtime;
  struct State;
  explicit MovePlan(std::shared_ptr<const State> state);
  std::shared_ptr<const State> state_;
};

/// Plans moves that together are one operation. All of them may run in any order: no destination may overlap
/// another destination or a source. Throws Error{invalid_argument} that names the tensors if one does, if
/// shapes disagree, or if a destination would be written twice (stride 0); CompileError for a wrong
/// expression; Error{unavailable} without a device.
[[nodiscard]] TMAJIT_API MovePlan plan_moves(Runtime& runtime, std::span<const Move> moves);

/// @name Operations
/// Each is one call, and a plan that can be used again. A call plans too, which takes microseconds once the
/// kernel is in memory. Sources are broadcast to the destination's shape where they are repeatable.
/// @{

/// destination = source, of types of one size: bits as they are.
[[nodiscard]] TMAJIT_API MovePlan plan_copy(Runtime& runtime, const Tensor& destination,
                                            const Tensor& source);
TMAJIT_API void copy(Runtime& runtime, const Tensor& destination, const Tensor& source,
                     Stream stream = nullptr);

/// Dimension d of the destination is dimension axes[d] of the source.
[[nodiscard]] TMAJIT_API MovePlan plan_permute(Runtime& runtime, const Tensor& destination,
                                               const Tensor& source, std::span<const std::uint32_t> axes);
TMAJIT_API void permute(Runtime& runtime, const Tensor& destination, const Tensor& source,
                        std::span<const std::uint32_t> axes, Stream stream = nullptr);

/// The source at `padding.before` in the destination, `padding.value` around it.
[[nodiscard]] TMAJIT_API MovePlan plan_pad(Runtime& runtime, const Tensor& destination, const Tensor& source,
                                           const Padding& padding);
TMAJIT_API void pad(Runtime& runtime, const Tensor& destination, const Tensor& source, const Padding& padding,
                    Stream stream = nullptr);

/// destination = source[slices].
[[nodiscard]] TMAJIT_API MovePlan plan_slice(Runtime& runtime, const Tensor& destination,
                                             const Tensor& source, std::span<const Slice> slices);
TMAJIT_API void slice(Runtime& runtime, const Tensor& destination, const Tensor& source,
                      std::span<const Slice> slices, Stream stream = nullptr);

/// The sources one after the other along `axis`.
[[nodiscard]] TMAJIT_API MovePlan plan_concat(Runtime& runtime, const Tensor& destination,
                                              std::span<const Tensor> sources, std::uint32_t axis);
TMAJIT_API void concat(Runtime& runtime, const Tensor& destination, std::span<const Tensor> sources,
                       std::uint32_t axis, Stream stream = nullptr);

/// The other way round: the source is cut along `axis`, by the destinations' extents.
[[nodiscard]] TMAJIT_API MovePlan plan_split(Runtime& runtime, std::span<const Tensor> destinations,
                                             const Tensor& source, std::uint32_t axis);
TMAJIT_API void split(Runtime& runtime, std::span<const Tensor> destinations, const Tensor& source,
                      std::uint32_t axis, Stream stream = nullptr);

/// Values converted to the destination's type, by the rules of expressions' results (docs/move.md).
[[nodiscard]] TMAJIT_API MovePlan plan_cast(Runtime& runtime, const Tensor& destination,
                                            const Tensor& source);
TMAJIT_API void cast(Runtime& runtime, const Tensor& destination, const Tensor& source,
                     Stream stream = nullptr);

/// destination = expression(sources…): "x0 * 0.5f + x1".
[[nodiscard]] TMAJIT_API MovePlan plan_map(Runtime& runtime, const Tensor& destination,
                                           std::string_view expression, std::span<const Tensor> sources);
TMAJIT_API void map(Runtime& runtime, const Tensor& destination, std::string_view expression,
                    std::span<const Tensor> sources, Stream stream = nullptr);
/// @}

TMAJIT_END
