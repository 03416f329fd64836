#pragma once

#include "plan/all_candidates.hpp"
#include "reference/random_maps.hpp"

#include <tmajit/plan.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tests {

using Shape = std::vector<std::uint64_t>;
using Strides = std::vector<std::int64_t>;

/// Addresses far enough apart for every tensor of these tests.
inline constexpr tmajit::DevicePtr to_address = 0x7f00'0000'0000;
inline constexpr tmajit::DevicePtr from_address = 0x7e00'0000'0000;

[[nodiscard]] tmajit::Tensor dense(tmajit::ElementType type, const Shape& shape,
                                   tmajit::DevicePtr address = from_address);
[[nodiscard]] tmajit::Tensor strided(tmajit::ElementType type, const Shape& shape, const Strides& strides,
                                     tmajit::DevicePtr address = from_address);

/// A move of permuted(source, axes) to a dense destination.
[[nodiscard]] tmajit::Move permutation(tmajit::ElementType type, const Shape& source,
                                       const std::vector<std::uint32_t>& axes);

/// Returns the traits of a kernel, without sizes: "general staggered run:1 image".
[[nodiscard]] std::string traits(const tmajit::Candidate& candidate, const tmajit::Problem& problem);

/// The value of a number among a kernel's facts; nullopt if it has none of that name.
[[nodiscard]] std::optional<std::uint64_t> number_of(const std::string& facts, std::string_view name);
/// Returns the facts that a kernel's source declares.
[[nodiscard]] std::string facts_text(const tmajit::Candidate& candidate, const tmajit::Problem& problem);

/// The candidate that suits most moves of the kind.
[[nodiscard]] tmajit::Candidate usual_candidate(const tmajit::Problem& problem);
[[nodiscard]] tmajit::Candidate usual_candidate(const tmajit::Move& move);

/// Moves whose best kernels are well known.
struct KnownMove {
  std::string name;
  tmajit::Move move;
  std::string traits;  ///< traits of its default kernel
};
[[nodiscard]] std::vector<KnownMove> known_moves();

/// A legal move of up to eight sources, of any types, orders of dimensions, signs, gaps, repeats, alignments;
/// with and without expressions and paddings. With extents up to 3000 some moves need more CTAs than a grid
/// has.
[[nodiscard]] tmajit::Move random_move(std::uint64_t seed, std::uint64_t most_extent = 3000);
/// A permutation of 2 to 6 dimensions, of up to 2000 indices each; of up to 90 if there are more than three.
[[nodiscard]] tmajit::Move random_permutation(reference::Random& random);

}  // namespace tests
