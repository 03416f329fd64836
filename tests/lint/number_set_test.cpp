/// Compares sets of numbers with bit sets.
#include "lint/number_set.hpp"

#include "reference/random_maps.hpp"

#include <bitset>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;
using namespace tmajit::lint;
using reference::between;

namespace {

constexpr std::uint32_t width = 6;
using Bits = std::bitset<1U << width>;

Bits bits_of(const NumberSet& set) {
  Bits bits;
  std::optional<std::uint64_t> before;
  for (const Range& range : set) {
    CHECK(range.first <= range.last);
    // Ranges are sorted, disjoint and not adjacent.
    if (before) CHECK(range.first > *before + 1);
    before = range.last;
    for (std::uint64_t number = range.first; number <= range.last; ++number) bits.set(number);
  }
  return bits;
}

NumberSet random_set(reference::Random& random) {
  NumberSet ranges;
  for (std::uint64_t n = between(random, 0, 4); n > 0; --n) {
    const std::uint64_t first = between(random, 0, 63);
    ranges.push_back({first, between(random, first, 63)});
  }
  return normalized(ranges);
}

}  // namespace

TEST_CASE("operations on sets of numbers agree with bit sets") {
  const std::uint64_t seed = reference::seed(20261123);
  reference::Random random(seed);
  NumberSets sets;
  for (int turn = 0; turn < 2'000; ++turn) {
    INFO("seed " << seed << ", turn " << turn);
    const NumberSet a = random_set(random);
    const NumberSet b = random_set(random);
    const Bits x = bits_of(a);
    const Bits y = bits_of(b);
    const SetId p = sets.intern(a);
    const SetId q = sets.intern(b);
    CHECK((p == q) == (x == y));
    CHECK(bits_of(intersection(a, b)) == (x & y));
    CHECK(bits_of(sets[sets.intersect(p, q)]) == (x & y));
    CHECK(bits_of(sets[sets.unite(p, q)]) == (x | y));
    CHECK(bits_of(sets[sets.subtract(p, q)]) == (x & ~y));
    CHECK(sets.includes(p, q) == ((x & y) == y));
    CHECK(sets.is_single(p) == (x.count() == 1));
    const std::uint64_t shift = between(random, 0, 63);
    Bits shifted_bits;
    Bits negated_bits;
    for (std::uint64_t number = 0; number < x.size(); ++number) {
      if (!x[number]) continue;
      shifted_bits.set((number + shift) % x.size());
      negated_bits.set((x.size() - number) % x.size());
    }
    CHECK(bits_of(shifted(a, shift, width)) == shifted_bits);
    CHECK(bits_of(negated(a, width)) == negated_bits);
  }
}
