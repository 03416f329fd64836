/// The cost model: what it predicts is sane, and what is chosen by it fits the tensor's size.
#include "plan/cost_model.hpp"

#include "plan/moves.hpp"
#include "reference/random_maps.hpp"

#include <algorithm>
#include <cmath>
#include <iostream>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;
using tests::permutation;

namespace {

constexpr auto f32 = ElementType::f32;

struct Choice {
  MoveCandidate first;
  MoveCandidate chosen;
  double first_us = 0;
  double us = 0;
};

Choice chosen(const Move& move, const Chip& chip = {}) {
  const MoveProblem problem = move_problem(move);
  const std::vector<MoveCandidate> candidates = move_candidates(problem);
  const std::size_t best = choose(candidates, problem, chip);
  REQUIRE(best < candidates.size());
  return {candidates[0], candidates[best], predict_us(candidates[0], problem, chip),
          predict_us(candidates[best], problem, chip)};
}

Move dense_copy(const tests::Shape& shape) {
  return {.destination = tests::dense(f32, shape, tests::to_address), .sources = {tests::dense(f32, shape)}};
}

std::uint32_t ctas(const MoveCandidate& candidate) {
  return move_shape(candidate.kernel, candidate.nest).grid[0];
}

std::string class_of(const Move& move) {
  const MoveProblem problem = move_problem(move);
  return shape_class(problem, move_candidates(problem).front().kernel);
}

}  // namespace

TEST_CASE("a choice is one of the candidates, its time finite and no worse than the first's") {
  const std::uint64_t seed = reference::seed(20261121);
  std::cout << "TMAJIT_SEED=" << seed << '\n';
  for (std::uint64_t n = 0; n < 1000; ++n) {
    INFO("TMAJIT_SEED=" << seed << ", case " << n);
    const MoveProblem problem = tests::random_problem(seed + n);
    const std::vector<MoveCandidate> candidates = move_candidates(problem);
    const Chip chip{.gbps = 2900, .sms = n % 2 == 0 ? 132U : 1U};
    for (const MoveCandidate& candidate : candidates) {
      const double us = predict_us(candidate, problem, chip);
      CHECK(std::isfinite(us));
      CHECK(us > 0);
      CHECK(resident_ctas(candidate.kernel) >= 1);
      CHECK(resident_ctas(candidate.kernel) <= 32);
    }
    const std::size_t best = choose(candidates, problem, chip);
    REQUIRE(best < candidates.size());
    CHECK(predict_us(candidates[best], problem, chip) <= predict_us(candidates[0], problem, chip));
  }
}

TEST_CASE("more bytes take more time") {
  double copy_us = 0;
  double transpose_us = 0;
  double sum_us = 0;
  for (std::uint64_t rows = 1024; rows <= 1 << 18; rows *= 2) {
    INFO(rows << " rows");
    const double copied = chosen(dense_copy({rows, 4096})).us;
    const double transposed = chosen(permutation(f32, {rows, 4096}, {1, 0})).us;
    Move sum = dense_copy({rows, 4096});
    sum.sources.push_back(sum.sources[0]);
    sum.expression = "x0 + x1";
    const double summed = chosen(sum).us;
    CHECK(copied > copy_us);
    CHECK(transposed > transpose_us);
    CHECK(summed > sum_us);
    CHECK(summed > copied);
    copy_us = copied, transpose_us = transposed, sum_us = summed;
  }
}

TEST_CASE("large moves go nearly at the memory's speed, and as fast as it is") {
  const double bytes = 2.0 * 16'384 * 16'384 * 4;
  for (const double gbps : {2900.0, 4260.0}) {
    const Chip chip{.gbps = gbps};
    for (const Move& move : {dense_copy({16'384, 16'384}), permutation(f32, {16'384, 16'384}, {1, 0})}) {
      const double speed = bytes / chosen(move, chip).us / 1e3;
      CHECK(speed > 0.85 * gbps);
      CHECK(speed <= gbps);
    }
  }
}

TEST_CASE("the first candidate is taken where a tensor fills the chip many times over") {
  for (const Move& move : {dense_copy({16'384, 16'384}), permutation(f32, {16'384, 16'384}, {1, 0}),
                           permutation(f32, {64, 256, 56, 56}, {0, 2, 3, 1})}) {
    const Choice choice = chosen(move);
    CHECK(choice.chosen.kernel == choice.first.kernel);
  }
}

TEST_CASE("small tensors get smaller tiles, for more SMs") {
  for (const std::uint64_t side : {128U, 256U, 512U}) {
    INFO(side);
    for (const Move& move :
         {permutation(f32, {side, side}, {1, 0}), permutation(ElementType::f16, {side, side}, {1, 0})}) {
      const Choice choice = chosen(move);
      CHECK(choice.us < choice.first_us);
      CHECK(ctas(choice.chosen) > ctas(choice.first));
    }
  }
  const Choice copied = chosen(dense_copy({64, 1024}));
  CHECK(ctas(copied.chosen) > ctas(copied.first));
  // 132 SMs need more tiles than 8.
  const Move move = permutation(f32, {256, 256}, {1, 0});
  CHECK(ctas(chosen(move, {.sms = 8}).chosen) <= ctas(chosen(move, {.sms = 132}).chosen));
}

TEST_CASE("a chip is known by its name and its SMs; the simulated one plans as an H200") {
  DeviceInfo info{.name = "NVIDIA H100 80GB HBM3", .ordinal = 0, .sm_count = 114};
  CHECK(chip_of(info).gbps == 2900);
  CHECK(chip_of(info).sms == 114);
  info.name = "NVIDIA GH200 480GB";
  CHECK(chip_of(info).gbps == 3500);
  info.name = "NVIDIA H200";
  CHECK(chip_of(info).gbps == 4260);
  info.ordinal = -1, info.sm_count = 8;
  CHECK(chip_of(info).sms == 132);
}

TEST_CASE("near problems share a shape class, others do not") {
  const std::string transpose = class_of(permutation(f32, {5000, 6000}, {1, 0}));
  CHECK(transpose == "transpose 4B rank 2 row 2^12 column 2^12 bytes 2^27");
  CHECK(class_of(permutation(f32, {5004, 6004}, {1, 0})) == transpose);
  CHECK(class_of(permutation(ElementType::i32, {4800, 6400}, {1, 0})) == transpose);

  CHECK(class_of(permutation(f32, {2500, 6000}, {1, 0})) != transpose);    // row
  CHECK(class_of(permutation(f32, {5000, 12'000}, {1, 0})) != transpose);  // column
  CHECK(class_of(permutation(f32, {5001, 6000}, {1, 0})) != transpose);    // staggered
  CHECK(class_of(permutation(ElementType::f64, {5000, 6000}, {1, 0})) != transpose);
  CHECK(class_of(permutation(f32, {8, 5000, 6000}, {0, 2, 1})) != transpose);
  CHECK(class_of(dense_copy({5000, 6000})) != transpose);

  Move sum = dense_copy({512, 512});
  sum.sources.push_back(sum.sources[0]);
  sum.expression = "x0 + x1";
  const std::string added = class_of(sum);
  CHECK(added == "general 4B rank 1 run:4B run:4B row 2^18 bytes 2^21");
  Move product = sum;
  product.expression = "x0 * x1";
  CHECK(class_of(product) == added);
  Move half = sum;
  half.sources[1].view.type = ElementType::f16;
  CHECK(class_of(half) != added);
  Move turned = sum;
  std::swap(turned.sources[1].view.strides[0], turned.sources[1].view.strides[1]);
  CHECK(class_of(turned) == "general 4B rank 2 run:4B image:4B row 2^9 column 2^9 bytes 2^21");
}
