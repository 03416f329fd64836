#pragma once

#include "plan/canonical.hpp"

#include <tmajit/move.hpp>

#include <array>
#include <cstdint>
#include <string>

TMAJIT_BEGIN

/// A move as the planner sees it: what is accessed, of which types, how it is aligned.
struct MoveProblem {
  CanonicalNest nest;
  std::array<ElementType, max_operands> type{};   ///< the destination's first
  std::array<DevicePtr, max_operands> address{};  ///< of the nest's first element
  std::array<DevicePtr, max_operands> low{};      ///< an operand's elements lie in the bytes [low, high)
  std::array<DevicePtr, max_operands> high{};
  std::string expression;    ///< empty: bits as they are
  bool coordinates = false;  ///< the expression reads g
  std::uint32_t joined = 1;  ///< elements of `type` that are one of the nest's (widened())
  double padding = 0;

  [[nodiscard]] std::uint32_t sources() const noexcept { return nest.operands - 1; }
  [[nodiscard]] std::uint32_t element_bytes(std::uint32_t operand) const noexcept {
    return size_of(type[operand]) * joined;
  }
  /// Bytes from one index of a dimension to the next.
  [[nodiscard]] std::int64_t step(std::uint32_t operand, std::uint32_t d) const noexcept {
    return nest.operand[operand].strides[d] * static_cast<std::int64_t>(element_bytes(operand));
  }
  /// The largest power of two, at most 16, that every address of an operand is a multiple of where dimension
  /// `along` (or none) has the index 0.
  [[nodiscard]] std::uint32_t alignment(std::uint32_t operand, std::uint32_t along) const noexcept;
  /// Bytes that are read and written, each element once.
  [[nodiscard]] std::uint64_t bytes_read() const noexcept;
  [[nodiscard]] std::uint64_t bytes_written() const noexcept;
};

/// In the widest elements that help. Throws what canonical() throws, and Error{invalid_argument} for numbers
/// of sources, types and paddings that do not go together.
[[nodiscard]] MoveProblem move_problem(const Move& move);

TMAJIT_END
