#include "families/ragged/ragged_pairs.hpp"

#include <tmajit/error.hpp>

#include <algorithm>
#include <limits>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

constexpr std::uint32_t widest_element = 8;

/// Whether f(pair, operand) is true for both operands of each pair.
template <class F>
bool both_operands(const RaggedPairs& batch, F&& f) {
  return std::ranges::all_of(
      batch.pairs, [&](const RaggedPair& pair) { return f(pair, pair.destination) && f(pair, pair.source); });
}

void move_dimension(RaggedPairs& batch, std::uint32_t from, std::uint32_t to) {
  const auto rotate = [&](auto& list) {
    const auto begin = list.begin();
    std::rotate(begin + from, begin + from + 1, begin + to + 1);
  };
  for (RaggedPair& pair : batch.pairs) {
    rotate(pair.extent);
    rotate(pair.destination.stride);
    rotate(pair.source.stride);
  }
}

void drop_single_dimensions(RaggedPairs& batch) {
  for (std::uint32_t d = 0; d < batch.rank;) {
    const bool single =
        std::ranges::all_of(batch.pairs, [&](const RaggedPair& pair) { return pair.extent[d] == 1; });
    if (!single) {
      ++d;
      continue;
    }
    move_dimension(batch, d, batch.rank - 1);
    --batch.rank;
  }
}

/// Moves the dimension in which most tensors are contiguous to the end; if there are several, the last of
/// them.
void put_contiguous_last(RaggedPairs& batch) {
  std::ptrdiff_t most = -1;
  std::uint32_t chosen = 0;
  for (std::uint32_t d = 0; d < batch.rank; ++d) {
    const auto contiguous = std::ranges::count_if(batch.pairs, [&](const RaggedPair& pair) {
      return pair.extent[d] > 1 && pair.destination.stride[d] == 1 && pair.source.stride[d] == 1;
    });
    if (contiguous < most) continue;
    most = contiguous;
    chosen = d;
  }
  if (batch.rank > 0) move_dimension(batch, chosen, batch.rank - 1);
}

/// Merges neighbouring dimensions if one stride describes both, in all tensors.
void merge_dimensions(RaggedPairs& batch) {
  for (std::uint32_t d = batch.rank; d-- > 1;) {
    const std::uint32_t outer = d - 1;
    const bool merges = both_operands(batch, [&](const RaggedPair& pair, const RaggedPair::Operand& operand) {
      return pair.extent[outer] == 1 || pair.extent[d] == 1 ||
             operand.stride[outer] == operand.stride[d] * static_cast<std::int64_t>(pair.extent[d]);
    });
    if (!merges) continue;
    for (RaggedPair& pair : batch.pairs) {
      for (RaggedPair::Operand* operand : {&pair.destination, &pair.source}) {
        if (pair.extent[d] == 1) operand->stride[d] = operand->stride[outer];
        operand->stride[outer] = operand->stride[d];
      }
      pair.extent[outer] *= pair.extent[d];
      pair.extent[d] = 1;
    }
    move_dimension(batch, d, batch.rank - 1);
    --batch.rank;
  }
}

/// Doubles the element size while all rows of all tensors consist of whole elements.
void widen(RaggedPairs& batch) {
  if (batch.rank == 0 || batch.pairs.empty()) return;
  const std::uint32_t last = batch.rank - 1;
  while (batch.element_bytes < widest_element) {
    const std::uint64_t bytes = std::uint64_t{batch.element_bytes} * 2;
    const bool whole = both_operands(batch, [&](const RaggedPair& pair, const RaggedPair::Operand& operand) {
      if (operand.address % bytes != 0 || pair.extent[last] % 2 != 0 || operand.stride[last] != 1)
        return false;
      for (std::uint32_t d = 0; d < last; ++d) {
        if (pair.extent[d] > 1 && operand.stride[d] % 2 != 0) return false;
      }
      return true;
    });
    if (!whole) return;
    batch.element_bytes *= 2;
    for (RaggedPair& pair : batch.pairs) {
      pair.extent[last] /= 2;
      for (std::uint32_t d = 0; d < last; ++d) {
        pair.destination.stride[d] /= 2;
        pair.source.stride[d] /= 2;
      }
    }
  }
}

}  // namespace

RaggedPairs ragged_pairs(std::span<const Tensor> destinations, std::span<const Tensor> sources) {
  RaggedPairs batch{.rank = 0};
  for (std::size_t i = 0; i < destinations.size(); ++i) {
    const TensorView& to = destinations[i].view;
    const TensorView& from = sources[i].view;
    batch.rank = to.rank;
    batch.element_bytes = size_of(to.type);
    if (to.elements() == 0) continue;
    batch.pairs.push_back({.destination = {destinations[i].address, to.strides},
                           .source = {sources[i].address, from.strides},
                           .extent = to.shape});
  }
  drop_single_dimensions(batch);
  put_contiguous_last(batch);
  merge_dimensions(batch);
  widen(batch);
  if (batch.rank == 0) {
    batch.rank = 1;
    for (RaggedPair& pair : batch.pairs) {
      pair.extent[0] = 1;
      pair.destination.stride[0] = pair.source.stride[0] = 1;
    }
  }
  if (batch.rank > max_map_rank) {
    throw Error(
        ErrorCode::unsupported,
        fmt::format("a batch of {} dimensions, after merging those that every tensor walks like one; at most "
                    "{} are possible. Copy the tensors one by one.",
                    batch.rank, max_map_rank));
  }
  for (const RaggedPair& pair : batch.pairs) {
    const std::uint64_t most =
        *std::ranges::max_element(pair.extent.begin(), pair.extent.begin() + batch.rank);
    if (most <= std::numeric_limits<std::uint32_t>::max()) continue;
    throw Error(
        ErrorCode::unsupported,
        fmt::format(
            "a tensor of {} elements along one dimension in a batch; at most 2^32 - 1 are possible. Copy "
            "it by itself.",
            most));
  }
  return batch;
}

TMAJIT_END
