#pragma once

/// Every operation: its descriptor, the function that makes it, and the one call that runs it.
#include <tmajit/operations/cast.hpp>
#include <tmajit/operations/cast_transpose.hpp>
#include <tmajit/operations/concat.hpp>
#include <tmajit/operations/convolution.hpp>
#include <tmajit/operations/copy.hpp>
#include <tmajit/operations/copy_ragged.hpp>
#include <tmajit/operations/gather.hpp>
#include <tmajit/operations/gather_sum.hpp>
#include <tmajit/operations/im2col.hpp>
#include <tmajit/operations/map.hpp>
#include <tmajit/operations/moe_permute.hpp>
#include <tmajit/operations/pad.hpp>
#include <tmajit/operations/permute.hpp>
#include <tmajit/operations/recipes.hpp>
#include <tmajit/operations/reduce.hpp>
#include <tmajit/operations/reduce_into.hpp>
#include <tmajit/operations/rowwise.hpp>
#include <tmajit/operations/scan.hpp>
#include <tmajit/operations/scatter.hpp>
#include <tmajit/operations/scatter_add.hpp>
#include <tmajit/operations/slice.hpp>
#include <tmajit/operations/split.hpp>
#include <tmajit/operations/stencil.hpp>
#include <tmajit/operations/tiles.hpp>
#include <tmajit/operations/top_k.hpp>
#include <tmajit/tensor.hpp>

#include <cstdint>
#include <variant>
#include <vector>

TMAJIT_BEGIN

/// The descriptor of a move's operation. Operations without their own descriptor, such as permute and cast,
/// consist of moves with these.
using MoveBody =
    std::variant<Copy, Padding, Map, Stencil, Reduction, Scan, Rowwise, CastTranspose, TopK, Gather, Scatter,
                 ScatterAdd, GatherSum, MoePermute, ReduceInto, Im2col, Convolution, Tiles>;

/// One destination computed from sources. All operations consist of these. The descriptor says which shapes
/// and types the sources have. Each move is a kernel, except that one kernel computes all destinations of
/// the same rows (Rowwise, TopK), of the same matrix (CastTranspose), or of a sort by experts (MoePermute).
struct Move {
  Tensor destination;
  std::vector<Tensor> sources;  ///< at most 8
  MoveBody body = {};
};

/// An operation on tensors, as the moves that do it: a pure value.
struct Operation {
  std::vector<Move> moves;
  std::vector<Tensor> destinations;  ///< the caller's; the moves' destinations are parts of them
  std::vector<Tensor> sources;
  /// A source that is not the caller's: a number that the operation adds, such as the argument eps of norms.
  static constexpr std::uint32_t own_number = 0xffffffff;
  /// The number of the caller's source of which each source of a move is a part, or own_number, if all moves
  /// have the same sources and they are not the caller's in order. Empty for other operations.
  std::vector<std::uint32_t> source_parts = {};
  /// All moves are copies and share one launch.
  bool one_launch = false;

  /// The operation that consists of `moves`, which may run in any order; its tensors are the moves' tensors.
  [[nodiscard]] TMAJIT_API static Operation of(std::vector<Move> moves);
};

TMAJIT_END
