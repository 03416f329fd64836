#pragma once

#include "spec/overlap.hpp"
#include "spec/violations.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <string>

TMAJIT_BEGIN

// The rules for tensors in memory, which every kernel and operation checks: types, extents, addresses, and
// that written elements overlap no other operand.

/// A tensor that a kernel or an operation reads or writes.
struct PlacedOperand {
  const TensorView* view = nullptr;
  DevicePtr address = 0;
  bool written = false;
  /// The number of the element-wise computation to which the operand belongs. A source may be the same tensor
  /// as the destination only within one group.
  std::uint32_t group = 0;
  bool in_place = false;  ///< whether a source may be exactly the destination
};
/// Returns an operand's name in violations: "the destination", "source 2 of move 1". Only called for operands
/// that break a rule.
using OperandName = std::function<std::string(std::size_t operand)>;

/// Checks rank, type and extents, and that the view spans at most 2^62 bytes.
void check_view_limits(const TensorView& view, const std::function<std::string()>& name,
                       Violations& violations);
/// Checks that an address is not null, and a multiple of `unit` bytes. Empty tensors pass with any address.
void check_placed_address(const TensorView& view, DevicePtr address, std::uint64_t unit,
                          const std::function<std::string()>& name, Violations& violations);
/// Checks that no two indices of the tensor are the same element.
void check_written_once(const TensorView& view, DevicePtr address, const std::function<std::string()>& name,
                        Violations& violations);
/// Checks that written operands share no byte with other operands. Interleaved views that share no byte are
/// legal. The check is exact, except for irregular strides that a bounded search cannot decide: it reports
/// them.
void check_disjoint(std::span<const PlacedOperand> operands, const OperandName& name, Violations& violations);

/// "f32 16x64 with strides 64,1".
[[nodiscard]] std::string view_text(const TensorView& view);
/// "16x64"; "one element" for rank 0.
[[nodiscard]] std::string shape_text(std::span<const std::uint64_t> shape);

TMAJIT_END
