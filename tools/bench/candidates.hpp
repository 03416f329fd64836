#pragma once

#include "cases.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bench {

/// Legal specs of a case over a grid of tiles, stages, output stages, warps and CTAs an SM: the default
/// first, then at most `limit` others, chosen at random where there are more.
std::vector<tmajit::KernelSpec> candidates(const Case& c, std::uint64_t size, std::size_t limit,
                                           std::uint64_t seed);

}  // namespace bench
