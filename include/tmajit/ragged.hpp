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
  KernelPlan kernel;  ///< kernel, which reads its tensors from `table`
  /// The kernel's table: the tensors' addresses, extents, strides and numbers of tiles. When the kernel runs,
  /// it must be in device memory at the address that was passed to plan_ragged().
  std::vector<std::byte> table;
};

/// Plans destinations[i] = sources[i] for every i, bit for bit, all in one launch. All tensors have the same
/// rank and element size. sources[i] has the shape of destinations[i]; each pair has its own shape and
/// strides. The batch and its tensors may be empty.
///
/// The copy engine moves pairs that tensor maps describe: the last dimension is contiguous, and both
/// addresses and all other strides are multiples of 16 bytes. Threads move the remaining pairs, in the same
/// launch. `table` is the future address of RaggedPlan::table, a multiple of 256; with 0 the kernel cannot be
/// launched.
///
/// Throws Error{invalid_argument} if there are not as many sources as destinations; SpecError that names the
/// tensors and the rule if shapes, types or addresses do not fit together, or if tensors overlap;
/// Error{unsupported} for more than five dimensions, after merging those that are contiguous in every tensor,
/// or for more than 2^31 - 1 tiles.
[[nodiscard]] TMAJIT_API RaggedPlan plan_ragged(List<Tensor> destinations, List<Tensor> sources,
                                                DevicePtr table = 0, const Chip& chip = {});

/// A batch of copies that is ready to be launched, any number of times and on any stream. It owns the table
/// in device memory, so it must live until all launches are done. Const use is thread-safe.
class TMAJIT_API RaggedCopy {
 public:
  /// Plans, compiles and loads the kernel, and copies the table to the device. Throws what plan_ragged()
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
