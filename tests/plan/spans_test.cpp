/// Plans of `spans` kernels: what makes up runs and columns, and that tiles cover all of them.
#include "families/list.hpp"
#include "families/spans/spans_layout.hpp"
#include "plan/cost_model.hpp"
#include "plan/moves.hpp"
#include "reference/random_maps.hpp"

#include <algorithm>
#include <iostream>
#include <memory>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;

namespace {

void check_sides(const SpanLayout& layout, const Problem& problem) {
  const CanonicalNest& nest = problem.nest;
  PerDimension sorted = layout.order;
  std::sort(sorted.begin(), sorted.begin() + layout.rank);
  for (std::uint32_t d = 0; d < layout.rank; ++d) CHECK(sorted[d] == d);
  // Runs are contiguous in the destination, columns follow each other as near as they can in the source.
  std::int64_t next = 1;
  std::uint64_t elements = 1;
  for (std::uint32_t k = 0; k < layout.run_dimensions; ++k) {
    CHECK(nest.operand[0].strides[layout.order[k]] == next);
    next *= static_cast<std::int64_t>(nest.shape[layout.order[k]]);
    elements *= nest.shape[layout.order[k]];
  }
  CHECK(elements == layout.run_elements);
  elements = 1;
  const std::uint32_t columns_end = layout.run_dimensions + layout.column_dimensions;
  for (std::uint32_t k = layout.run_dimensions; k < columns_end; ++k) elements *= nest.shape[layout.order[k]];
  CHECK(elements == layout.all_columns);
  elements = 1;
  for (std::uint32_t k = columns_end; k < layout.rank; ++k) elements *= nest.shape[layout.order[k]];
  CHECK(elements == layout.others);
}

void check_tiles(const SpanLayout& layout) {
  CHECK(layout.run % layout.in_word() == 0);
  // A part of a run may begin up to a word early.
  const std::uint64_t reach = layout.run_tiles * layout.run - (layout.staggered ? layout.in_word() - 1 : 0);
  CHECK(reach >= layout.run_elements);
  CHECK((layout.run_tiles - 1) * layout.run < layout.run_elements + layout.in_word());
  CHECK(layout.column_tiles * layout.columns >= layout.all_columns);
  CHECK((layout.column_tiles - 1) * layout.columns < layout.all_columns);
  CHECK(layout.groups() * layout.group >= layout.column_tiles);
  // Threads side by side store to different banks.
  for (const SpanSource& source : layout.all_sources()) {
    if (!source.has_image) continue;
    CHECK(source.pitch % 2 == 1);
    CHECK(source.pitch * source.word_bytes() >= layout.run * source.element_bytes);
    CHECK(layout.in_chunk * source.element_bytes % source.word_bytes() == 0);
  }
  CHECK(layout.chunks() * layout.in_chunk >= layout.run);
  CHECK(layout.in_chunk % layout.in_word() == 0);
  CHECK(layout.lanes() <= span_threads);
  CHECK(layout.stores() <= span_threads);
  CHECK(layout.stores() * ceil_div(layout.words(), layout.stores()) >= layout.words());
  CHECK(layout.shared_bytes() <= most_span_bytes);
  for (const SpanSource& source : layout.all_sources()) CHECK(source.lines >= 1);
  for (const SpanSource& source : layout.all_sources()) CHECK(source.lines <= 32);
}

/// Words of memory hold elements of two columns only where runs begin anywhere.
void check_alignment(const SpanLayout& layout, const Problem& problem) {
  std::uint64_t bits = problem.address[0];
  for (std::uint32_t k = layout.run_dimensions; k < layout.rank; ++k) {
    if (problem.nest.shape[layout.order[k]] > 1)
      bits |= static_cast<std::uint64_t>(problem.step(0, layout.order[k]));
  }
  CHECK(layout.staggered == (bits % (layout.in_word() * layout.element_bytes) != 0));
}

/// As many bytes of the same views, in other elements or dimensions.
void check_walk(const Problem& walked, const Problem& problem) {
  CHECK(walked.bytes_written() == problem.bytes_written());
  CHECK(walked.bytes_read() == problem.bytes_read());
  CHECK(walked.nest.rank <= max_view_rank);
  for (std::uint32_t i = 0; i < problem.nest.operands; ++i) {
    std::int64_t reach = 0;
    std::int64_t whole = 0;
    for (std::uint32_t d = 0; d < walked.nest.rank; ++d)
      reach += walked.step(i, d) * static_cast<std::int64_t>(walked.nest.shape[d] - 1);
    for (std::uint32_t d = 0; d < problem.nest.rank; ++d)
      whole += problem.step(i, d) * static_cast<std::int64_t>(problem.nest.shape[d] - 1);
    CHECK(reach + static_cast<std::int64_t>(walked.element_bytes(i)) ==
          whole + static_cast<std::int64_t>(problem.element_bytes(i)));
  }
}

}  // namespace

TEST_CASE("spans cover all runs and columns of random moves") {
  const std::uint64_t seed = reference::seed(20261122);
  std::cout << "TMAJIT_SEED=" << seed << '\n';
  std::uint64_t met = 0;
  for (std::uint64_t n = 0; n < 400; ++n) {
    INFO("TMAJIT_SEED=" << seed << ", case " << n);
    const Problem problem = make_problem(tests::random_move(seed + n, 3000));
    std::vector<Candidate> candidates;
    if (problem.nest.elements() > 0) spans_family().add_candidates(problem, candidates);
    for (const Candidate& candidate : candidates) {
      const auto& layout = *static_cast<const SpanLayout*>(candidate.layout.get());
      INFO(spans_family().choice(candidate).text());
      const Problem walked = layout.walk.walked(problem);
      check_walk(walked, problem);
      check_sides(layout, walked);
      check_tiles(layout);
      check_alignment(layout, walked);
      ++met;
    }
  }
  CHECK(met > 100);
}

TEST_CASE("a tile of short runs has more columns") {
  const auto move = tests::permutation(ElementType::bf16, {65, 8, 29, 16, 6, 37}, {3, 1, 2, 0, 5, 4});
  const auto layout = span_layout(make_problem(move), {256, 64});
  REQUIRE(layout);
  CHECK(layout->run_elements == 6);
  CHECK(layout->columns > 300);
  CHECK_FALSE(layout->staggered);
}

TEST_CASE("a source that is repeated goes neither by images nor by blocks without a measurement") {
  for (const tests::Shape& shape :
       {tests::Shape{5, 1, 1, 1, 1}, tests::Shape{1, 1, 100}, tests::Shape{64, 1, 300}}) {
    tests::Shape whole = shape;
    for (std::uint64_t& extent : whole) extent = extent == 1 ? 300 : extent;
    const Tensor destination = tests::dense(ElementType::f32, whole, tests::to_address);
    const Tensor source = tests::dense(ElementType::f32, shape);
    const Move move{.destination = destination, .sources = {broadcast(source, whole)}};
    const Problem problem = make_problem(move);
    const std::vector<Candidate> candidates = tests::candidates_of(problem);
    const Candidate& chosen = candidates[choose(candidates, problem, {}).candidate];
    CHECK(chosen.family->name() != "weave");
    if (chosen.family->name() == "spans") {
      CHECK_FALSE(static_cast<const SpanLayout*>(chosen.layout.get())->has_image());
    }
  }
}

TEST_CASE(
    "several sources have images where they lie across the runs, and are loaded along them where they do "
    "not") {
  const Tensor destination = tests::dense(ElementType::u8, {300, 100, 494}, tests::to_address);
  const Tensor across = tests::strided(ElementType::u8, {300, 100, 494}, {1, 148200, 300});
  const Tensor along = tests::dense(ElementType::u8, {300, 100, 494});
  const Tensor repeated = tests::strided(ElementType::u8, {300, 100, 494}, {0, 0, 0});
  const Problem problem = make_problem(
      {.destination = destination, .sources = {along, across, repeated}, .body = Map{"x0 * x1 + x2"}});
  std::vector<Candidate> candidates;
  spans_family().add_candidates(problem, candidates);
  CHECK(candidates.size() > 3);
  for (const Candidate& candidate : candidates) {
    const auto& layout = *static_cast<const SpanLayout*>(candidate.layout.get());
    check_tiles(layout);
    CHECK_FALSE(layout.source[0].has_image);
    CHECK(layout.source[1].has_image);
    CHECK_FALSE(layout.source[2].has_image);
  }
}

TEST_CASE("what spans cannot do goes elsewhere: coordinates, and what is computed in place") {
  const auto spans = [](const Move& move) {
    std::vector<Candidate> candidates;
    spans_family().add_candidates(make_problem(move), candidates);
    return !candidates.empty();
  };
  const Tensor to = tests::dense(ElementType::f32, {700, 900}, tests::to_address);
  const Tensor across = tests::strided(ElementType::f32, {700, 900}, {1, 700});
  const Tensor along = tests::dense(ElementType::f32, {700, 900});
  CHECK(spans({.destination = to, .sources = {across}, .body = Map{"x * 2"}}));
  CHECK(spans({.destination = to, .sources = {along, across}, .body = Map{"x0 + x1"}}));
  CHECK_FALSE(spans({.destination = to, .sources = {across}, .body = Map{"x + g[0]"}}));
  CHECK_FALSE(spans({.destination = to, .sources = {to, across}, .body = Map{"x0 + x1"}}));

  const Padding padding{.before = {0, 3}, .value = 1};
  const Tensor narrow = tests::strided(ElementType::f32, {700, 890}, {1, 700});
  const Tensor column = tests::strided(ElementType::f32, {700, 890}, {900, 0});
  CHECK(spans({.destination = to, .sources = {narrow}, .body = padding}));
  CHECK(spans({.destination = to, .sources = {column}, .body = padding}));
}

TEST_CASE("rows of bits are walked in elements as wide as all of them are whole") {
  const auto unit = [](ElementType type, const tests::Shape& shape, const std::vector<std::uint32_t>& axes) {
    return span_layout(make_problem(tests::permutation(type, shape, axes)), {256, 64}).value().walk.unit;
  };
  CHECK(unit(ElementType::u8, {300, 607, 300}, {1, 0, 2}) == 4);
  CHECK(unit(ElementType::u8, {300, 607, 296}, {1, 0, 2}) == 8);
  CHECK(unit(ElementType::bf16, {300, 607, 299}, {1, 0, 2}) == 0);
  CHECK(unit(ElementType::u8, {300, 607, 300}, {2, 0, 1}) == 0);
}

TEST_CASE("a long dimension of short rows is split: its parts make up runs, and how many there are columns") {
  const Tensor destination = tests::dense(ElementType::u8, {49, 80000, 5}, tests::to_address);
  const Tensor source = tests::dense(ElementType::u8, {36, 80000, 3});
  const Padding padding{.before = {13, 0, 1}, .value = 1};
  const Problem problem = make_problem({.destination = destination, .sources = {source}, .body = padding});
  const auto layout = span_layout(problem, {256, 64});
  REQUIRE(layout);
  CHECK(layout->walk.split < max_view_rank);
  CHECK(layout->columns > 8);
  // So that an entry of a table serves several elements.
  CHECK(16 * layout->entries() < layout->columns * layout->run);
}
