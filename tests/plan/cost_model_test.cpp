/// The cost model: plausible predictions, and choices that suit the tensor's size.
#include "plan/cost_model.hpp"

#include "families/shared/blocks.hpp"
#include "plan/candidates.hpp"
#include "plan/moves.hpp"
#include "reference/random_maps.hpp"

#include <algorithm>
#include <cmath>
#include <iostream>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;
using tests::permutation;

namespace {

using ElementType::f32;

struct Choice {
  Problem problem;
  Candidate by_default;
  Candidate chosen;
  double default_us = 0;
  double us = 0;
};

Choice chosen(const Move& move, const Chip& chip = {}) {
  const Problem problem = make_problem(move);
  const std::vector<Candidate> candidates = tests::candidates_of(problem);
  const std::size_t best = choose(candidates, problem, chip).candidate;
  REQUIRE(best < candidates.size());
  const Candidate& by_default = candidates[default_of(candidates)];
  return {problem, by_default, candidates[best], predict(by_default, problem, chip).us,
          predict(candidates[best], problem, chip).us};
}

Move dense_copy(const tests::Shape& shape) {
  return {.destination = tests::dense(f32, shape, tests::destination_address),
          .sources = {tests::dense(f32, shape)}};
}

std::uint32_t ctas(const Choice& choice, const Candidate& candidate) {
  return make_kernel_plan(candidate, choice.problem).launch_shape().grid[0];
}

std::string class_of(const Move& move) {
  return shape_class(move, {}).text();
}

/// The recorded choice for a known move and the shape class of its measurements.
struct Known {
  std::string_view name;
  std::string_view choice;
  std::string_view shape_class;
};
constexpr Known known_choices[] = {
    {"dense copy", "rows 1024, 256 threads", "rows 4B rank 1 extents 16777216"},
    {"rows of a wider matrix", "rows 1x512, 128 threads", "rows 4B rank 2 extents 100x512"},
    {"tokens and heads exchanged", "linear words of 16 bytes, 256 threads of 2",
     "rows 2B rank 4 order 0,2,1,3 extents 8x16x512x64"},
    {"a row repeated", "rows 1x512, 128 threads", "rows 4B rank 2 extents 512x1024"},
    {"rows 2 GiB apart", "rows 8x64, 32 threads", "rows 1B rank 2 extents 8x64"},
    {"transpose", "transpose 64x64, 256 threads", "transpose 4B rank 2 order 1,0 extents 4096x4096"},
    {"transpose, cut blocks", "direct_transpose 32x32 by 8, 64 threads",
     "direct_transpose 2B rank 2 order 1,0 extents 1004x1000"},
    {"transpose, odd rows", "transpose 64x32 by 8, 64 threads",
     "transpose 1B rank 2 staggered order 1,0 extents 1003x1001"},
    {"transpose of 8 bytes", "direct_transpose 16x16, 64 threads",
     "direct_transpose 8B rank 2 order 1,0 extents 256x512"},
    {"NCHW to NHWC", "transpose 1x128x64, 128 threads", "transpose 2B rank 3 order 0,2,1 extents 8x3136x64"},
    {"three dimensions reversed", "transpose 64x1x32, 128 threads",
     "transpose 4B rank 3 order 2,1,0 extents 128x96x64"},
    {"a column repeated", "linear words of 16 bytes, 256 threads of 2",
     "general 4B rank 2 repeat:4B order 1,0 extents 512x1024"},
    {"complex numbers", "direct_transpose 8x8, 64 threads",
     "direct_transpose 16B rank 2 order 1,0 extents 256x512"},
    {"pixels of four bytes", "transpose 16x8, 32 threads",
     "transpose 4B rank 2 staggered order 1,0 extents 255x501"},
    {"pixels of three bytes", "linear words of 8 bytes, 256 threads of 1",
     "general 1B rank 3 staggered run:1B order 1,0,2 extents 255x501x3"},
    {"source 4 bytes off", "general 1024, 256 threads of 1 chunk", "general 4B rank 1 run:4B extents 262144"},
    {"destination 4 bytes off", "general 1024, 256 threads of 1 chunk",
     "general 4B rank 1 staggered run:4B extents 262144"},
    {"odd bytes", "general 1024, 64 threads of 1 chunk", "general 1B rank 1 staggered run:1B extents 999"},
    {"single element", "general 4, 32 threads of 1 chunk", "general 4B rank 1 run:4B extents 0"},
    {"one element everywhere", "general 1024, 256 threads of 1 chunk",
     "general 4B rank 1 repeat:4B extents 262144"},
    {"rows backwards", "general 1x1024, 256 threads of 1 chunk", "general 4B rank 2 run:4B extents 64x1024"},
    {"every second f32", "general 256, 64 threads of 1 chunk", "general 4B rank 1 elements:4B extents 32768"},
    {"elements 4 GiB apart", "general 4x32, 32 threads of 1 chunk",
     "general 4B rank 2 elements:4B extents 4x64"},
    {"every third byte", "general 8x32, 64 threads of 1 chunk", "general 1B rank 2 run:1B extents 64x512"},
    {"every ninth byte", "general 1024, 64 threads of 1 chunk",
     "general 1B rank 1 elements:1B extents 32768"},
    {"into every second byte", "general 1024, 64 threads of 1 chunk",
     "general 1B rank 1 run:1B extents 32768"},
    {"two columns of bytes", "general 2x32, 32 threads of 1 chunk",
     "general 1B rank 2 run:1B order 1,0 extents 2x1000"},
    {"two columns of a wide matrix", "general 2x32, 32 threads of 1 chunk",
     "general 1B rank 2 elements:1B order 1,0 extents 2x1008"},
    {"columns backwards", "flat 32x32, 256 threads", "general 4B rank 2 image:4B order 1,0 extents 512x512"},
    {"padded", "general 8x256, 256 threads of 1 chunk", "general 2B rank 2 run:2B extents 130x136"},
    {"padded transpose", "general 4x256, 256 threads of 1 chunk",
     "general 4B rank 2 elements:4B order 1,0 extents 128x132"},
    {"padded repeats", "general 4x32, 32 threads of 1 chunk",
     "general 1B rank 2 staggered repeat:1B order 1,0 extents 4x20"},
    {"sum", "general 1024, 256 threads of 1 chunk", "general 4B rank 1 run:4B run:4B extents 16777216"},
    {"sum with a transpose", "general 64x64, 256 threads",
     "general 4B rank 2 run:4B image:4B order of x1 1,0 extents 4096x4096"},
    {"sum of transposes, one backwards", "flat 32x32, 256 threads",
     "general 4B rank 2 image:4B elements:4B order 1,0 order of x1 1,0 extents 512x512"},
    {"sum with a staggered transpose", "flat 16x64 by 4, 256 threads, source order",
     "general 4B rank 2 staggered image:4B order 1,0 extents 512x510"},
    {"lines through the row", "general 16x8x16, 256 threads",
     "general 2B rank 3 image:2B order 0,2,1 extents 64x8x16"},
    {"bias", "general 2x1024, 256 threads of 1 chunk", "general 2B rank 2 run:2B run:2B extents 512x1024"},
    {"scale of rows", "linear words of 8 bytes, 256 threads of 2",
     "general 2B rank 2 run:2B repeat:4B order of x1 1,0 extents 512x1024"},
    {"cast", "general 1024, 256 threads of 1 chunk", "general 4B rank 1 run:2B extents 524288"},
    {"coordinates", "general 1x2x1024, 256 threads of 2 chunks",
     "general 4B rank 3 run:4B extents 3x512x1024"},
    {"coordinates beyond 32 bits", "general 4096, 256 threads of 1 chunk",
     "general 1B rank 1 run:1B extents 8589934592"},
    {"coordinates of a staggered row", "general 8x64, 256 threads of 1 chunk",
     "general 1B rank 2 staggered run:8B extents 31x33"},
};

}  // namespace

TEST_CASE("known moves get the recorded kernels") {
  const auto moves = tests::known_moves();
  REQUIRE(moves.size() == std::size(known_choices));
  for (std::size_t i = 0; i < moves.size(); ++i) {
    INFO(moves[i].name);
    REQUIRE(moves[i].name == known_choices[i].name);
    CHECK(tests::choice_text(chosen(moves[i].move).chosen) == known_choices[i].choice);
    CHECK(class_of(moves[i].move) == known_choices[i].shape_class);
    const std::vector<KernelPlan> plans = plan_kernels(Operation::of({moves[i].move}));
    REQUIRE(plans.size() == 1);
    CHECK(plans[0].choice().text() == known_choices[i].choice);
    CHECK_FALSE(plans[0].tuned());
  }
}

TEST_CASE(
    "the choice's predicted time is finite, at most the default candidate's, and near the least of all "
    "candidates") {
  const std::uint64_t seed = reference::seed(20261121);
  std::cout << "TMAJIT_SEED=" << seed << '\n';
  for (std::uint64_t n = 0; n < 1000; ++n) {
    INFO("TMAJIT_SEED=" << seed << ", case " << n);
    const Problem problem = make_problem(tests::random_move(seed + n));
    const std::vector<Candidate> candidates = tests::candidates_of(problem);
    const Chip chip{.gbps = 2900, .sm_count = n % 2 == 0 ? 132U : 1U};
    for (const Candidate& candidate : candidates) {
      const double us = predict(candidate, problem, chip).us;
      CHECK(std::isfinite(us));
      CHECK(us > 0);
      const std::uint32_t resident = resident_ctas(candidate.family->footprint(candidate, problem));
      CHECK(resident >= 1);
      CHECK(resident <= 32);
    }
    const std::size_t best = choose(candidates, problem, chip).candidate;
    REQUIRE(best < candidates.size());
    const double chosen_us = predict(candidates[best], problem, chip).us;
    CHECK(chosen_us <= predict(candidates[default_of(candidates)], problem, chip).us);
    // Kernels that few problems share are chosen only if all other kernels take much longer.
    for (const Candidate& candidate : candidates)
      CHECK(predict(candidate, problem, chip).us > 0.59 * chosen_us);
  }
}

TEST_CASE("the predicted time increases with the number of bytes") {
  double copy_us = 0;
  double transpose_us = 0;
  double sum_us = 0;
  for (std::uint64_t rows = 1024; rows <= 1 << 18; rows *= 2) {
    INFO(rows << " rows");
    const double copied = chosen(dense_copy({rows, 4096})).us;
    const double transposed = chosen(permutation(f32, {rows, 4096}, {1, 0})).us;
    Move sum = dense_copy({rows, 4096});
    sum.sources.push_back(sum.sources[0]);
    sum.body = Map{"x0 + x1"};
    const double summed = chosen(sum).us;
    CHECK(copied > copy_us);
    CHECK(transposed > transpose_us);
    CHECK(summed > sum_us);
    CHECK(summed > copied);
    copy_us = copied, transpose_us = transposed, sum_us = summed;
  }
}

TEST_CASE("large moves are predicted to run at 85 to 100 % of the memory's bandwidth") {
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

TEST_CASE("the default candidate is chosen for tensors that fill the chip many times over") {
  for (const Move& move : {dense_copy({16'384, 16'384}), permutation(f32, {16'384, 16'384}, {1, 0}),
                           permutation(f32, {64, 256, 56, 56}, {0, 2, 3, 1})}) {
    const Choice choice = chosen(move);
    CHECK(choice.chosen == choice.by_default);
  }
}

TEST_CASE("small tensors get smaller tiles, to use more SMs") {
  // The smallest tensors have only one tile size; tensors of a few MiB have several.
  for (const std::uint64_t side : {128U, 256U, 512U}) {
    INFO(side);
    for (const Move& move :
         {permutation(f32, {side, side}, {1, 0}), permutation(ElementType::f16, {side, side}, {1, 0})}) {
      const Choice choice = chosen(move);
      const Choice large = chosen(permutation(f32, {16'384, 16'384}, {1, 0}));
      CHECK(choice.chosen == choice.by_default);
      CHECK(facts_of<BlockFacts>(choice.chosen).box[0] < facts_of<BlockFacts>(large.chosen).box[0]);
    }
  }
  const Choice copied = chosen(dense_copy({64, 1024}));
  CHECK(ctas(copied, copied.chosen) >= 128);
  // 132 SMs need more tiles than 8.
  const Move move = permutation(f32, {256, 256}, {1, 0});
  const Choice on_few = chosen(move, {.sm_count = 8});
  const Choice on_many = chosen(move, {.sm_count = 132});
  CHECK(ctas(on_few, on_few.chosen) <= ctas(on_many, on_many.chosen));
}

TEST_CASE("chip_of() knows a chip by its name and SMs, and plans for the simulated device as for an H200") {
  DeviceInfo info{.name = "NVIDIA H100 80GB HBM3", .ordinal = 0, .sm_count = 114};
  CHECK(chip_of(info).gbps == 2900);
  CHECK(chip_of(info).sm_count == 114);
  info.name = "NVIDIA GH200 480GB";
  CHECK(chip_of(info).gbps == 3500);
  info.name = "NVIDIA H200";
  CHECK(chip_of(info).gbps == 4260);
  info.ordinal = -1, info.sm_count = 8;
  CHECK(chip_of(info).sm_count == 132);
}

TEST_CASE("equal problems have one shape class, others do not") {
  const std::string transpose = class_of(permutation(f32, {5000, 6000}, {1, 0}));
  CHECK(transpose == "transpose 4B rank 2 order 1,0 extents 6000x5000");
  CHECK(class_of(permutation(ElementType::i32, {5000, 6000}, {1, 0})) == transpose);

  CHECK(class_of(permutation(f32, {5004, 6000}, {1, 0})) != transpose);
  CHECK(class_of(permutation(f32, {5001, 6000}, {1, 0})) != transpose);  // staggered
  CHECK(class_of(permutation(ElementType::f64, {5000, 6000}, {1, 0})) != transpose);
  CHECK(class_of(permutation(f32, {8, 5000, 6000}, {0, 2, 1})) != transpose);
  CHECK(class_of(dense_copy({5000, 6000})) != transpose);

  Move sum = dense_copy({512, 512});
  sum.sources.push_back(sum.sources[0]);
  sum.body = Map{"x0 + x1"};
  const std::string added = class_of(sum);
  CHECK(added == "general 4B rank 1 run:4B run:4B extents 262144");
  Move product = sum;
  product.body = Map{"x0 * x1"};
  CHECK(class_of(product) == added);
  Move half = sum;
  half.sources[1].view.type = ElementType::f16;
  CHECK(class_of(half) != added);
  Move turned = sum;
  std::swap(turned.sources[1].view.strides[0], turned.sources[1].view.strides[1]);
  CHECK(class_of(turned) == "general 4B rank 2 run:4B image:4B order of x1 1,0 extents 512x512");
}
