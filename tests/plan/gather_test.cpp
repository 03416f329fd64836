/// Plans of `gather` kernels: which moves they take, and what their kernels rely on of images, tables and
/// runs.
#include "families/gather/gather_layout.hpp"
#include "families/list.hpp"
#include "plan/cost_model.hpp"
#include "plan/moves.hpp"
#include "reference/random_maps.hpp"

#include <algorithm>
#include <iostream>
#include <limits>
#include <set>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;
using tests::permutation;

namespace {

constexpr auto u8 = ElementType::u8;
constexpr auto f32 = ElementType::f32;

std::string_view chosen(const Move& move) {
  const Problem problem = make_problem(move);
  const std::vector<Candidate> candidates = tests::candidates_of(problem);
  return candidates[choose(candidates, problem, {}).candidate].family->name();
}

std::vector<Candidate> gather_candidates(const Problem& problem) {
  std::vector<Candidate> candidates;
  gather_family().add_candidates(problem, candidates);
  return candidates;
}

bool takes(const Move& move) {
  return takes_gather(make_problem(move));
}

/// Where the lines of a tile begin in its image.
std::vector<std::int64_t> lines_of(const GatherFacts& facts) {
  std::vector<std::int64_t> lines{0};
  for (std::uint32_t d = 0; d < facts.rank; ++d) {
    std::vector<std::int64_t> more;
    for (const std::int64_t line : lines) {
      for (std::int64_t i = 0; i < std::int64_t{facts.lines[d]}; ++i) {
        more.push_back(line + i * facts.image_step[d] + (d == facts.skewed ? i / facts.skew_every * 16 : 0));
      }
    }
    lines = std::move(more);
  }
  std::ranges::sort(lines);
  return lines;
}

/// What the kernel relies on: lines that lie as in memory, and no two of them in the same 16 bytes.
void check_image(const Candidate& candidate) {
  const auto facts = facts_of<GatherFacts>(candidate);
  const GatherLayout layout(facts);
  for (std::uint32_t d = 0; d < facts.rank; ++d) {
    if (facts.box[d] == 1) continue;
    const std::int64_t step = candidate.nest.operand[1].strides[d] * std::int64_t{facts.element_bytes};
    if (step != 0) CHECK((facts.image_step[d] - step) % 16 == 0);
    if (step == 0) CHECK(facts.image_step[d] == 0);
  }
  const std::int64_t most_skip = 16 - facts.line_alignment;
  const std::vector<std::int64_t> lines = lines_of(facts);
  CHECK(lines.size() == layout.line_count);
  for (std::int64_t skip = 0; skip <= most_skip; skip += facts.line_alignment) {
    std::int64_t free = 0;  // units before it are taken
    bool apart = true;
    for (const std::int64_t line : lines) {
      apart = apart && (skip + line) / 16 >= free;
      free = (skip + line + facts.line_bytes - 1) / 16 + 1;
    }
    CHECK(apart);
    CHECK(free * 16 <= std::int64_t{layout.image_bytes});
  }
}

void check_runs(const Candidate& candidate, const Problem& problem) {
  const auto facts = facts_of<GatherFacts>(candidate);
  const GatherLayout layout(facts);
  CHECK(candidate.nest.operand[0].strides[facts.rank - 1] == 1);
  std::int64_t expected = 1;
  for (std::uint32_t d = facts.rank; d-- > facts.run_dimension;) {
    CHECK(candidate.nest.operand[0].strides[d] == expected);
    if (d > facts.run_dimension) CHECK(facts.box[d] == candidate.nest.shape[d]);
    expected *= static_cast<std::int64_t>(candidate.nest.shape[d]);
  }
  CHECK(layout.run_elements * layout.runs > 0);
  CHECK(std::uint64_t{layout.slots} * layout.parts * facts.vector() >= layout.run_elements);
  CHECK(32 % layout.slots_along == 0);
  CHECK(facts.threads / 32 % layout.warps_along == 0);
  CHECK(layout.bytes == gather_family().footprint(candidate, problem).dynamic_shared_bytes);
  // Places are numbers of 16 bits.
  CHECK(layout.image_bytes <= std::numeric_limits<std::int16_t>::max() + 1);
}

}  // namespace

TEST_CASE("moves of bits with a short dimension are gathered") {
  CHECK(takes(permutation(u8, {4096, 4096, 3}, {1, 0, 2})));
  CHECK(takes(permutation(u8, {27, 33, 30, 43, 23}, {3, 1, 4, 0, 2})));
  CHECK(takes(permutation(f32, {64, 9, 17, 5}, {2, 0, 1, 3})));
  CHECK(takes(permutation(u8, {64, 224, 224, 3}, {0, 3, 1, 2})));
  CHECK(takes(permutation(u8, {64, 3, 224, 224}, {0, 2, 3, 1})));
}

TEST_CASE("what blocks and rows are made for, and what is computed or padded, is not") {
  CHECK_FALSE(takes(permutation(f32, {4096, 4096}, {1, 0})));
  CHECK_FALSE(takes(permutation(ElementType::f16, {8, 512, 16, 64}, {0, 2, 1, 3})));
  Move computed = permutation(u8, {512, 512, 3}, {1, 0, 2});
  computed.body = Map{"x + x"};
  CHECK_FALSE(takes(computed));
  // Rows that do not follow each other are no run.
  const Tensor apart = tests::strided(u8, {64, 64, 3}, {64 * 5, 5, 1}, tests::to_address);
  CHECK_FALSE(takes({apart, {tests::strided(u8, {64, 64, 3}, {3, 192, 1})}}));
}

TEST_CASE("the model takes a gather for pixels of three bytes and for short odd rows, not for blocks") {
  CHECK(chosen(permutation(u8, {4096, 4096, 3}, {1, 0, 2})) == "gather");
  const auto odd = chosen(permutation(u8, {27, 33, 30, 43, 23}, {3, 1, 4, 0, 2}));
  CHECK((odd == "gather" || odd == "weave" || odd == "spans"));
  const auto wider = chosen(permutation(ElementType::bf16, {27, 33, 30, 43, 23}, {4, 2, 0, 3, 1}));
  CHECK((wider == "gather" || wider == "spans"));
  CHECK(chosen(permutation(f32, {8191, 8209}, {1, 0})) == "transpose");
}

TEST_CASE("pixels of three bytes have runs of whole vectors, 128 bytes for each eight threads") {
  const Problem problem = make_problem(permutation(u8, {4096, 4096, 3}, {1, 0, 2}));
  const auto facts = facts_of<GatherFacts>(gather_candidates(problem).front());
  const GatherLayout layout(facts);
  CHECK(facts.run_dimension == 1);
  CHECK(facts.alignment == 16);
  CHECK(facts.same_alignment == 1);
  CHECK(layout.run_elements % 128 == 0);
  CHECK(layout.slots % layout.slots_along == 0);
}

TEST_CASE("every gather's lines lie apart in its image, as far from multiples of 16 bytes as in memory") {
  constexpr ElementType types[] = {u8, ElementType::bf16, f32, ElementType::f64};
  const std::uint64_t seed = reference::seed(20261121);
  std::cout << "TMAJIT_SEED=" << seed << '\n';
  std::set<std::uint32_t> chunks;
  for (std::uint64_t n = 0; n < 400; ++n) {
    reference::Random random(seed + n);
    const ElementType type = reference::one_of(random, types);
    tests::Shape shape;
    for (std::uint64_t d = 0, rank = reference::between(random, 2, 6); d < rank; ++d) {
      shape.push_back(reference::between(random, 2, reference::one_in(random, 3) ? 900 : 40));
    }
    shape.back() = reference::between(random, 2, 15);
    std::vector<std::uint32_t> axes(shape.size());
    for (std::uint32_t d = 0; d < axes.size(); ++d) axes[d] = d;
    std::shuffle(axes.begin(), axes.end(), random);
    Move move = permutation(type, shape, axes);
    move.sources[0].address += reference::between(random, 0, 15) * size_of(type);
    move.destination.address += reference::between(random, 0, 15) * size_of(type);
    const Problem problem = make_problem(move);
    INFO("TMAJIT_SEED=" << seed << ", case " << n << ": " << problem.nest.text());
    if (!takes_gather(problem)) continue;
    for (const Candidate& candidate : gather_candidates(problem)) {
      INFO(tests::choice_text(candidate));
      check_image(candidate);
      check_runs(candidate, problem);
      chunks.insert(facts_of<GatherFacts>(candidate).vector());
    }
  }
  CHECK(chunks == std::set<std::uint32_t>{2, 4, 8, 16});
}
