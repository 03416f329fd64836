#pragma once

#include <tmajit/operation.hpp>

#include <string_view>

TMAJIT_BEGIN

// Which results are the same bits in every kernel, for OperationRules::same_bits. A compiler may join a
// multiplication and an addition of floating-point numbers in one kernel and not in another, which computes
// the product once for many elements. Sums depend on the order of their terms.

/// The move's elements are moved, selected or converted one by one.
[[nodiscard]] constexpr bool moves_bits(const Move& /*move*/) noexcept {
  return true;
}
/// Whether an expression has neither a multiplication nor a call other than those of a source's neighbour and
/// of conversions, so that compilers have nothing to join.
[[nodiscard]] bool rounds_alike(std::string_view expression) noexcept;
/// Whether the sum of an expression over a move's sources is one of integers, which wrap.
[[nodiscard]] bool sums_integers(const Move& move, std::string_view expression) noexcept;

TMAJIT_END
