/// Plans of `pick` kernels: what their images, chunks and tables rely on, and what they are not taken for.
#include "families/list.hpp"
#include "families/pick/pick_layout.hpp"
#include "plan/cost_model.hpp"
#include "plan/moves.hpp"
#include "reference/random_maps.hpp"

#include <algorithm>
#include <iostream>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;
using reference::between, reference::one_of, reference::Random;

namespace {

/// A permutation of 2 to 6 dimensions of up to 200 indices each.
Move random_permutation(Random& random) {
  constexpr ElementType types[] = {ElementType::u8, ElementType::bf16, ElementType::f32, ElementType::f64};
  const auto rank = static_cast<std::uint32_t>(between(random, 2, 6));
  tests::Shape shape;
  std::vector<std::uint32_t> axes;
  for (std::uint32_t d = 0; d < rank; ++d) {
    shape.push_back(between(random, 2, rank < 4 ? 2000 : 90));
    axes.push_back(d);
  }
  std::shuffle(axes.begin(), axes.end(), random);
  return tests::permutation(one_of(random, types), shape, axes);
}

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
    const Problem problem = make_problem(random_permutation(random));
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

TEST_CASE("a source that is repeated is not picked from without a measurement") {
  for (const tests::Shape& shape :
       {tests::Shape{5, 1, 1, 1, 1}, tests::Shape{1, 1, 100}, tests::Shape{64, 1, 300}}) {
    tests::Shape whole = shape;
    for (std::uint64_t& extent : whole) extent = extent == 1 ? 300 : extent;
    const Tensor destination = tests::dense(ElementType::f32, whole, tests::to_address);
    const Tensor source = tests::dense(ElementType::f32, shape);
    const Move move{.destination = destination, .sources = {broadcast(source, whole)}};
    const Problem problem = make_problem(move);
    const std::vector<Candidate> candidates = tests::candidates_of(problem);
    CHECK(candidates[choose(candidates, problem, {})].family->name() != "pick");
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
