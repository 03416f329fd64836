/// Plans of `weave` kernels: what their images and sides rely on.
#include "families/list.hpp"
#include "families/weave/weave_layout.hpp"
#include "plan/moves.hpp"
#include "reference/random_maps.hpp"

#include <tmajit/bank_conflicts.hpp>

#include <algorithm>
#include <iostream>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;
using reference::between, reference::one_of, reference::Random;

namespace {

std::uint32_t product_of(const WeaveFacts& facts, WeaveSide side) {
  std::uint32_t all = 1;
  for (std::uint32_t d = 0; d < facts.rank; ++d) {
    if (facts.side[d] == side) all *= facts.box[d];
  }
  return all;
}

/// Bytes from the image's beginning to element `n` of a run.
std::int64_t place_of(const WeaveFacts& facts, std::uint32_t n) {
  const LineImage image = facts.image();
  std::int64_t at = image.below;
  for (std::uint32_t d = facts.rank; d-- > facts.run_dimension;) {
    at += image.bytes_to(d, n % facts.box[d]);
    n /= facts.box[d];
  }
  return at;
}

void check_sides(const WeaveFacts& facts, const Problem& problem) {
  CHECK(product_of(facts, WeaveSide::column) == facts.columns);
  CHECK(product_of(facts, WeaveSide::run) == facts.run_elements);
  CHECK(product_of(facts, WeaveSide::other) == facts.others);
  const auto& source = problem.nest.operand[1].strides;
  const auto& destination = problem.nest.operand[0].strides;
  CHECK(facts.side[facts.rank - 1] == WeaveSide::run);
  CHECK(source[facts.source_order[facts.rank - 1]] == 1);
  std::int64_t next = 1;
  for (std::uint32_t d = facts.rank; d-- > facts.run_dimension;) {
    CHECK(destination[d] == next);
    next *= facts.box[d];
  }
  next = 1;
  for (std::uint32_t k = facts.rank; k-- > 0;) {
    const std::uint32_t d = facts.source_order[k];
    if (facts.side[d] != WeaveSide::column) break;
    CHECK(source[d] == next);
    CHECK(facts.spans(d));
    next *= facts.box[d];
  }
}

void check_image(const WeaveFacts& facts, const Problem& problem) {
  const LineImage image = facts.image();
  std::vector<std::int64_t> lines{0};
  for (std::uint32_t d = 0; d < facts.rank; ++d) {
    // In the image an element is as far from a multiple of 16 bytes as in memory.
    const std::int64_t step = problem.nest.operand[1].strides[d] * std::int64_t{facts.element_bytes};
    if (facts.box[d] > 1) CHECK((facts.image_step[d] - step) % 16 == 0);
    if (facts.spans(d)) continue;
    std::vector<std::int64_t> more;
    for (const std::int64_t line : lines) {
      for (std::uint32_t i = 0; i < facts.box[d]; ++i) more.push_back(line + image.bytes_to(d, i));
    }
    lines = std::move(more);
  }
  std::ranges::sort(lines);
  REQUIRE(lines.size() == facts.line_count);
  for (std::size_t i = 1; i < lines.size(); ++i) {
    CHECK(lines[i] - lines[i - 1] >= std::int64_t{facts.line_bytes});
    // No two lines have a unit of 16 bytes in common.
    CHECK(lines[i] / 16 > (lines[i - 1] + facts.line_bytes - 1) / 16);
  }
  // A group of columns is read, and what is left of the word that it ends in.
  CHECK(lines.back() + facts.line_bytes + 16 + 4 <= std::int64_t{facts.image_bytes});
}

/// What the model counts is what the lanes of a warp meet.
void check_wavefronts(const WeaveLayout& layout) {
  const WeaveFacts& facts = layout.facts;
  WarpAccess access{.width = std::min(std::max(facts.image_alignment, 4U), facts.group_bytes),
                    .lanes = warp_lanes};
  for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
    const std::uint32_t element = lane % facts.lanes * facts.in_word();
    // Elements past the end of a run stand for themselves in the model: only whole strips are compared.
    if (element >= facts.run_elements) return;
    const auto at =
        static_cast<std::uint32_t>(place_of(facts, element)) + lane / facts.lanes * facts.group_bytes;
    access.offsets[lane] = at / access.width * access.width;
  }
  if (facts.image_alignment >= access.width) CHECK(layout.wavefronts == wavefronts(access).needed);
}

}  // namespace

TEST_CASE("sides of woven tiles are contiguous, and lines keep apart in the image") {
  const std::uint64_t seed = reference::seed(20261123);
  std::cout << "TMAJIT_SEED=" << seed << '\n';
  std::size_t layouts = 0;
  for (std::uint64_t n = 0; n < 300; ++n) {
    Random random(seed + n);
    const Problem problem = make_problem(tests::random_permutation(random));
    std::vector<Candidate> candidates;
    weave_family().add_candidates(problem, candidates);
    INFO("TMAJIT_SEED=" << seed << ", case " << n << ": " << problem.nest.text());
    for (const Candidate& candidate : candidates) {
      const auto facts = facts_of<WeaveFacts>(candidate);
      const WeaveLayout layout = weave_layout(problem, facts.box).value();
      check_sides(facts, problem);
      check_image(facts, problem);
      check_wavefronts(layout);
      ++layouts;
    }
  }
  CHECK(layouts > 600);
}
