#pragma once

#include "reference/moves.hpp"
#include "reference/random_maps.hpp"

#include <tmajit/move.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace reference {

enum class MoveKind : std::uint8_t { copy, permute, flip, slice, pad, concat, split, cast, map };
inline constexpr std::array all_move_kinds{MoveKind::copy,  MoveKind::permute, MoveKind::flip,
                                           MoveKind::slice, MoveKind::pad,     MoveKind::concat,
                                           MoveKind::split, MoveKind::cast,    MoveKind::map};
[[nodiscard]] const char* name(MoveKind kind) noexcept;

/// A tensor in one of a move's buffers.
struct BufferView {
  tmajit::TensorView view;
  std::size_t buffer = 0;
  std::uint64_t offset = 0;  ///< bytes from the buffer's beginning to the element with all indices 0
};

/// An operation with everything it is given. Buffers begin at addresses that are multiples of 256.
struct RandomMove {
  MoveKind kind{};
  std::vector<BufferView> destinations;
  std::vector<BufferView> sources;
  std::vector<std::uint64_t> buffers;  ///< bytes of each
  std::uint32_t axis = 0;              ///< flip, concat, split
  std::vector<std::uint32_t> axes;     ///< permute
  std::vector<tmajit::Slice> slices;   ///< slice
  std::vector<std::int64_t> before;    ///< pad: a number a dimension
  double value = 0;                    ///< pad
  std::string expression;              ///< map
  MoveFunction function;               ///< what the expression computes
};

struct MoveLimits {
  std::uint64_t elements = 20'000;  ///< of the destinations; every eighth pattern may have `most_elements`
  std::uint64_t most_elements = 400'000;
  std::uint64_t bytes = 24'000'000;  ///< of all buffers together
  std::uint64_t guard = 64;          ///< bytes of a buffer before and after what its tensors reach
};

/// A legal move. `pattern` decides what kernels are made for: operation, types, rank, orders of dimensions,
/// signs, broadcasts, alignment, about how large it is; `variation` extents, gaps, offsets and cuts within
/// that. Moves of one pattern mostly need the same kernels. Any rank from 0 to 8, extents 0 and 1, negative
/// strides, sources with strides of 0 and with elements that lie on each other, destinations and sources that
/// interleave in one buffer.
[[nodiscard]] RandomMove random_move(std::uint64_t pattern, std::uint64_t variation,
                                     const MoveLimits& limits = {});

/// All of it in one line.
[[nodiscard]] std::string describe(const RandomMove& move);

/// What its buffers hold, the gaps too.
using Buffers = std::vector<std::vector<std::byte>>;

/// Random bytes.
[[nodiscard]] Buffers random_buffers(const RandomMove& move, std::uint64_t seed);

/// Does the move in host memory.
void apply(const RandomMove& move, Buffers& buffers);

/// Where buffers after a move differ from what apply() left, in a sentence; empty if nowhere. Two NaNs of a
/// cast's, map's or pad's destination are equal.
[[nodiscard]] std::string difference(const RandomMove& move, const Buffers& expected, Buffers found);

}  // namespace reference
