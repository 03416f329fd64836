/// Small fixed moves that kernels once got wrong. Random moves found them. They run on the simulated device,
/// which reports accesses outside of allocations.
#include "ops/every_candidate.hpp"
#include "ops/run_case.hpp"
#include "ptx_alone.hpp"

#include <tmajit/sim.hpp>

#include <set>
#include <string_view>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;
using reference::TestCase;
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

/// The runtime that all moves of this file share.
Runtime& simulated() {
  static Runtime instance({.device = make_sim_device({.threads = 1}),
                           .cache_directory = tests::shared_kernels(),
                           .compile = tests::ptx_without_lines});
  return instance;
}

/// A move on the simulated device, run by every candidate.
class FoundMove {
 public:
  FoundMove(const MoveOperand& destination, const std::vector<MoveOperand>& sources,
            std::string expression = {}, std::optional<Padding> padding = std::nullopt)
      : move_(simulated(), destination, sources, std::move(expression), padding) {}

  /// Checks that every candidate gives the reference's bytes. `family` must be among the candidates'
  /// families. Other families may be `flat` and `linear` and, for `transpose`, also `direct_transpose` and
  /// `general`.
  void check(std::string_view family) {
    std::set<std::string_view> families;
    for (const Candidate& candidate : move_.candidates()) {
      families.insert(candidate.family->name());
      CHECK(move_.run(candidate) == "");
    }
    CHECK(families.erase(family) == 1);
    if (family == "transpose") {
      families.erase("direct_transpose");
      families.erase("general");
    }
    families.erase("flat");
    families.erase("linear");
    CHECK(families.empty());
  }

 private:
  tests::EveryCandidate move_;
};

}  // namespace

TEST_CASE("found: the last tile of a staggered row that begins beyond the row's end writes nothing") {
  // Rows begin at every offset from 0 to 15 within 16 bytes and end 5 elements before the end of a tile. Rows
  // with a small offset have no elements in the last tile, which rows with a larger offset need.
  FoundMove move(operand(u8, {16, 8187}, {8193, 1}), {operand(u8, {16, 8187}, {8192, 1})});
  move.check("general");
}

TEST_CASE("found: a single element is stored at its address, at any offset within 16 bytes") {
  for (std::uint64_t shift = 0; shift < 16; ++shift) {
    INFO(shift << " bytes");
    FoundMove move(operand(u8, {1}, {1}, shift), {operand(u8, {1}, {1})});
    move.check("general");
  }
}

TEST_CASE("found: a single element of a view with arbitrary strides is stored at its address") {
  FoundMove move(operand(u16, {1, 1}, {7, 3}, 6), {operand(u16, {1, 1}, {5, 9}, 2)});
  move.check("general");
}

TEST_CASE("found: the padding around a source with stride 0 has only the padding's value") {
  FoundMove bytes(operand(u8, {4, 20}, {20, 1}), {operand(u8, {4, 5}, {1, 0})}, {}, Padding{{0, 3}, 9});
  bytes.check("general");

  FoundMove floats(operand(f32, {6, 12}, {12, 1}), {operand(f32, {3, 7}, {1, 0})}, {}, Padding{{2, -2}, 1.5});
  floats.check("general");
}

TEST_CASE("found: two sources may have opposite directions along the same dimension") {
  for (const std::int64_t first : {1, -1}) {
    INFO("the first source's step is " << first);
    // Odd rows of several tiles, so that images in shared memory also hold elements before a tile. Sources
    // have stride 0 in the first dimension.
    FoundMove move(operand(u16, {2, 24, 151}, {3624, 151, 1}),
                   {operand(u16, {2, 24, 151}, {0, first, 24}), operand(u16, {2, 24, 151}, {0, -first, 24})},
                   "x0 - x1");
    move.check("general");
  }
}

TEST_CASE("found: a transpose reads a source whose elements overlap") {
  // Another dimension has a stride of the same size as the column.
  for (const std::int64_t near : {1, -1}) {
    INFO("steps of " << near);
    FoundMove move(operand(f32, {20, 24, 16}, {384, 16, 1}), {operand(f32, {20, 24, 16}, {1, near, 64})});
    move.check("transpose");
  }
}

TEST_CASE("found: a transpose is right if the block's row follows its column in the source's memory") {
  // The column has two elements and stride 1, the row has five elements and stride 2, too few for vectors.
  FoundMove move(operand(f64, {4, 35, 2, 5}, {350, 10, 5, 1}), {operand(f64, {4, 35, 2, 5}, {13, 52, 1, 2})});
  move.check("transpose");
}

TEST_CASE("found: vectors are aligned along a flipped dimension") {
  // Four backward steps are a multiple of 16 bytes, one step is not.
  FoundMove move(operand(f32, {5, 29, 2, 5}, {290, 10, 5, 1}),
                 {operand(f32, {5, 29, 2, 5}, {-145, 5, 0, 1})});
  move.check("general");
}

TEST_CASE("found: an image in shared memory of a source whose elements overlap is right") {
  // The dimension of stride 1 is too short for blocks, and another dimension has stride -1.
  FoundMove move(operand(f32, {6, 2, 7, 37}, {1200, 600, 37, 1}),
                 {operand(f32, {6, 2, 7, 37}, {4, 1, -1, 59})}, "x");
  move.check("general");
}

TEST_CASE("found: f32 arithmetic stored as f64 is not compared with f64 arithmetic") {
  Runtime runtime({.device = make_sim_device(),
                   .cache_directory = tests::shared_kernels(),
                   .compile = tests::ptx_without_lines});
  const Arguments arguments{{"expression", "3 * x0(0) + x0(-1)"}, {"boundary", "clamp"}, {"dims", Dims{-1}}};
  auto stencil = reference::dense_case("stencil", arguments, {TensorView::contiguous(f64, {19, 240})},
                                       {TensorView::contiguous(f32, {19, 240})});
  stencil.contents = reference::Contents::numbers;
  CHECK(tests::run_candidates(runtime, stencil, 1) == "");
}

TEST_CASE("found: a number of 8 bytes does not shorten the vectors of unaligned rows of f32") {
  const TensorView rows = TensorView::contiguous(f32, {3, 207});
  const auto run = [](TestCase made) {
    made.contents = reference::Contents::whole;
    made.numbers = {number(std::int64_t{2})};
    INFO(made.text());
    CHECK(tests::run_candidates(simulated(), made, 1) == "");
  };
  for (const std::uint64_t shift : {0, 1, 2, 3}) {
    run(reference::dense_case(
        "reduce", {{"op", std::string("sum")}, {"axes", Dims{1}}, {"expression", std::string("x * p0")}},
        {TensorView::contiguous(f32, {3})}, {rows}, shift));
    run(reference::dense_case(
        "scan",
        {{"op", std::string("sum")}, {"axis", std::int64_t{1}}, {"expression", std::string("x * p0")}},
        {rows}, {rows}, shift));
  }
}

TEST_CASE("found: sums of selected elements saturate in bytes, as all conversions from floating point do") {
  for (const ElementType to : {ElementType::i8, u8}) {
    TestCase made = reference::dense_case(
        "gather_sum", {{"axes", Dims{0}}}, {TensorView::contiguous(to, {5, 40})},
        {TensorView::contiguous(u8, {20, 40}), TensorView::contiguous(ElementType::i32, {5, 30}),
         TensorView::contiguous(f32, {5, 30})});
    made.contents = reference::Contents::whole;
    made.indices = {{.source = 1, .extent = 20}};
    INFO(made.text());
    CHECK(tests::run_candidates(simulated(), made, 1) == "");
  }
}
