/// Plans of `flat` kernels: the dimensions that form x and y, and tiles that cover both.
#include "families/flat/flat_layout.hpp"
#include "families/list.hpp"
#include "plan/moves.hpp"
#include "reference/random_maps.hpp"

#include <algorithm>
#include <iostream>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;

namespace {

std::vector<Candidate> flat_candidates(const Problem& problem) {
  std::vector<Candidate> candidates;
  if (problem.nest.elements() > 0) flat_family().add_candidates(problem, candidates);
  return candidates;
}

/// Checks that x and y together have each dimension once, and that x is contiguous in the destination. In a
/// joined tile x and y together must be contiguous.
void check_dimensions(const FlatLayout& layout, const CanonicalNest& nest) {
  PerDimension sorted = layout.dimension;
  std::sort(sorted.begin(), sorted.begin() + layout.rank);
  for (std::uint32_t d = 0; d < layout.rank; ++d) CHECK(sorted[d] == d);
  std::uint64_t elements = 1;
  for (std::uint32_t k = 0; k < layout.x_dimensions; ++k) {
    CHECK(static_cast<std::uint64_t>(nest.operand[0].strides[layout.dimension[k]]) == elements);
    elements *= nest.shape[layout.dimension[k]];
  }
  CHECK(elements == layout.x_extent);
  for (std::uint32_t k = layout.x_dimensions; layout.joined && k < layout.rank; ++k) {
    CHECK(static_cast<std::uint64_t>(nest.operand[0].strides[layout.dimension[k]]) == elements);
    elements *= nest.shape[layout.dimension[k]];
  }
  elements = 1;
  for (std::uint32_t k = layout.x_dimensions; k < layout.rank; ++k)
    elements *= nest.shape[layout.dimension[k]];
  CHECK(elements == layout.y_extent);
}

void check_tile(const FlatLayout& layout) {
  CHECK(layout.x % layout.group == 0);
  CHECK(layout.columns() % layout.group == 0);
  if (layout.joined) {
    CHECK(layout.x >= layout.x_extent);
    CHECK(layout.x_tiles() == 1);
  } else {
    CHECK(layout.x % layout.word_elements == 0);
    // The words of a staggered row begin up to one word before the row.
    CHECK(layout.x_tiles() * layout.x - (layout.staggered ? layout.word_elements - 1 : 0) >= layout.x_extent);
  }
  CHECK(layout.y_tiles() * layout.y >= layout.y_extent);
  CHECK(layout.y <= layout.y_extent);
  CHECK(layout.ctas() >= layout.x_tiles() * layout.y_tiles());
  CHECK(layout.shared_bytes() <= max_flat_shared_bytes);
  for (const FlatSource& source : layout.all_sources()) {
    CHECK(source.lines >= 1);
    CHECK(source.lines <= 32);
    if (!source.has_image()) continue;
    CHECK(layout.y % source.y_per_load == 0);
    CHECK(layout.y / source.y_per_load <= layout.threads);
    CHECK(layout.group * source.element_bytes % source.word_bytes() == 0);
    CHECK(source.pitch % 2 == 1);  // adjacent threads access different banks
    CHECK(source.pitch * source.word_bytes() >= layout.columns() * source.element_bytes);
  }
}

/// Checks that words hold elements of one row unless the kernel is staggered, and that loads along y are
/// aligned.
void check_alignment(const FlatLayout& layout, const Problem& problem) {
  std::uint64_t bits = problem.address[0] | layout.x_extent * layout.element_bytes;
  for (std::uint32_t k = layout.x_dimensions; k < layout.rank; ++k)
    bits |= static_cast<std::uint64_t>(problem.step(0, layout.dimension[k]));
  CHECK((layout.staggered || bits % (std::uint64_t{layout.word_elements} * layout.element_bytes) == 0));
  for (std::uint32_t s = 0; s < layout.sources; ++s) {
    const std::uint32_t y_per_load = layout.source[s].y_per_load;
    if (y_per_load < 2) continue;
    const std::uint32_t bytes = y_per_load * layout.source[s].element_bytes;
    const std::uint32_t fastest = layout.dimension[layout.x_dimensions];
    CHECK(problem.nest.operand[s + 1].strides[fastest] == 1);
    CHECK(problem.nest.shape[fastest] % y_per_load == 0);
    CHECK(problem.address[s + 1] % bytes == 0);
    for (std::uint32_t d = 0; d < layout.rank; ++d)
      CHECK((d == fastest || problem.step(s + 1, d) % static_cast<std::int64_t>(bytes) == 0));
  }
}

FlatLayout first_layout(const Move& move) {
  const std::vector<Candidate> candidates = flat_candidates(make_problem(move));
  REQUIRE_FALSE(candidates.empty());
  return flat_layout_of(candidates.front());
}

}  // namespace

TEST_CASE("flat tiles cover x and y of random moves") {
  const std::uint64_t seed = reference::seed(20261124);
  std::cout << "TMAJIT_SEED=" << seed << '\n';
  std::uint64_t candidates_checked = 0;
  for (std::uint64_t n = 0; n < 600; ++n) {
    INFO("TMAJIT_SEED=" << seed << ", case " << n);
    const Problem problem = make_problem(tests::random_move(seed + n, 3000));
    for (const Candidate& candidate : flat_candidates(problem)) {
      const FlatLayout& layout = flat_layout_of(candidate);
      INFO(flat_family().choice(candidate).text() << " of " << problem.nest.text());
      check_dimensions(layout, problem.nest);
      check_tile(layout);
      check_alignment(layout, problem);
      ++candidates_checked;
    }
  }
  CHECK(candidates_checked > 100);
}

TEST_CASE("x consists of the dimensions after the source's contiguous one, y of all other dimensions") {
  const FlatLayout layout =
      first_layout(tests::permutation(ElementType::bf16, {48, 5, 40, 28, 71}, {0, 4, 3, 2, 1}));
  CHECK(layout.x_extent == 28ULL * 40 * 5);
  CHECK(layout.y_extent == 48ULL * 71);
  CHECK(layout.dimension[layout.x_dimensions] == 1);
  CHECK_FALSE(layout.staggered);
  CHECK(layout.source[0].y_per_load == 1);  // 71 is odd
}

TEST_CASE("narrow elements are loaded in words along y if extents and addresses allow it") {
  const auto y_per_load = [](ElementType type, const tests::Shape& shape,
                             const std::vector<std::uint32_t>& axes) {
    return first_layout(tests::permutation(type, shape, axes)).source[0].y_per_load;
  };
  CHECK(y_per_load(ElementType::u8, {100, 1048576}, {1, 0}) == 4);
  CHECK(y_per_load(ElementType::u8, {100, 1048574}, {1, 0}) == 2);
  CHECK(y_per_load(ElementType::u8, {100, 1048573}, {1, 0}) == 1);
  CHECK(y_per_load(ElementType::bf16, {101, 65536}, {1, 0}) == 2);
  CHECK(y_per_load(ElementType::f32, {101, 65536}, {1, 0}) == 1);
}

TEST_CASE("a tile that is short in x is longer in y") {
  const FlatLayout layout = first_layout(tests::permutation(ElementType::f32, {3, 1000003}, {1, 0}));
  CHECK(layout.x == 3);
  CHECK(layout.y >= 128);
}

TEST_CASE("if a source's contiguous dimension is short, y also has the dimensions that continue it") {
  const Problem problem = make_problem(tests::permutation(ElementType::u8, {1024, 256, 96, 2}, {1, 3, 2, 0}));
  const auto layout = FlatPlanner(problem).layout({.variant = FlatVariant::longer_source_runs});
  REQUIRE(layout);
  CHECK(layout->x_extent == 1024);
  CHECK(layout->y_extent == 256ULL * 96 * 2);
  CHECK(problem.nest.shape[layout->dimension[1]] == 2);
  CHECK(problem.nest.shape[layout->dimension[2]] == 96);
}

TEST_CASE("short rows are joined if they are contiguous in the destination") {
  const Problem dense = make_problem(tests::permutation(ElementType::u8, {59, 65536}, {1, 0}));
  const auto layout = FlatPlanner(dense).layout({.variant = FlatVariant::joined_rows});
  REQUIRE(layout);
  CHECK(layout->x_extent == 59);
  CHECK(layout->word_elements == 16);
  CHECK(layout->y * layout->x_extent >= 4096);
  const Tensor gaps = tests::strided(ElementType::u8, {65536, 59}, {64, 1}, tests::destination_address);
  const Tensor source = tests::strided(ElementType::u8, {65536, 59}, {1, 65536});
  const Problem with_gaps = make_problem({.destination = gaps, .sources = {source}});
  CHECK_FALSE(FlatPlanner(with_gaps).layout({.variant = FlatVariant::joined_rows}));
}

TEST_CASE("with FlatVariant::one_source_run a tile has only rows that are contiguous in the source") {
  // 12 bytes of the source are contiguous along y; the dimension that continues them belongs to x.
  const Problem problem =
      make_problem(tests::permutation(ElementType::u8, {32, 11, 95, 7, 32, 12}, {3, 1, 5, 0, 2, 4}));
  const auto layout = FlatPlanner(problem).layout({.variant = FlatVariant::one_source_run});
  REQUIRE(layout);
  CHECK(layout->y == 12);
  CHECK(layout->x >= 512);
  CHECK(layout->source[0].lines < FlatPlanner(problem).layout({})->source[0].lines);
}

TEST_CASE("only sources whose contiguous dimension differs from the destination's have images") {
  const Tensor destination = tests::dense(ElementType::u8, {300, 100, 494}, tests::destination_address);
  const Tensor across = tests::strided(ElementType::u8, {300, 100, 494}, {1, 148200, 300});
  const Tensor along = tests::dense(ElementType::u8, {300, 100, 494});
  const Tensor repeated = tests::strided(ElementType::u8, {300, 100, 494}, {0, 0, 0});
  const FlatLayout layout = first_layout(
      {.destination = destination, .sources = {along, across, repeated}, .body = Map{"x0 * x1 + x2"}});
  CHECK(layout.source[0].y_per_load == 0);
  CHECK(layout.source[1].y_per_load == 4);
  CHECK(layout.source[2].y_per_load == 0);
}

TEST_CASE("flat kernels do not take expressions of coordinates and maps in place") {
  const auto takes = [](const Move& move) { return !flat_candidates(make_problem(move)).empty(); };
  const Tensor to = tests::dense(ElementType::f32, {700, 900}, tests::destination_address);
  const Tensor across = tests::strided(ElementType::f32, {700, 900}, {1, 700});
  CHECK(takes({.destination = to, .sources = {across}, .body = Map{"x * 2"}}));
  CHECK_FALSE(takes({.destination = to, .sources = {across}, .body = Map{"x + g[0]"}}));
  CHECK_FALSE(takes({.destination = to, .sources = {to, across}, .body = Map{"x0 + x1"}}));
}
