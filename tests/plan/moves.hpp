#pragma once

#include "plan/move_kernel.hpp"

#include <tmajit/move.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace tests {

using Shape = std::vector<std::uint64_t>;
using Strides = std::vector<std::int64_t>;

/// Far enough apart for every tensor of these tests.
inline constexpr tmajit::DevicePtr to_address = 0x7f00'0000'0000;
inline constexpr tmajit::DevicePtr from_address = 0x7e00'0000'0000;

[[nodiscard]] tmajit::Tensor dense(tmajit::ElementType type, const Shape& shape,
                                   tmajit::DevicePtr address = from_address);
[[nodiscard]] tmajit::Tensor strided(tmajit::ElementType type, const Shape& shape, const Strides& strides,
                                     tmajit::DevicePtr address = from_address);

/// A dense destination for permuted(source, axes), and that.
[[nodiscard]] tmajit::Move permutation(tmajit::ElementType type, const Shape& source,
                                       const std::vector<std::uint32_t>& axes);

/// What a kernel is made for, but for its sizes: "general staggered run:1 image".
[[nodiscard]] std::string traits(const tmajit::MoveKernel& kernel);

/// Moves whose best kernels are well known, with the traits of those.
struct KnownMove {
  std::string name;
  tmajit::Move move;
  std::string traits;
};
[[nodiscard]] std::vector<KnownMove> known_moves();

/// A problem of up to eight sources, of any types, orders of dimensions, signs, gaps, repeats, alignments;
/// with and without expressions and paddings.
[[nodiscard]] tmajit::MoveProblem random_problem(std::uint64_t seed);

}  // namespace tests
