/// Elements that stay together become one wider element if the move is then a transpose and the alignment
/// allows it.
#include "families/shared/blocks.hpp"
#include "plan/moves.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;
using tests::dense, tests::source_address, tests::permutation, tests::strided, tests::destination_address;

namespace {

using ElementType::bf16;
using ElementType::f32;
using ElementType::f64;

/// The bytes of the elements that a transpose moves, or 0 for other kernels.
std::uint32_t width(const Move& move) {
  const Problem problem = make_problem(move);
  const Candidate by_default = tests::default_candidate(problem);
  if (!tests::is_of_family(by_default, "transpose") && !tests::is_of_family(by_default, "direct_transpose"))
    return 0;
  for (const Candidate& candidate : tests::candidates_of(problem)) {
    if (tests::is_of_family(candidate, "transpose") || tests::is_of_family(candidate, "direct_transpose")) {
      CHECK(facts_of<BlockFacts>(candidate).element_bytes == problem.element_bytes(0));
    }
  }
  return problem.element_bytes(0);
}

std::uint32_t joined(const Move& move) {
  return make_problem(move).joined;
}

}  // namespace

TEST_CASE("2 to 16 elements that stay together and have at most 16 bytes become one element") {
  for (const ElementType type : {ElementType::u8, bf16, f32, f64}) {
    for (const std::uint64_t count : {2U, 4U, 8U, 16U}) {
      INFO(count << " of " << name(type));
      const std::uint64_t bytes = count * size_of(type);
      const Move move = permutation(type, {501, 255, count}, {1, 0, 2});
      CHECK(joined(move) == (bytes <= 16 ? count : 1));
      CHECK(width(move) == (bytes <= 16 ? bytes : 0));
    }
    for (const std::uint64_t count : {3U, 5U, 6U, 12U})
      CHECK(joined(permutation(type, {501, 255, count}, {1, 0, 2})) == 1);
  }
}

TEST_CASE("a widened nest has the same accesses, with fewer and wider elements") {
  const Move move = permutation(bf16, {6, 50, 40, 4}, {2, 0, 1, 3});
  const Problem problem = make_problem(move);
  CHECK(problem.nest.text() == "40x300: 300,1 <- 1,40");
  CHECK(problem.step(0, 0) == 300LL * 8);
  CHECK(problem.step(1, 1) == 40LL * 8);
  CHECK(problem.bytes_read() == 6ULL * 50 * 40 * 4 * 2);
  CHECK(problem.bytes_written() == problem.bytes_read());
  CHECK(problem.address[0] == destination_address);
  CHECK(problem.address[1] == source_address);
}

TEST_CASE("elements are widened despite gaps and negative strides that are multiples of the wider element") {
  const Tensor to = dense(f32, {64, 96, 2}, destination_address);
  CHECK(joined({to, {strided(f32, {64, 96, 2}, {2, 132, 1})}}) == 2);
  CHECK(joined({to, {strided(f32, {64, 96, 2}, {2, 131, 1})}}) == 1);
  // Pairs of stride 0 make no transpose.
  CHECK(joined({to, {strided(f32, {64, 96, 2}, {2, 0, 1})}}) == 1);
  CHECK(joined({to, {strided(f32, {64, 96, 2}, {2, -128, 1}, source_address + 128ULL * 95 * 4)}}) == 2);
  // The pair may be reversed in both operands. In one alone, two reversed elements are not one wide element.
  CHECK(joined({to, {strided(f32, {64, 96, 2}, {2, 128, -1}, source_address + 4)}}) == 1);
  const Tensor turned = strided(f32, {64, 96, 2}, {192, 2, -1}, destination_address + 4);
  const Move both{turned, {strided(f32, {64, 96, 2}, {2, 128, -1}, source_address + 4)}};
  CHECK(joined(both) == 2);
  CHECK(make_problem(both).address[0] == destination_address);
  CHECK(make_problem(both).address[1] == source_address);
  CHECK(make_problem(both).nest.operand[0].offset == 0);
}

TEST_CASE("elements at addresses that are not multiples of the wider element are not widened") {
  for (const DevicePtr shift : {4U, 8U, 12U, 16U}) {
    INFO(shift << " bytes");
    Move move = permutation(f32, {64, 96, 4}, {1, 0, 2});
    move.destination.address += shift;
    CHECK(joined(move) == (shift == 16 ? 4 : 1));
    move.destination.address -= shift;
    move.sources[0].address += shift;
    CHECK(joined(move) == (shift == 16 ? 4 : 1));
  }
}

TEST_CASE("elements are widened only if the move becomes a transpose") {
  // Not transposes: a source with gaps, a copy of rows, a move with an expression, and a padded move.
  CHECK(joined({dense(f32, {64, 96, 2}, destination_address), {strided(f32, {64, 96, 2}, {400, 4, 1})}}) ==
        1);
  CHECK(joined({dense(f32, {64, 96, 2}, destination_address), {strided(f32, {64, 96, 2}, {200, 2, 1})}}) ==
        1);
  Move move = permutation(f32, {64, 96, 2}, {1, 0, 2});
  move.body = Map{"x"};
  CHECK(joined(move) == 1);
  move.body = Padding{{0, 0, 0}, 1.0};
  CHECK(joined(move) == 1);
  // With two columns, half of each block of 4 by 4 would be empty.
  CHECK(joined(permutation(ElementType::u8, {64, 2, 2}, {1, 0, 2})) == 1);
}
