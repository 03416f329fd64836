#pragma once

#include "problem.hpp"

#include <tmajit/dims.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace jitc {

/// The dimensions that --axes names for an operation with index tensors; 0 by default. Throws
/// Error{invalid_argument} unless they are numbers.
[[nodiscard]] tmajit::Dims indexed_axes(const ProblemOptions& options);

/// The shape of made-up index tensors: that of --index-shape, or one that fits a first input of shape
/// `first`. `scatters`: the indices select elements of the output.
[[nodiscard]] Shape index_shape(const ProblemOptions& options, const Shape& first, bool scatters);

/// Fills a made-up index tensor, the input number `input` of a problem, with places in the dimension that it
/// indexes, or with ids of experts. The places of a scatter are different, if there are enough.
void fill_with_places(std::span<std::byte> elements, const Problem& problem, std::size_t input,
                      std::uint64_t seed);

}  // namespace jitc
