/// Images of lines in shared memory, and the banks that lanes take which read from them.
#include "families/shared/line_image.hpp"

#include "families/shared/views.hpp"
#include "reference/random_maps.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <map>
#include <set>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;
using reference::between, reference::one_of, reference::Random;

namespace {

/// The same as RunPlaces::wavefronts() of words, one element after the other. Lanes from `placed` on, of
/// those along a run, load nothing.
std::uint32_t count_banks(const LineImage& image, std::uint32_t along, std::uint32_t placed,
                          std::uint32_t apart, std::uint32_t elements, std::int64_t across) {
  std::array<std::set<std::int64_t>, 32> words;
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    if (lane % along >= placed) continue;
    std::uint32_t element = lane % along * apart % elements;
    std::int64_t place = image.below + lane / along * across;
    for (std::uint32_t d = image.rank; d-- > image.run_dimension;) {
      const std::uint32_t index = d == image.run_dimension ? element : element % image.box[d];
      element /= image.box[d];
      place += std::int64_t{index} * image.step[d];
      if (d == image.skewed) place += index / image.skew_every * 16;
    }
    words[static_cast<std::size_t>(place / 4 % 32)].insert(place / 4);
  }
  std::size_t most = 0;
  for (const auto& of_bank : words) most = std::max(most, of_bank.size());
  return static_cast<std::uint32_t>(most);
}

}  // namespace

TEST_CASE("banks that lanes along a run take are counted as they are, one by one") {
  const std::uint64_t seed = reference::seed(20261124);
  std::cout << "TMAJIT_SEED=" << seed << '\n';
  constexpr std::int32_t times[] = {1, 2, 4, 16};
  constexpr std::uint32_t gaps[] = {1, 2, 4, 8, 16};
  constexpr std::uint32_t distances[] = {1, 2, 4, 16};
  std::map<std::uint32_t, int> met;
  for (std::uint64_t n = 0; n < 3000; ++n) {
    Random random(seed + n);
    LineImage image{.rank = static_cast<std::uint32_t>(between(random, 1, 4))};
    image.run_dimension = static_cast<std::uint32_t>(between(random, 0, image.rank - 1));
    std::uint32_t elements = 1;
    for (std::uint32_t d = 0; d < image.rank; ++d) {
      image.box[d] = static_cast<std::uint32_t>(between(random, 1, d + 1 == image.rank ? 80 : 6));
      image.step[d] = static_cast<std::int32_t>(between(random, 0, 40)) * one_of(random, times);
      if (between(random, 0, 3) == 0) {
        image.step[d] = -image.step[d];
        image.below += std::int64_t{-image.step[d]} * image.box[d];
      }
      if (d >= image.run_dimension) elements *= image.box[d];
    }
    if (between(random, 0, 2) == 0) {
      image.skewed = static_cast<std::uint32_t>(between(random, 0, image.rank - 1));
      image.skew_every = one_of(random, gaps);
    }
    const std::uint32_t apart = one_of(random, distances);
    const auto across = static_cast<std::int64_t>(between(random, 0, 300)) * 4;
    INFO("TMAJIT_SEED=" << seed << ", case " << n);
    for (const std::uint32_t along : {4U, 8U, 16U, 32U}) {
      // All lanes, those that meet each element once, and any number of them.
      const std::uint32_t once = std::min((elements + apart - 1) / apart, along);
      for (const std::uint32_t lanes : {along, once, static_cast<std::uint32_t>(between(random, 1, along))}) {
        const RunPlaces places(image, LaneIndices(image.box, image.run_dimension, image.rank, apart, lanes));
        const std::uint32_t all = count_banks(image, along, lanes, apart, elements, across);
        CHECK(places.wavefronts(4, along, across) == all);
        ++met[all];
        for (const std::uint32_t enough : {2U, 5U}) {
          CHECK(std::min(places.wavefronts(4, along, across, enough), enough) == std::min(all, enough));
        }
      }
    }
  }
  CHECK(met.size() > 10);
}

TEST_CASE("dimensions by their distance stay in their order where they lie as far apart") {
  const std::uint64_t seed = reference::seed(20261125);
  std::cout << "TMAJIT_SEED=" << seed << '\n';
  for (std::uint64_t n = 0; n < 500; ++n) {
    Random random(seed + n);
    CanonicalNest nest{.rank = static_cast<std::uint32_t>(between(random, 1, 8))};
    std::vector<std::uint32_t> expected;
    for (std::uint32_t d = 0; d < nest.rank; ++d) {
      nest.operand[1].strides[d] = static_cast<std::int64_t>(between(random, 0, 6)) - 3;
      expected.push_back(d);
    }
    const auto nearest = static_cast<std::uint32_t>(between(random, 0, 8));
    std::ranges::stable_sort(expected, std::ranges::greater{}, [&](std::uint32_t d) {
      const std::int64_t stride = std::abs(nest.operand[1].strides[d]);
      return d == nearest ? 0 : stride == 0 ? INT64_MAX : stride;
    });
    const PerDimension order = farthest_first(nest, 1, nest.rank, nearest);
    INFO("TMAJIT_SEED=" << seed << ", case " << n);
    CHECK(std::vector(order.begin(), order.begin() + nest.rank) == expected);
  }
}
