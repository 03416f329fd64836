#pragma once

#include <tmajit/list.hpp>
#include <tmajit/tensor.hpp>

#include <cstdint>
#include <string_view>

TMAJIT_BEGIN

class Runtime;
struct Operation;

/// Sorts the rows of tokens by the experts that a router chose for them, in one launch and without a
/// workspace. Equal calls leave equal bits.
struct MoePermute {
  static constexpr std::string_view operation = "moe_permute";
  /// The first row of each expert is a multiple of this number of rows: 1 to 2^30.
  std::uint32_t alignment = 1;
  // Set by operation::moe_permute().
  std::uint64_t experts = 0;   ///< the extent of `counts`
  std::uint64_t capacity = 0;  ///< the rows of `rows`
  std::uint32_t result = 0;    ///< the destination that a move computes, an index into {rows, …, offsets}
};

namespace operation {
/// Destinations are {rows, positions, counts, offsets}. All tensors may have any strides; a destination may
/// not overlap another tensor.
///
/// - `x`: T tokens × a row of one or more dimensions, of any type. Bits are moved.
/// - `experts`: T × K expert ids of i32, i64, u32 or u64: the K slots of each token, at most 1024. T ids have
///   K = 1. Ids outside of [0, E), also negative ones, belong to experts of other GPUs: nothing is moved.
/// - `rows`: R × the row's dimensions, with elements of x's size: a row for each (token, slot) with an id in
///   [0, E), sorted by expert, and by token and slot within an expert. Padding rows, between experts and
///   after the last one, are not written. Rows beyond R are not stored.
/// - `positions`, i32, has the shape of `experts`: the row of (token, slot) in `rows`; -2^31 if it has none.
/// - `counts`, E × i32, with E from 1 to 4096: the number of rows of each expert, without padding.
/// - `offsets`, (E + 1) × i32: the first row of each expert, a multiple of `alignment`; then the number of
///   rows with padding. Counts and offsets include rows beyond R.
///
/// Throws Error{invalid_argument} unless there are four destinations. plan() throws SpecError for shapes,
/// types, an alignment or numbers of experts, slots and rows that are not legal (docs/moe.md).
[[nodiscard]] TMAJIT_API Operation moe_permute(List<Tensor> destinations, const Tensor& x,
                                               const Tensor& experts, const MoePermute& what = {});
}  // namespace operation

/// One call: plan(runtime, operation::moe_permute(…)) and a launch (docs/moe.md).
TMAJIT_API void moe_permute(const Runtime& runtime, List<Tensor> destinations, const Tensor& x,
                            const Tensor& experts, const MoePermute& what = {}, Stream stream = nullptr);

TMAJIT_END
