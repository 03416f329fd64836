#pragma once

#include <cstdint>
#include <iterator>
#include <random>

namespace reference {

using Random = std::mt19937_64;

/// A number from `least` to `most`, uniformly distributed.
[[nodiscard]] std::uint64_t between(Random& random, std::uint64_t least, std::uint64_t most);
/// True with a probability of 1/n.
[[nodiscard]] bool one_in(Random& random, std::uint64_t n);
/// One of the values, uniformly distributed.
template <typename Values>
[[nodiscard]] auto one_of(Random& random, const Values& values) {
  return *(std::begin(values) + static_cast<std::ptrdiff_t>(between(random, 0, std::size(values) - 1)));
}

}  // namespace reference
