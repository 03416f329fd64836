/// Plans of `linear` kernels: the problems that they support, and the words that span two rows.
#include "families/linear/word_lines.hpp"
#include "families/list.hpp"
#include "plan/moves.hpp"
#include "reference/random_maps.hpp"

#include <iostream>
#include <numeric>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;

namespace {

std::vector<Candidate> linear_candidates(const Problem& problem) {
  std::vector<Candidate> candidates;
  if (problem.nest.elements() > 0) linear_family().add_candidates(problem, candidates);
  return candidates;
}

/// Whether any word has columns of two rows, found by a loop over all words. `row`: columns of a row.
bool any_word_spans_rows(const Problem& problem, const LinearFacts& facts, std::uint64_t row) {
  const std::uint64_t word_bytes = std::uint64_t{facts.word_elements} * facts.element_bytes();
  const std::uint64_t first_in_word =
      facts.lines > 1 ? 0 : problem.address[0] % word_bytes / facts.element_bytes();
  const std::uint64_t all = problem.nest.elements() / facts.lines;
  for (std::uint64_t end = row; end < all; end += row) {
    if ((end + first_in_word) % facts.columns() != 0) return true;
  }
  return false;
}

/// The dimensions of a candidate's contiguous operand in the order of its memory, the fastest last.
PerDimension order_of(const Problem& problem, const LinearFacts& facts) {
  return facts.lines > 1 ? sides_of(problem, facts).order : in_order();
}

}  // namespace

TEST_CASE("linear kernels take only tensors of one flat dimension, and know whether words span two rows") {
  const std::uint64_t seed = reference::seed(20261209);
  std::cout << "TMAJIT_SEED=" << seed << std::endl;
  std::size_t candidates_checked = 0;
  for (std::uint64_t n = 0; n < 1500; ++n) {
    INFO("TMAJIT_SEED=" << seed << ", case " << n);
    const Problem problem = make_problem(tests::random_move(seed + n, 40));
    for (const Candidate& candidate : linear_candidates(problem)) {
      INFO(linear_family().choice(candidate).text());
      const auto facts = facts_of<LinearFacts>(candidate);
      const CanonicalNest& nest = problem.nest;
      const PerDimension order = order_of(problem, facts);
      const bool spreads = facts.lines > 1 && facts.line_move == LineMove::spread;
      const std::uint32_t contiguous = facts.line_move == LineMove::scatter ? 1 : 0;
      const PerDimension by_stride = spreads ? in_order() : order;
      std::uint64_t expected = 1;
      for (std::uint32_t k = nest.rank; k-- > 0; expected *= nest.shape[by_stride[k]])
        CHECK(static_cast<std::uint64_t>(nest.operand[contiguous].strides[by_stride[k]]) == expected);
      const std::uint32_t row_rank = nest.rank - (facts.lines > 1 ? 1 : 0);
      const std::uint64_t row = nest.shape[order[row_rank - 1]];
      CHECK((facts.short_rows != 0) == (row_rank > 1 && row < facts.columns()));
      if (facts.short_rows == 0 && facts.wraps == 0) CHECK_FALSE(any_word_spans_rows(problem, facts, row));
      CHECK(nest.elements() >= facts.word_elements);
      const Footprint footprint = linear_family().footprint(candidate, problem);
      const std::uint64_t of_cta = std::uint64_t{footprint.threads} * facts.turns * facts.word_elements;
      CHECK(tiles_of(footprint, nest) * of_cta >= nest.elements() + facts.word_elements - 1);
      ++candidates_checked;
    }
  }
  CHECK(candidates_checked > 300);
}

TEST_CASE("linear kernels take neither more than 2^31 elements nor transpositions") {
  const Tensor row = tests::dense(ElementType::u8, {1, 3}, tests::source_address);
  const auto repeated = [&](std::uint64_t rows) {
    const Tensor destination = tests::dense(ElementType::u8, {rows, 3}, tests::destination_address);
    return linear_candidates(
        make_problem({.destination = destination, .sources = {broadcast(row, {rows, 3})}}));
  };
  CHECK_FALSE(repeated(1'000'001).empty());
  CHECK(repeated(715'827'883).empty());
  CHECK(linear_candidates(make_problem(tests::permutation(ElementType::f32, {3001, 4001}, {1, 0}))).empty());
  CHECK_FALSE(linear_candidates(make_problem(tests::permutation(ElementType::f32, {301, 41, 37}, {1, 0, 2})))
                  .empty());
}
