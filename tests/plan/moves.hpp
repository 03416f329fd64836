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

/// Addresses of the tensors, which are so far apart that no tensor of these tests reaches the other address.
inline constexpr tmajit::DevicePtr destination_address = 0x7f00'0000'0000;
inline constexpr tmajit::DevicePtr source_address = 0x7e00'0000'0000;

[[nodiscard]] tmajit::Tensor dense(tmajit::ElementType type, const Shape& shape,
                                   tmajit::DevicePtr address = source_address);
[[nodiscard]] tmajit::Tensor strided(tmajit::ElementType type, const Shape& shape, const Strides& strides,
                                     tmajit::DevicePtr address = source_address);

/// A move of permuted(source, axes) to a dense destination.
[[nodiscard]] tmajit::Move permutation(tmajit::ElementType type, const Shape& source,
                                       const std::vector<std::uint32_t>& axes);

/// The traits of a kernel, without sizes, such as "general staggered run:1 image".
[[nodiscard]] std::string traits(const tmajit::Candidate& candidate, const tmajit::Problem& problem);

/// The value of the number `name` in the text of a kernel's facts, or nullopt.
[[nodiscard]] std::optional<std::uint64_t> number_of(const std::string& facts, std::string_view name);
/// The facts that a kernel's source declares, as text.
[[nodiscard]] std::string facts_text(const tmajit::Candidate& candidate, const tmajit::Problem& problem);

/// The default candidate, which suits most moves of the problem's kind.
[[nodiscard]] tmajit::Candidate default_candidate(const tmajit::Problem& problem);
[[nodiscard]] tmajit::Candidate default_candidate(const tmajit::Move& move);

/// Moves whose best kernels are well known.
struct KnownMove {
  std::string name;
  tmajit::Move move;
  std::string traits;  ///< traits of the move's default kernel
};
[[nodiscard]] std::vector<KnownMove> known_moves();

/// A legal move of up to eight sources, with random types, orders and signs of dimensions, gaps, strides of 0
/// and alignments, with and without expressions and paddings. With extents up to 3000 some moves need more
/// CTAs than a grid can have.
[[nodiscard]] tmajit::Move random_move(std::uint64_t seed, std::uint64_t max_drawn_extent = 3000);
/// A permutation of 2 to 6 dimensions, with extents up to 2000, or up to 90 if there are more than three
/// dimensions.
[[nodiscard]] tmajit::Move random_permutation(reference::Random& random);

}  // namespace tests
