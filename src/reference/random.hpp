#pragma once

#include <cstdint>
#include <iterator>
#include <random>

namespace reference {

using Random = std::mt19937_64;

/// One of least … most, each as likely.
[[nodiscard]] std::uint64_t between(Random& random, std::uint64_t least, std::uint64_t most);
[[nodiscard]] bool one_in(Random& random, std::uint64_t n);
template <typename Values>
[[nodiscard]] auto one_of(Random& random, const Values& values) {
  return *(std::begin(values) + static_cast<std::ptrdiff_t>(between(random, 0, std::size(values) - 1)));
}

}  // namespace reference
