#pragma once

#include <tmajit/chip.hpp>
#include <tmajit/kernel_plan.hpp>
#include <tmajit/list.hpp>
#include <tmajit/operations/copy_ragged.hpp>
#include <tmajit/runtime.hpp>
#include <tmajit/tensor.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

TMAJIT_BEGIN

/// A batch of copies as one launch: a pure value.
struct RaggedPlan {
  KernelPlan kernel;  ///< kernel whose operands are the table
  /// The kernel's table: the tensors' addresses, extents, strides and numbers of tiles. To be in device
  /// memory, at the address that the batch was planned for, when the kernel runs.
  std::vector<std::byte> table;
};

/// Plans destinations[i] = sources[i] for every i, bits as they are, all in one launch. All tensors have one
/// rank and elements of one size; sources[i] has the shape of destinations[i], and each pair a shape and
/// strides of its own. Tensors may be empty, and so may the batch. The copy engine moves pairs that tensor
/// maps describe: both addresses, and all strides but that of the last dimension, which is contiguous, are
/// multiples of 16 bytes; threads move the remaining pairs, in the same launch. `table` is the address of
/// RaggedPlan::table, a multiple of 256; 0: the kernel cannot be launched. Throws Error{invalid_argument} if
/// there are not as many sources as destinations; SpecError that names the tensors and the rule if shapes,
/// types or addresses do not go together, or if tensors overlap; Error{unsupported} for more than five
/// dimensions, after those that lie one behind the other in every tensor have become one, or for more than
/// 2^31 - 1 tiles.
[[nodiscard]] TMAJIT_API RaggedPlan plan_ragged(List<Tensor> destinations, List<Tensor> sources,
                                                DevicePtr table = 0, const Chip& chip = {});

/// A batch of copies that is ready to be launched, any number of times and on any stream: it owns the table
/// in device memory, which must live until all launches are done. Const use is thread-safe.
class TMAJIT_API RaggedCopy {
 public:
  /// Plans, compiles and loads the kernel, and brings the table to the device. Throws what plan_ragged()
  /// throws; Error{unavailable} without a device.
  RaggedCopy(const Runtime& runtime, List<Tensor> destinations, List<Tensor> sources);

  // Copied, never moved: a handle is always valid.
  RaggedCopy(const RaggedCopy&) = default;
  RaggedCopy& operator=(const RaggedCopy&) = default;
  ~RaggedCopy() = default;

  /// Enqueues all copies, in one launch.
  void operator()(Stream stream = nullptr) const;

  [[nodiscard]] const KernelPlan& plan() const noexcept;
  [[nodiscard]] const Kernel& kernel() const noexcept;
  [[nodiscard]] std::uint64_t bytes_moved() const noexcept;  ///< read and written, each element once

 private:
  struct State;
  std::shared_ptr<const State> state_;
};

TMAJIT_END
