/// Plans of `pick` kernels: what their images, chunks and tables rely on, and what they are not taken for.
#include "families/list.hpp"
#include "families/pick/pick_layout.hpp"
#include "plan/cost_model.hpp"
#include "plan/moves.hpp"
#include "reference/random_maps.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <map>
#include <set>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;
using reference::between, reference::one_of, reference::Random;

namespace {

/// Where the lines of a source's tile begin in its image.
std::vector<std::int64_t> lines_of(const PickLayout& layout, const Problem& problem, std::uint32_t s) {
  std::vector<std::int64_t> lines{0};
  const LineImage image = layout.image(s);
  for (std::uint32_t d = 0; d < layout.rank; ++d) {
    if (layout.source[s].spans(d) || problem.nest.operand[s + 1].strides[d] == 0) continue;
    std::vector<std::int64_t> more;
    for (const std::int64_t line : lines) {
      for (std::uint32_t i = 0; i < layout.box[d]; ++i) more.push_back(line + image.bytes_to(d, i));
    }
    lines = std::move(more);
  }
  std::ranges::sort(lines);
  return lines;
}

/// A source's image, which is to begin and end where it says.
void check_image(const PickLayout& layout, const Problem& problem, std::uint32_t s) {
  const PickLines& source = layout.source[s];
  for (std::uint32_t d = 0; d < layout.rank; ++d) {
    // In the image an element is as far from a multiple of 16 bytes as in memory.
    const std::int64_t step = problem.step(s + 1, d);
    if (layout.box[d] > 1 && step != 0) CHECK((source.image_step[d] - step) % 16 == 0);
    if (step == 0) CHECK(source.image_step[d] == 0);
  }
  const std::vector<std::int64_t> lines = lines_of(layout, problem, s);
  REQUIRE(lines.size() == source.count);
  const std::int64_t most_skip = source.alignment < 16 ? 15 : 0;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    CHECK(lines[i] - lines[i - 1] >= std::int64_t{source.bytes} + most_skip);
  }
  CHECK(lines.back() + source.bytes + most_skip <= std::int64_t{source.image_bytes});
  CHECK(source.image % 16 == 0);

  // What a padded source does not reach of a line is at its ends: beyond a padded dimension it spans none.
  bool ends = false;
  std::uint64_t span = 1;
  for (std::uint32_t k = layout.rank; k-- > layout.rank - source.dimensions;) {
    const std::uint32_t d = source.order[k];
    if (layout.box[d] == 1) continue;
    CHECK_FALSE(ends);
    ends = is_padded(problem, d);
    const auto distance = static_cast<std::uint64_t>(std::abs(problem.nest.operand[s + 1].strides[d]));
    if (ends) CHECK(distance >= span);
    span += (layout.box[d] - 1) * distance;
  }
}

void check_layout(const PickLayout& layout, const Problem& problem) {
  std::uint32_t image = 0;
  std::uint32_t lines = 0;
  for (std::uint32_t s = 0; s < layout.sources; ++s) {
    check_image(layout, problem, s);
    CHECK(layout.source[s].image == image);
    CHECK(layout.source[s].first == lines);
    image += layout.source[s].image_bytes;
    lines += layout.source[s].count;
  }
  CHECK(layout.image_bytes == image);
  CHECK(layout.lines == lines);
  CHECK(layout.bytes <= most_pick_bytes);

  // Each run, or each of its parts, is in one chunk.
  const std::uint32_t indices = layout.parts > 1 ? layout.parts : layout.box[layout.along];
  std::vector<int> met(indices);
  for (std::uint32_t chunk = 0; chunk < layout.chunks_along; ++chunk) {
    const std::uint32_t first = chunk / layout.every * layout.chunk * layout.every + chunk % layout.every;
    for (std::uint32_t k = 0; k < layout.chunk; ++k) {
      if (first + k * layout.every < indices) ++met[first + k * layout.every];
    }
  }
  if (layout.parts > 1 || layout.runs > 1) {
    CHECK(std::ranges::all_of(met, [](int times) { return times == 1; }));
    CHECK(layout.chunks_along * (layout.parts > 1 ? layout.runs : layout.runs / indices) == layout.chunks);
  }
  // Parts are whole words, but for the last.
  if (layout.parts > 1)
    CHECK(layout.part_elements * layout.element_bytes % std::max(4U, layout.element_bytes) == 0);
}

}  // namespace

TEST_CASE("lines of a pick keep their distance from 16 bytes, and chunks hold each run once") {
  const std::uint64_t seed = reference::seed(20261122);
  std::cout << "TMAJIT_SEED=" << seed << '\n';
  std::size_t layouts = 0;
  for (std::uint64_t n = 0; n < 300; ++n) {
    Random random(seed + n);
    const Problem problem = make_problem(tests::random_permutation(random));
    std::vector<Candidate> candidates;
    pick_family().add_candidates(problem, candidates);
    INFO("TMAJIT_SEED=" << seed << ", case " << n << ": " << problem.nest.text());
    for (const Candidate& candidate : candidates) {
      check_layout(pick_layout(problem, candidate.tile.box).value(), problem);
      ++layouts;
    }
  }
  CHECK(layouts > 600);
}

TEST_CASE("what a candidate of a pick keeps is what follows from its tile") {
  const std::uint64_t seed = reference::seed(20261123);
  std::cout << "TMAJIT_SEED=" << seed << '\n';
  for (std::uint64_t n = 0; n < 100; ++n) {
    Random random(seed + n);
    const Problem problem = make_problem(tests::random_permutation(random));
    std::vector<Candidate> candidates;
    pick_family().add_candidates(problem, candidates);
    INFO("TMAJIT_SEED=" << seed << ", case " << n << ": " << problem.nest.text());
    for (const Candidate& candidate : candidates) {
      CHECK(*static_cast<const PickLayout*>(candidate.layout.get()) ==
            pick_layout(problem, candidate.tile.box));
    }
    // What earlier tunings asked for changes no tile.
    LineBoxes boxes(problem);
    for (const std::uint32_t destination : {64U, 256U, 512U, 256U}) {
      for (const std::uint32_t source : {128U, 512U, 128U}) {
        const LineTuning tuning{destination, source, 16U << 10};
        CHECK(boxes.box(tuning) == LineBoxes(problem).box(tuning));
      }
    }
  }
}

namespace {

/// The same as RunPlaces::banks_taken(), one element after the other. With `again` the first comes after the
/// last.
std::uint32_t count_banks(const LineImage& image, std::uint32_t element_bytes, std::uint32_t along,
                          std::uint32_t apart, std::uint32_t elements, std::int64_t across,
                          bool again = false) {
  std::array<std::set<std::int64_t>, 32> words;
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    std::uint32_t element = lane % along * apart;
    if (again) element %= elements;
    if (element >= elements) continue;
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
  return static_cast<std::uint32_t>(most) * std::max(element_bytes / 4, 1U);
}

}  // namespace

TEST_CASE("banks that lanes along a run take are counted as they are, one by one") {
  const std::uint64_t seed = reference::seed(20261124);
  std::cout << "TMAJIT_SEED=" << seed << '\n';
  constexpr std::int32_t times[] = {1, 2, 4, 16};
  constexpr std::uint32_t sizes[] = {1, 2, 4, 8};
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
      image.skew_every = static_cast<std::uint32_t>(between(random, 1, 9));
    }
    const std::uint32_t bytes = one_of(random, sizes);
    const std::uint32_t apart = one_of(random, distances);
    const auto across = static_cast<std::int64_t>(between(random, 0, 300)) * 4;
    INFO("TMAJIT_SEED=" << seed << ", case " << n);
    const RunPlaces places(image, apart, elements);
    for (const std::uint32_t along : {4U, 8U, 16U, 32U}) {
      const std::uint32_t taken = places.banks_taken(bytes, along, across);
      CHECK(taken == count_banks(image, bytes, along, apart, elements, across));
      ++met[taken];
      if (!std::has_single_bit(image.skew_every)) continue;
      const RunPlaces again(image, LaneIndices(image.box, image.run_dimension, image.rank, apart, along));
      const std::uint32_t all = count_banks(image, 4, along, apart, elements, across, true);
      CHECK(again.wavefronts(4, along, across) == all);
      for (const std::uint32_t enough : {2U, 5U}) {
        CHECK(std::min(again.wavefronts(4, along, across, enough), enough) == std::min(all, enough));
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

TEST_CASE("a source that is repeated is neither picked from nor woven without a measurement") {
  for (const tests::Shape& shape :
       {tests::Shape{5, 1, 1, 1, 1}, tests::Shape{1, 1, 100}, tests::Shape{64, 1, 300}}) {
    tests::Shape whole = shape;
    for (std::uint64_t& extent : whole) extent = extent == 1 ? 300 : extent;
    const Tensor destination = tests::dense(ElementType::f32, whole, tests::to_address);
    const Tensor source = tests::dense(ElementType::f32, shape);
    const Move move{.destination = destination, .sources = {broadcast(source, whole)}};
    const Problem problem = make_problem(move);
    const std::vector<Candidate> candidates = tests::candidates_of(problem);
    const std::string_view chosen = candidates[choose(candidates, problem, {}).candidate].family->name();
    CHECK(chosen != "pick");
    CHECK(chosen != "weave");
    CHECK(chosen != "spans");
  }
}

TEST_CASE("the images of several sources get tiles that are small enough for all of them") {
  // Bytes, of which tiles of all tunings are too large at first.
  const Tensor destination = tests::dense(ElementType::u8, {300, 100, 494}, tests::to_address);
  const Tensor across = tests::strided(ElementType::u8, {300, 100, 494}, {1, 148200, 300});
  const Tensor along = tests::dense(ElementType::u8, {300, 100, 494});
  const Tensor third = tests::strided(ElementType::u8, {300, 100, 494}, {1, 300, 30000});
  const Problem problem = make_problem(
      {.destination = destination, .sources = {across, along, third}, .expression = "x0 * x1 + x2"});
  std::vector<Candidate> candidates;
  pick_family().add_candidates(problem, candidates);
  CHECK_FALSE(candidates.empty());
  for (const Candidate& candidate : candidates) {
    check_layout(pick_layout(problem, candidate.tile.box).value(), problem);
  }
}

TEST_CASE(
    "what pick cannot do goes elsewhere: coordinates, repeated dimensions that are padded, rows alike") {
  const auto picks = [](const Move& move) {
    std::vector<Candidate> candidates;
    pick_family().add_candidates(make_problem(move), candidates);
    return !candidates.empty();
  };
  const Tensor to = tests::dense(ElementType::f32, {700, 900}, tests::to_address);
  const Tensor across = tests::strided(ElementType::f32, {700, 900}, {1, 700});
  const Tensor along = tests::dense(ElementType::f32, {700, 900});
  CHECK(picks({.destination = to, .sources = {across}, .expression = "x * 2"}));
  CHECK(picks({.destination = to, .sources = {along, across}, .expression = "x0 + x1"}));
  CHECK_FALSE(picks({.destination = to, .sources = {along}, .expression = "x * 2"}));
  CHECK_FALSE(picks({.destination = to, .sources = {along, along}, .expression = "x0 + x1"}));
  CHECK_FALSE(picks({.destination = to, .sources = {across}, .expression = "x + g[0]"}));

  const Padding padding{.before = {0, 3}, .value = 1};
  const Tensor narrow = tests::strided(ElementType::f32, {700, 890}, {1, 700});
  const Tensor column = tests::strided(ElementType::f32, {700, 890}, {900, 0});
  CHECK(picks({.destination = to, .sources = {narrow}, .expression = {}, .padding = padding}));
  CHECK_FALSE(picks({.destination = to, .sources = {column}, .expression = {}, .padding = padding}));
}
