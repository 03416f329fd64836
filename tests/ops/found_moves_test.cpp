/// Moves that kernels once got wrong, found by random moves; small, without randomness, on the simulated
/// device, which reports what lies outside of its allocations.
#include "ops/every_candidate.hpp"
#include "ops/run_case.hpp"
#include "ptx_alone.hpp"

#include <tmajit/sim.hpp>

#include <set>
#include <string_view>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;
using tests::MoveOperand;

namespace {

using ElementType::f32;
using ElementType::f64;
using ElementType::u16;
using ElementType::u8;

MoveOperand operand(ElementType type, const std::vector<std::uint64_t>& shape,
                    const std::vector<std::int64_t>& strides, std::uint64_t shift = 0) {
  return tests::move_operand(type, shape, strides, shift);
}

/// The runtime that all moves of a case share.
Runtime& simulated() {
  static Runtime instance({.device = make_sim_device({.threads = 1}),
                           .cache_directory = tests::shared_kernels(),
                           .compile = tests::ptx_alone});
  return instance;
}

/// A move on the simulated device.
class FoundMove {
 public:
  FoundMove(const MoveOperand& destination, const std::vector<MoveOperand>& sources,
            std::string expression = {}, std::optional<Padding> padding = std::nullopt)
      : move_(simulated(), destination, sources, std::move(expression), std::move(padding)) {}

  /// The destination's bytes must be as in host memory: by this kernel and, where they are candidates, by
  /// `flat` and `linear` and, instead of a transpose, by `direct_transpose` and `general`.
  void check(std::string_view kernel) {
    std::set<std::string_view> methods;
    for (const Candidate& candidate : move_.candidates()) {
      methods.insert(candidate.family->name());
      CHECK(move_.run(candidate) == "");
    }
    CHECK(methods.erase(kernel) == 1);
    if (kernel == "transpose") {
      methods.erase("direct_transpose");
      methods.erase("general");
    }
    methods.erase("flat");
    methods.erase("linear");
    CHECK(methods.empty());
  }

 private:
  tests::EveryCandidate move_;
};

}  // namespace

TEST_CASE("found: a staggered row's last tile, which begins outside, writes nothing") {
  // Rows end 5 elements before the end of a tile, whichever the candidate, and begin at every place from 0 to
  // 15 of 16: those that begin early leave nothing for the tile that the others need for their ends.
  FoundMove move(operand(u8, {16, 8187}, {8193, 1}), {operand(u8, {16, 8187}, {8192, 1})});
  move.check("general");
}

TEST_CASE("found: a single element is stored at its own place, wherever that is") {
  for (std::uint64_t shift = 0; shift < 16; ++shift) {
    INFO(shift << " bytes");
    FoundMove move(operand(u8, {1}, {1}, shift), {operand(u8, {1}, {1})});
    move.check("general");
  }
}

TEST_CASE("found: a column of elements that are apart is stored in its own rows") {
  FoundMove move(operand(u16, {1, 1}, {7, 3}, 6), {operand(u16, {1, 1}, {5, 9}, 2)});
  move.check("general");
}

TEST_CASE("found: what lies around a repeated source is the padding alone") {
  FoundMove bytes(operand(u8, {4, 20}, {20, 1}), {operand(u8, {4, 5}, {1, 0})}, {}, Padding{{0, 3}, 9});
  bytes.check("general");

  FoundMove floats(operand(f32, {6, 12}, {12, 1}), {operand(f32, {3, 7}, {1, 0})}, {}, Padding{{2, -2}, 1.5});
  floats.check("general");
}

TEST_CASE("found: one source's lines run forwards, another's along the same dimension backwards") {
  for (const std::int64_t first : {1, -1}) {
    INFO("the first source's step is " << first);
    // Odd rows of several tiles: images hold what comes before a tile, too. Sources repeat in the first
    // dimension.
    FoundMove move(operand(u16, {2, 24, 151}, {3624, 151, 1}),
                   {operand(u16, {2, 24, 151}, {0, first, 24}), operand(u16, {2, 24, 151}, {0, -first, 24})},
                   "x0 - x1");
    move.check("general");
  }
}

TEST_CASE("found: a transpose's source whose elements lie on each other") {
  // Another dimension is as near as the column.
  for (const std::int64_t near : {1, -1}) {
    INFO("steps of " << near);
    FoundMove move(operand(f32, {20, 24, 16}, {384, 16, 1}), {operand(f32, {20, 24, 16}, {1, near, 64})});
    move.check("transpose");
  }
}

TEST_CASE("found: a block's row that lies behind its column in the source's memory") {
  // The source goes on from the column's two elements with the row's five, which no vectors fill.
  FoundMove move(operand(f64, {4, 35, 2, 5}, {350, 10, 5, 1}), {operand(f64, {4, 35, 2, 5}, {13, 52, 1, 2})});
  move.check("transpose");
}

TEST_CASE("found: lines begin where a dimension of single indices runs backwards") {
  // Four steps back are a multiple of 16 bytes, one is not.
  FoundMove move(operand(f32, {5, 29, 2, 5}, {290, 10, 5, 1}),
                 {operand(f32, {5, 29, 2, 5}, {-145, 5, 0, 1})});
  move.check("general");
}

TEST_CASE("found: an image of a source whose elements lie on each other") {
  // The dimension that lines run along is too short for blocks, and another is as near, backwards.
  FoundMove move(operand(f32, {6, 2, 7, 37}, {1200, 600, 37, 1}),
                 {operand(f32, {6, 2, 7, 37}, {4, 1, -1, 59})}, "x");
  move.check("general");
}

TEST_CASE("found: what f32 computes is not held against f64 because its type could hold that") {
  Runtime runtime(
      {.device = make_sim_device(), .cache_directory = tests::shared_kernels(), .compile = tests::ptx_alone});
  const Arguments arguments{{"expression", "3 * x0(0) + x0(-1)"}, {"boundary", "clamp"}, {"dims", Dims{-1}}};
  auto stencil = reference::dense_case("stencil", arguments, {TensorView::contiguous(f64, {19, 240})},
                                       {TensorView::contiguous(f32, {19, 240})});
  stencil.contents = reference::Contents::numbers;
  CHECK(tests::run_candidates(runtime, stencil, 1) == "");
}
