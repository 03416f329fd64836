#pragma once

#include <tmajit/tensor.hpp>
#include <tmajit/tensor_map_spec.hpp>

#include <array>
#include <cstdint>
#include <span>
#include <vector>

TMAJIT_BEGIN

/// A destination and its source, as a kernel walks them.
struct RaggedPair {
  struct Side {
    DevicePtr address = 0;                             ///< address of the element with all indices 0
    std::array<std::int64_t, max_view_rank> stride{};  ///< elements
  };
  Side destination;
  Side source;
  std::array<std::uint64_t, max_view_rank> extent{};
};

/// Those of a batch that are not empty, all with the same dimensions.
struct RaggedPairs {
  std::uint32_t rank = 1;  ///< 1 to 5
  std::uint32_t element_bytes = 1;
  std::vector<RaggedPair> pairs = {};
};

/// A batch in as few dimensions and as wide elements as all of it allows: dimensions of one index go, that
/// which is contiguous in most tensors comes last, neighbours that lie one behind the other in every tensor
/// become one, and elements that always travel together become one of up to 8 bytes. Throws
/// Error{unsupported} for more than five dimensions then, or for 2^32 elements along one.
[[nodiscard]] RaggedPairs ragged_pairs(std::span<const Tensor> destinations, std::span<const Tensor> sources);

TMAJIT_END
