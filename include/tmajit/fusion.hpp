#pragma once

#include <tmajit/list.hpp>
#include <tmajit/move.hpp>
#include <tmajit/operation.hpp>
#include <tmajit/tensor.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

TMAJIT_BEGIN

/// A chain of operations with fewer passes over memory.
struct Fusion {
  std::vector<Operation> operations;   ///< to be executed in order
  std::vector<std::string> sentences;  ///< each says which operations are fused, or why two are not
};

/// Fuses operations of a chain, which are executed in order (docs/fusion.md). A source of an operation may be
/// a destination of an earlier one, or a view of a part of it. `unused` lists the intermediate tensors that
/// nothing reads after the chain: they need not be written. All other tensors have the same elements after
/// the fused chain as after the given one, with three exceptions: sums of floating point may add in another
/// order, a compiler may contract a product and a sum of fused expressions to an FMA, and the bits of a NaN
/// are unspecified.
///
/// A pure function, which needs no device. Throws SpecError for an operation of the chain that is not legal,
/// as plan() does.
[[nodiscard]] TMAJIT_API Fusion fuse(List<Operation> chain, List<Tensor> unused);

/// A tensor that a launch of a ChainPlan finds at another address.
struct MovedTensor {
  Tensor planned;         ///< a tensor of the chain, at the address for which it was planned
  DevicePtr address = 0;  ///< its address in the launch
};

/// The plans of a fused chain. Cheap to copy; const use is thread-safe.
class TMAJIT_API ChainPlan {
 public:
  /// Enqueues the operations in order, with the tensors for which they were planned. Works inside graph
  /// capture. Throws Error{unavailable} without a device.
  void operator()(Stream stream = nullptr) const;
  /// Enqueues the operations on other memory: `moved` and all parts of these tensors are at other addresses,
  /// all other tensors at those for which they were planned. Tensors that the fused operations do not use may
  /// be among them. Costs little more than the launches, except that the first launch with a new alignment
  /// may compile other kernels. Throws Error{invalid_argument} if an operation's tensor is only partly within
  /// a moved one, or if a destination would share other bytes with another tensor of the chain than planned.
  void operator()(List<MovedTensor> moved, Stream stream = nullptr) const;

  [[nodiscard]] std::span<const Plan> plans() const noexcept;             ///< in order
  [[nodiscard]] std::uint64_t bytes_moved() const noexcept;               ///< by all plans
  [[nodiscard]] std::span<const std::string> sentences() const noexcept;  ///< Fusion::sentences
  /// A page of text without colour: the sentences, then the explanation of each plan.
  [[nodiscard]] std::string explanation() const;

 private:
  friend TMAJIT_API ChainPlan plan(const Runtime& runtime, const Fusion& fusion);
  ChainPlan() = default;
  std::vector<Plan> plans_;
  std::vector<std::string> sentences_;
};

/// Plans each operation of a fused chain, and throws the errors of plan(const Runtime&, const Operation&).
[[nodiscard]] TMAJIT_API ChainPlan plan(const Runtime& runtime, const Fusion& fusion);

TMAJIT_END
