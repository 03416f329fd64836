#pragma once

#include <tmajit/list.hpp>
#include <tmajit/tensor.hpp>

#include <cstdint>
#include <string_view>

TMAJIT_BEGIN

class Runtime;
struct Operation;

/// Sorts the rows of tokens by the experts that a router chose for them, in one launch and without memory
/// beside its tensors. Equal calls leave equal bits.
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
/// Destinations are {rows, positions, counts, offsets}:
///
/// - `x`: T tokens × a row of one or more dimensions, of any type. Bits are moved.
/// - `experts`: T × K expert ids, K slots of each token; or T ids, for K = 1. i32, i64, u32 or u64. An id
///   outside of [0, E) belongs to an expert of another GPU: nothing is moved. Negative ids are such ids.
/// - `rows`: R × the row's dimensions, of elements of x's size: the rows of all (token, slot) with a legal
///   id, sorted by expert, and by token and slot within an expert. Rows between experts, and those after the
///   last expert, are not written. Rows beyond R are not stored.
/// - `positions`, i32, has the shape of `experts`: the row of (token, slot) in `rows`; -2^31 if it has none.
/// - `counts`, E × i32: the number of rows of each expert, without padding.
/// - `offsets`, (E + 1) × i32: the first row of each expert, a multiple of `alignment`; then the number of
///   rows with padding, whatever R is.
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
