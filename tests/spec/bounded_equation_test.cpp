#include "reference/random_maps.hpp"
#include "spec/overlap.hpp"

#include <vector>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;
using reference::between;

namespace {

using Terms = std::vector<BoundedTerm>;

Solvable solve(Terms terms, std::uint64_t target, std::uint32_t steps = 10'000) {
  return solvable(terms, target, steps);
}

/// Element n of the result is whether n is a sum of the terms.
std::vector<bool> sums(const Terms& terms) {
  std::vector<bool> reached{true};
  for (const auto& [coefficient, most] : terms) {
    std::vector<bool> next(reached.size() + coefficient * most);
    for (std::uint64_t x = 0; x <= most; ++x) {
      for (std::size_t i = 0; i < reached.size(); ++i) {
        if (reached[i]) next[i + coefficient * x] = true;
      }
    }
    reached = next;
  }
  return reached;
}

}  // namespace

TEST_CASE("bounded equations with known answers are solved") {
  CHECK(solve({}, 0) == Solvable::yes);
  CHECK(solve({}, 1) == Solvable::no);
  CHECK(solve({{6, 3}, {10, 2}}, 16) == Solvable::yes);
  CHECK(solve({{6, 3}, {10, 2}}, 14) == Solvable::no);
  CHECK(solve({{6, 3}, {10, 2}}, 39) == Solvable::no);
  CHECK(solve({{0, 9}, {7, 0}}, 7) == Solvable::no);
  // The largest number that is not 1_000_003 x + 999_983 y with x, y ≥ 0 has no solution, and the next number
  // has one.
  constexpr std::uint64_t a = 1'000'003;
  constexpr std::uint64_t b = 999'983;
  CHECK(solve({{a, b}, {b, a}}, a * b - a - b) == Solvable::no);
  CHECK(solve({{a, b}, {b, a}}, a * b - a - b + 1) == Solvable::yes);
  CHECK(solve({{1ULL << 61, 1}, {1ULL << 60, 1}, {1, 1}}, (1ULL << 61) + 1) == Solvable::yes);
  CHECK(solve({{1ULL << 61, 1}, {1ULL << 60, 1}, {1, 1}}, (1ULL << 61) + 2) == Solvable::no);
}

TEST_CASE("a search beyond the limit of steps gives an undecided result") {
  // A subset sum without a solution, of large numbers for which no residue excludes many cases.
  Terms terms;
  for (std::uint64_t i = 0; i < 30; ++i) terms.push_back({(1ULL << 40) + 7919 * i * i + 2 * i, 1});
  std::uint64_t target = 1;
  for (std::size_t i = 0; i < terms.size(); i += 2) target += terms[i].coefficient;
  CHECK(solve(terms, target, 100) == Solvable::undecided);
}

TEST_CASE("bounded equations equal an enumeration of all sums") {
  const std::uint64_t seed = reference::seed(20261121);
  CAPTURE(seed);
  reference::Random random(seed);
  for (int n = 0; n < 4000; ++n) {
    Terms terms(between(random, 0, 5));
    for (auto& [coefficient, most] : terms) {
      coefficient = between(random, 0, 3) * between(random, 1, 9);
      most = between(random, 0, 5);
    }
    const std::vector<bool> reached = sums(terms);
    for (std::uint64_t target = 0; target < reached.size() + 3; ++target) {
      const bool expected = target < reached.size() && reached[target];
      CAPTURE(n, target);
      REQUIRE(solve(terms, target) == (expected ? Solvable::yes : Solvable::no));
    }
  }
}
