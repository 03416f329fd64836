/// Every candidate of the family `cast_transpose`, on the simulated device: whole and incomplete blocks,
/// lines at every alignment, several matrices, and views with other orders of dimensions.
#include "ops/own_memory.hpp"
#include "ops/run_case.hpp"
#include "ptx_alone.hpp"
#include "seed.hpp"

#include <tmajit/sim.hpp>

#include <string>
#include <utility>
#include <vector>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;
using reference::between, reference::one_in, reference::one_of, reference::Random, reference::TestCase;

namespace {

Runtime cast_runtime(std::uint64_t seed) {
  return Runtime({.device = make_sim_device({.mode = SimOptions::Mode::random, .seed = seed}),
                  .cache_directory = tests::shared_kernels(),
                  .compile = tests::ptx_without_lines});
}

/// A case of dense tensors, which begin `shift` elements after a multiple of 256 bytes.
TestCase dense_cast(ElementType from, std::string_view to, const std::vector<std::uint64_t>& shape,
                    const char* orders, const char* amax, std::uint64_t shift) {
  TestCase made =
      reference::dense_case("cast_transpose", {{"to", std::string(to)}, {"orders", orders}, {"amax", amax}},
                            {}, {TensorView::contiguous(from, shape)}, shift);
  made.numbers.push_back(number(0.75F));
  return made;
}

}  // namespace

TEST_CASE("every candidate casts and transposes matrices of any extents and alignment") {
  const std::uint64_t seed = tests::seed(20261128);
  Random random(seed);
  Runtime runtime = cast_runtime(seed);
  using enum ElementType;
  const std::vector<std::uint64_t> shapes[] = {{1, 1},      {8, 8},        {7, 65},   {64, 128},
                                               {129, 40},   {300, 264},    {1, 2048}, {2048, 1},
                                               {5, 24, 16}, {2, 3, 9, 33}, {33, 7},   {16, 1000}};
  for (const auto& shape : shapes) {
    const TestCase made =
        dense_cast(one_of(random, std::array{bf16, f16, f32}),
                   one_of(random, std::array<std::string_view, 5>{"e4m3", "e5m2", "i8", "f16", "bf16"}),
                   shape, one_of(random, std::array{"both", "both", "plain", "transposed"}),
                   one_in(random, 3) ? "no" : "yes", one_in(random, 2) ? 0 : between(random, 1, 8));
    INFO("TMAJIT_SEED=" << seed << ": " << made.text());
    CHECK(tests::run_candidates(runtime, made, seed) == "");
  }
}

TEST_CASE("a transposed view as the source, and destinations in any order of dimensions") {
  Runtime runtime = cast_runtime(1);
  TestCase made = dense_cast(ElementType::bf16, "e4m3", {80, 48}, "both", "yes", 0);
  for (reference::BufferView* const view : {&made.sources[0], &made.destinations[1]}) {
    std::swap(view->view.strides[0], view->view.strides[1]);
    view->view.strides[0] = 1;
    view->view.strides[1] = static_cast<std::int64_t>(view->view.shape[0]);
  }
  CHECK(tests::run_candidates(runtime, made, 1) == "");
  TestCase spread = dense_cast(ElementType::f32, "i8", {21, 19}, "both", "yes", 0);
  spread.sources[0].view = TensorView::strided(ElementType::f32, {21, 19}, {57, 3});
  spread.buffers[spread.sources[0].buffer] = 21 * 57 * 4;
  CHECK(tests::run_candidates(runtime, spread, 1) == "");
}

TEST_CASE("NaN is the greatest magnitude, and values beyond the type's range are clamped") {
  Runtime runtime = cast_runtime(2);
  for (const char* const to : {"e4m3", "e5m2", "i8", "f16"}) {
    TestCase made = dense_cast(ElementType::f32, to, {24, 40}, "both", "yes", 0);
    made.has_nan = true;
    CHECK(tests::run_candidates(runtime, made, 1) == "");
    made.contents = reference::Contents::numbers;  // of any magnitude
    CHECK(tests::run_candidates(runtime, made, 2) == "");
  }
}

TEST_CASE("one kernel stores both orders and the greatest magnitude; a move alone has a kernel, too") {
  const TensorView x = TensorView::contiguous(ElementType::bf16, {256, 512});
  const TensorView y = TensorView::contiguous(ElementType::e4m3, {256, 512});
  const TensorView turned = TensorView::contiguous(ElementType::e4m3, {512, 256});
  const TensorView one = TensorView::contiguous(ElementType::f32, {1});
  const Operation all =
      operation::cast_transpose({Tensor{y, 1 << 20}, Tensor{turned, 2 << 20}, Tensor{one, 3 << 20}}, {},
                                {Tensor{x, 4 << 20}, Tensor{one, 5 << 20}});
  REQUIRE(all.moves.size() == 3);
  const std::vector<KernelPlan> together = plan_kernels(all);
  REQUIRE(together.size() == 1);
  CHECK(together.front().family().name == "cast_transpose");
  CHECK(together.front().bytes_read() == 256 * 512 * 2 + 4);
  CHECK(together.front().bytes_written() == 2 * 256 * 512 + 4);
  const std::string_view families[] = {"cast_transpose", "cast_transpose", "reduce"};
  for (std::size_t k = 0; k < 3; ++k) {
    const std::vector<KernelPlan> alone = plan_kernels(Operation::of({all.moves[k]}));
    REQUIRE(alone.size() == 1);
    CHECK(alone.front().family().name == families[k]);
  }
}
