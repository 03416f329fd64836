/// The bytes, sectors and contiguous pieces that the cost model counts for a tile and for consecutive tiles.
#include "plan/traffic.hpp"

#include "plan/moves.hpp"
#include "reference/random.hpp"

#include <iostream>

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

using namespace tmajit;
using Catch::Approx;
using tests::permutation;

namespace {

using ElementType::f32;

}  // namespace

TEST_CASE("consecutive tiles make longer contiguous pieces in the tensor whose order they follow") {
  const Problem problem = make_problem(permutation(f32, {4096, 4096}, {1, 0}));
  Footprint footprint{.box = {64, 64}};
  const auto pieces_of = [&](double tiles, std::uint32_t operand) {
    return traffic_of(box_of_tiles(footprint, problem.nest, tiles), problem, problem.nest, operand).pieces;
  };
  constexpr double bytes = 4096.0 * 4096 * 4;
  CHECK(pieces_of(1, 0) == Approx(bytes / 256));
  CHECK(pieces_of(1, 1) == Approx(bytes / 256));
  // 64 adjacent tiles are 64 whole rows of the destination, but only 64 elements of each row of the source.
  CHECK(pieces_of(64, 0) == Approx(bytes / (64 * 4096 * 4)));
  CHECK(pieces_of(64, 1) == Approx(bytes / 256));
  footprint.order = {1, 0};
  CHECK(pieces_of(64, 0) == Approx(bytes / 256));
  CHECK(pieces_of(64, 1) == Approx(bytes / (64 * 4096 * 4)));
  CHECK(pieces_of(1e9, 0) == Approx(1));
}

TEST_CASE("misaligned pieces touch parts of sectors, and pieces near each other share sectors") {
  const Problem odd = make_problem(permutation(f32, {1000, 33}, {1, 0}));
  const auto of_box = [&](const ElementBox& box, std::uint32_t operand, BoxAccess access = {}) {
    return traffic_of(box, odd, odd.nest, operand, access);
  };
  // The destination's rows of 4000 bytes are aligned to sectors, the source's rows of 132 bytes only to
  // words.
  const PredictedTraffic written = of_box({8, 8}, 0);
  CHECK(written.pieces == Approx(33 * 125));
  CHECK(written.unused == Approx(0));
  const PredictedTraffic read = of_box({8, 8}, 1);
  CHECK(read.bytes == Approx(132'000));
  CHECK(read.pieces == Approx(132'000.0 / 32));
  CHECK(read.unused == Approx(read.pieces * 28));
  CHECK(of_box({8, 8}, 1, {.store_bytes = 16}).unused == Approx(read.pieces * 16));
  // Elements 132 bytes apart take a sector each, but not more bytes than the tensor has.
  CHECK(of_box({1, 1000}, 1).unused == Approx(33'000 * (32.0 - 4)));
  // All 33 columns are one contiguous piece.
  CHECK(of_box({33, 1000}, 1).pieces == Approx(1));
  CHECK(of_box({33, 1000}, 1).unused == Approx(0));
}

TEST_CASE("rows that are stored one by one do not share sectors") {
  // Rows of 48 bytes, contiguous in the destination.
  const Problem rows = make_problem(permutation(f32, {64, 8, 12}, {1, 0, 2}));
  const ElementBox box{8, 64, 12};
  const PredictedTraffic together = traffic_of(box, rows, rows.nest, 0);
  CHECK(together.pieces == Approx(1));
  CHECK(together.unused == Approx(0));
  const PredictedTraffic row_by_row = traffic_of(box, rows, rows.nest, 0, {.row_by_row = true});
  CHECK(row_by_row.pieces == Approx(64 * 8));
  CHECK(row_by_row.unused == Approx(64 * 8 * 16));
}

TEST_CASE("joint tiles have at most as many pieces as separate ones, and waste at most whole sectors") {
  const std::uint64_t seed = reference::seed(20261127);
  std::cout << "TMAJIT_SEED=" << seed << '\n';
  reference::Random random(seed);
  for (int n = 0; n < 2000; ++n) {
    const std::size_t rank = reference::between(random, 1, 5);
    tests::Shape shape;
    std::vector<std::uint32_t> axes(rank);
    for (std::size_t d = 0; d < rank; ++d) {
      shape.push_back(reference::between(random, 1, 40));
      axes[d] = static_cast<std::uint32_t>(d);
    }
    std::shuffle(axes.begin(), axes.end(), random);
    const ElementType type = reference::one_of(random, std::array{ElementType::u8, ElementType::bf16, f32});
    const Problem problem = make_problem(permutation(type, shape, axes));
    if (problem.nest.empty()) continue;
    Footprint footprint;
    for (std::uint32_t d = 0; d < problem.nest.rank; ++d)
      footprint.box[d] = static_cast<std::uint32_t>(reference::between(random, 1, 40));
    std::shuffle(footprint.order.begin(), footprint.order.begin() + problem.nest.rank, random);
    for (std::uint32_t operand = 0; operand < 2; ++operand) {
      double fewest = 1e300;
      for (const double tiles : {1.0, 2.0, 3.5, 10.0, 1e12}) {
        const PredictedTraffic traffic =
            traffic_of(box_of_tiles(footprint, problem.nest, tiles), problem, problem.nest, operand);
        INFO("TMAJIT_SEED=" << seed << ", case " << n << ", operand " << operand << ", " << tiles
                            << " tiles");
        CHECK(traffic.pieces <= fewest * (1 + 1e-9));
        CHECK(traffic.pieces >= 1 - 1e-9);
        CHECK(traffic.unused >= 0);
        CHECK(traffic.unused <= traffic.bytes / static_cast<double>(problem.element_bytes(operand)) * 32);
        fewest = traffic.pieces;
      }
      CHECK(fewest == Approx(1));
    }
  }
}
