#pragma once

#include "families/shared/views.hpp"

#include <tmajit/indexed_plan.cuh>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

TMAJIT_BEGIN

// Code of the families that move vectors by index tensors.

inline constexpr std::uint32_t max_piece_bytes = 16;  ///< the widest load or store of a thread
/// Kernels of tensors of rank 1 and 2 are the same, so that a single row needs no kernel of its own.
inline constexpr std::uint32_t min_indexed_rank = 2;
/// Vectors are numbered by 32 bits if there are fewer than this: dividends of a params::Divider are below
/// 2^31, and a kernel's last CTA has up to 2^20 numbers beyond the end.
inline constexpr std::uint64_t max_narrow_vectors = (std::uint64_t{1} << 31) - (std::uint64_t{1} << 20);

/// Elements of a vector: as many as are contiguous and aligned in both tensors, and selected by one index.
[[nodiscard]] std::uint32_t indexed_vector_elements(const Problem& problem) noexcept;

/// Elements of a vector whose elements are computed with, as many as rows of both tensors allow: at most 16
/// bytes of the source, and at most 32 bytes of the destination. If several elements of the destination share
/// a word of 32 bits, at most 16 bytes of it.
[[nodiscard]] std::uint32_t computed_vector_elements(const Problem& problem) noexcept;

/// The facts of templates/kernels/indices.cuh.
struct IndexFacts {
  std::uint32_t rank = min_indexed_rank;
  std::uint32_t digits =
      min_indexed_rank;          ///< the dimensions, and the axes of an index tensor that numbers several
  std::uint32_t indices = 1;     ///< index tensors and weights
  std::uint32_t index_type = 0;  ///< an ElementType
  std::uint32_t range = 0;       ///< an OutOfRange
  Flag wide = 0;                 ///< vectors have 64-bit numbers
  Flag wide_slots = 0;           ///< the elements of several axes have 64-bit numbers
};
/// The facts of a kernel that divides numbers below `vectors` into indices.
[[nodiscard]] IndexFacts index_facts_of(const Problem& problem, std::uint64_t vectors);
/// The facts as source text. `operation` is the operation that an index out of range names when it stops the
/// launch.
[[nodiscard]] std::string text_of(const IndexFacts& facts, std::string_view operation);

/// A digit that counts dimension `d` of the nest in vectors of `elements` elements. If `d` is the nest's
/// rank, it has one index. With `wide`, its numbers have 64 bits, and it needs no divider.
template <std::uint32_t indices>
[[nodiscard]] params::IndexedDigit<indices> indexed_digit(const Problem& problem, std::uint32_t d,
                                                          std::uint32_t elements, bool wide) {
  params::IndexedDigit<indices> digit{};
  digit.extent = d == problem.nest.rank ? 1 : problem.nest.shape[d] / elements;
  if (d < problem.nest.rank) {
    digit.destination = problem.step(0, d) * elements;
    digit.source = problem.step(1, d) * elements;
    for (std::uint32_t k = 0; k < indices; ++k) digit.index[k] = problem.step(k + 2, d) * elements;
  }
  if (!wide) digit.count = make_divider<params::Divider>(digit.extent);
  return digit;
}

/// A digit that counts axis `k` of the axes that one index tensor indexes.
template <std::uint32_t indices>
[[nodiscard]] params::IndexedDigit<indices> axis_digit(const Problem& problem, std::uint32_t k, bool wide) {
  const auto& body = problem.as<IndexedProblem>();
  params::IndexedDigit<indices> digit{};
  digit.extent = body.axis[k].extent;
  digit.source = body.axis[k].stride * static_cast<std::int64_t>(problem.element_bytes(body.selected()));
  if (!wide) digit.count = make_divider<params::Divider>(digit.extent);
  return digit;
}

/// Sets the addresses of a plan, the dimensions that its index tensors index, and the digits of an index
/// tensor with several axes.
template <class Plan>
void set_indexed_tensors(Plan& plan, const Problem& problem, const IndexFacts& facts) {
  const auto& body = problem.as<IndexedProblem>();
  set_address(plan.destination, problem.address[0]);
  set_address(plan.source, problem.address[1]);
  for (std::uint32_t k = 0; k < std::size(plan.index); ++k) {
    set_address(plan.index[k].first, problem.address[k + 2]);
    plan.index[k].extent = static_cast<std::int64_t>(k == 0 ? body.first_extent() : body.axis[k].extent);
    plan.index[k].step =
        body.axis[k].stride * static_cast<std::int64_t>(problem.element_bytes(body.selected()));
  }
  for (std::uint32_t k = 0; k < body.flat; ++k)
    plan.digit[facts.rank + k] =
        axis_digit<std::extent_v<decltype(plan.index)>>(problem, k, facts.wide_slots != 0);
}

/// Sets the digits that count the nest's dimensions, the last in vectors of `vector` elements. Digits without
/// a dimension come first.
template <class Plan>
void set_indexed_digits(Plan& plan, const Problem& problem, const IndexFacts& facts, std::uint32_t vector) {
  constexpr auto indices = static_cast<std::uint32_t>(std::extent_v<decltype(plan.index)>);
  const std::uint32_t nest_rank = problem.nest.rank;
  for (std::uint32_t n = 0; n < facts.rank; ++n) {
    const std::uint32_t d = n < nest_rank ? nest_rank - 1 - n : nest_rank;
    plan.digit[facts.rank - 1 - n] = indexed_digit<indices>(problem, d, n == 0 ? vector : 1, facts.wide != 0);
  }
}

/// Adds a plan as the parameter "plan", and marks its addresses. Returns the plan's offset.
template <class Plan>
std::uint32_t add_indexed_plan(ParameterBlock& parameters, ParameterType type, const Plan& plan) {
  const std::uint32_t at = parameters.add(type, "plan", plan);
  parameters.add_address(at + static_cast<std::uint32_t>(offsetof(Plan, destination)), 0);
  parameters.add_address(at + static_cast<std::uint32_t>(offsetof(Plan, source)), 1);
  for (std::uint32_t k = 0; k < std::size(plan.index); ++k) {
    parameters.add_address(
        at + static_cast<std::uint32_t>(offsetof(Plan, index) + k * sizeof(params::IndexTensor)), k + 2);
  }
  return at;
}

TMAJIT_END
