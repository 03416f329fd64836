#pragma once

#include "problem.hpp"

#include <tmajit/dims.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace jitc {

/// The meaning of an input's elements.
enum class InputRole { elements, indices, weights, offsets };
/// The role of one of `count` inputs. With `ragged` the last one holds the offsets of bags.
[[nodiscard]] InputRole role_of(const tmajit::OperationInfo& operation, bool ragged, std::size_t input,
                                std::size_t count);

/// The dimensions that --axes names for an operation with index tensors; 0 by default. Throws
/// Error{invalid_argument} unless they are numbers.
[[nodiscard]] tmajit::Dims indexed_axes(const ProblemOptions& options);

/// The shape of made-up index tensors: that of --index-shape, or one that fits a first input of shape
/// `first`. `scatters`: the indices select elements of the output.
[[nodiscard]] Shape index_shape(const ProblemOptions& options, const Shape& first, bool scatters);

/// The shape of made-up offsets: a bag for every 8 indices of an index tensor of this shape.
[[nodiscard]] Shape offsets_shape(const Shape& index);

/// Fills made-up offsets with numbers from 0 to the number of indices, in order, the first and the last one
/// included.
void fill_with_offsets(std::span<std::byte> elements, const Problem& problem, std::size_t input,
                       std::uint64_t seed);

/// Fills a made-up index tensor, the input number `input` of a problem, with places in the dimension that it
/// indexes, or with ids of experts. The places of a scatter are different, if there are enough.
void fill_with_places(std::span<std::byte> elements, const Problem& problem, std::size_t input,
                      std::uint64_t seed);

}  // namespace jitc
