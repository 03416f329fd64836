#pragma once

#include "runtime/built_kernel.hpp"
#include "runtime/row_tail.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <span>

TMAJIT_BEGIN

/// The launch of a kernel over given operands: shape, and the parameters in the memory that the driver reads
/// them from. Self-contained and without heap, so that launch() can build one on its stack.
class Binding {
 public:
  /// Throws SpecError, Error{invalid_argument} and Error{unavailable} as Kernel::prepare() says.
  Binding(const BuiltKernel& kernel, std::span<const Operand> inputs, const Operand& output);
  Binding(const Binding&) = delete;  // pointers_ points into this object
  Binding& operator=(const Binding&) = delete;

  [[nodiscard]] const LaunchShape& shape() const noexcept { return shape_; }
  [[nodiscard]] std::span<void* const> parameters() const noexcept { return {pointers_.data(), count_}; }
  [[nodiscard]] std::uint64_t bytes_moved() const noexcept { return bytes_moved_; }

 private:
  void bind_tiles(const BuiltKernel& kernel, std::span<const Operand> inputs, const Operand& output);
  void bind_bulk(const KernelSpec& spec, const Operand& input, const Operand& output);
  void add(void* parameter) noexcept { pointers_[count_++] = parameter; }

  std::array<EncodedTensorMap, max_inputs + 1> maps_;
  std::array<std::uint64_t, 3> words_{};
  std::optional<RowTail> tail_;  // of copy and map
  std::array<void*, max_inputs + 3> pointers_{};
  std::size_t count_ = 0;
  std::uint64_t bytes_moved_ = 0;
  LaunchShape shape_;
  std::array<std::uint32_t, max_map_rank> tiles_{};
};

/// Throws Error{unavailable} if `kernel` is not loaded on a device.
void require_device(const BuiltKernel& kernel);

TMAJIT_END
