#pragma once

#include <tmajit/tensor.hpp>
#include <tmajit/tensor_map_spec.hpp>

#include <array>
#include <cstdint>
#include <span>
#include <vector>

TMAJIT_BEGIN

/// A destination and its source, with the extents that they share.
struct RaggedPair {
  struct Operand {
    DevicePtr address = 0;                             ///< address of the element with all indices 0
    std::array<std::int64_t, max_view_rank> stride{};  ///< strides in elements
  };
  Operand destination;
  Operand source;
  std::array<std::uint64_t, max_view_rank> extent{};
};

/// The pairs of a batch that are not empty. All have the same rank.
struct RaggedPairs {
  std::uint32_t rank = 1;  ///< 1 to 5
  std::uint32_t element_bytes = 1;
  std::vector<RaggedPair> pairs = {};
};

/// A batch in as few dimensions and as wide elements as all its tensors allow. Dimensions of extent 1 are
/// dropped, and the dimension that is contiguous in most tensors comes last. Neighbouring dimensions are
/// merged if one stride describes both, in every tensor. Elements are widened to up to 8 bytes. Throws
/// Error{unsupported} if more than five dimensions remain, or if one has 2^32 elements or more.
[[nodiscard]] RaggedPairs ragged_pairs(std::span<const Tensor> destinations, std::span<const Tensor> sources);

TMAJIT_END
