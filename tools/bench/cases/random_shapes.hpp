#pragma once

#include "case.hpp"

#include <cstddef>
#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace bench {

/// Numbers that are the same with every standard library: its distributions are not, remainders are.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  std::uint64_t below(std::uint64_t n) { return engine_() % n; }
  std::uint64_t between(std::uint64_t least, std::uint64_t most) { return least + below(most - least + 1); }
  bool one_in(std::uint64_t n) { return below(n) == 0; }

 private:
  std::mt19937_64 engine_;
};

/// A shape of `least` to `most` elements whose extents differ by much: powers of two, small multiples of
/// them, hundreds, odd numbers and primes.
Shape random_shape(Random& random, std::size_t rank, std::uint64_t least, std::uint64_t most);

/// Any order of `rank` axes, two at least, but that in which they are.
std::vector<std::uint32_t> random_axes(Random& random, std::size_t rank);

/// Cases with different labels.
class UniqueCases {
 public:
  /// Adds what `draw()` returns, drawn again while the list has its like.
  template <class Draw>
  void add(const Draw& draw) {
    Case c = draw();
    while (!labels_.insert(c.label()).second) c = draw();
    cases_.push_back(std::move(c));
  }
  [[nodiscard]] std::vector<Case> take() { return std::move(cases_); }

 private:
  std::set<std::string> labels_;
  std::vector<Case> cases_;
};

/// `count` different cases, each drawn by `draw(random)` from numbers that `seed` determines.
template <class Draw>
[[nodiscard]] std::vector<Case> draw_cases(std::size_t count, std::uint64_t seed, const Draw& draw) {
  Random random(seed);
  UniqueCases cases;
  for (std::size_t k = 0; k < count; ++k) cases.add([&] { return draw(random); });
  return cases.take();
}

}  // namespace bench
