#include "reference/random.hpp"

namespace reference {

std::uint64_t between(Random& random, std::uint64_t least, std::uint64_t most) {
  return std::uniform_int_distribution<std::uint64_t>(least, most)(random);
}

bool one_in(Random& random, std::uint64_t n) {
  return between(random, 1, n) == 1;
}

}  // namespace reference
