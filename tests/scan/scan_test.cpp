/// Compares scans on the simulated device with the reference, also for rows of many tiles, and tests the
/// errors of illegal scans.
#include "ops/run_case.hpp"
#include "ptx_alone.hpp"
#include "seed.hpp"

#include <tmajit/error.hpp>
#include <tmajit/plan.hpp>
#include <tmajit/sim.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace tmajit;
using Catch::Matchers::ContainsSubstring;

namespace {

constexpr ElementType f32 = ElementType::f32;

Tensor dense(ElementType type, const std::vector<std::uint64_t>& shape, DevicePtr address = 0x10000000) {
  return {TensorView::contiguous(type, shape), address};
}

/// The planner's first kernel for a scan of `shape` between tensors at multiples of 256 bytes.
KernelPlan planned(const Scan& what, ElementType type, const std::vector<std::uint64_t>& shape) {
  return plan_kernels(operation::scan(dense(type, shape, 0x7000'0000'0000), what, {dense(type, shape)}))
      .front();
}

/// A scan of tensors without gaps, which begin `shift` elements after their buffers' start.
reference::TestCase dense_scan(const Scan& what, ElementType from, ElementType to,
                               const std::vector<std::uint64_t>& shape, std::uint64_t shift = 0) {
  auto made = reference::dense_case("scan",
                                    {{"op", std::string(name(what.op))},
                                     {"axis", what.axis},
                                     {"bound", what.exclusive ? "exclusive" : "inclusive"},
                                     {"direction", what.reverse ? "backwards" : "forwards"}},
                                    {TensorView::contiguous(to, shape)},
                                    {TensorView::contiguous(from, shape)}, shift);
  if (what.op == ScanOp::product) made.contents = reference::Contents::units;
  return made;
}

std::string refusal(const Tensor& destination, const Scan& what, std::vector<Tensor> sources) {
  try {
    (void)plan_kernels(operation::scan(destination, what, sources));
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

}  // namespace

TEST_CASE("a scan by tiles that look back equals a sequential one, and leaves zeros in scratch memory") {
  Runtime runtime({.device = make_sim_device(),
                   .cache_directory = tests::shared_kernels(),
                   .compile = tests::ptx_without_lines});
  const auto check = [&](const Scan& what, ElementType type, const std::vector<std::uint64_t>& shape) {
    const auto scan = dense_scan(what, type, type, shape);
    INFO(scan.text());
    CHECK(planned(what, type, shape).launch_shape().scratch_bytes > 0);
    CHECK(tests::run_candidates(runtime, scan, 7) == "");
  };
  check({.op = ScanOp::sum, .axis = 0}, f32, {300'001});
  check({.op = ScanOp::sum, .axis = 0, .exclusive = true, .reverse = true}, ElementType::i64, {100'003});
  check({.op = ScanOp::max, .axis = 1}, ElementType::f16, {3, 60'001});
  check({.op = ScanOp::sum, .axis = 0}, f32, {9000, 5});
  check({.op = ScanOp::min, .axis = 0, .exclusive = true}, ElementType::u8, {4000, 33});
  check({.op = ScanOp::product, .axis = 1, .reverse = true}, f32, {2, 3001, 8});
}

TEST_CASE("tiles reuse the slots of a ring when earlier tiles are complete") {
  // For 128 columns with states of 8 bytes the ring has 256 slots.
  const std::vector<std::uint64_t> shape{40'000, 128};
  const Scan what{.op = ScanOp::min, .axis = 0};
  std::uint32_t tiles = 0;
  for (const KernelPlan& plan :
       plan_candidates(operation::scan(dense(ElementType::u8, shape, 0x7000'0000'0000), what,
                                       {dense(ElementType::u8, shape)})
                           .moves.at(0)))
    tiles = std::max(tiles, plan.launch_shape().grid[0]);
  REQUIRE(tiles > 256);
  Runtime runtime({.device = make_sim_device(),
                   .cache_directory = tests::shared_kernels(),
                   .compile = tests::ptx_without_lines});
  const auto scan = dense_scan(what, ElementType::u8, ElementType::u8, shape);
  INFO(scan.text());
  CHECK(tests::run_candidates(runtime, scan, 11) == "");
}

TEST_CASE("scans of rows of many lengths, divided into vectors, tiles and parts, equal the reference") {
  Runtime runtime({.device = make_sim_device(),
                   .cache_directory = tests::shared_kernels(),
                   .compile = tests::ptx_without_lines});
  for (const std::uint64_t length :
       {1U, 2U, 3U, 5U, 31U, 64U, 127U, 255U, 1000U, 1023U, 1025U, 2048U, 8191U}) {
    const auto scan =
        dense_scan({.op = ScanOp::sum, .axis = 1}, f32, f32, {20'000 / length + 1, length}, length % 3);
    INFO(scan.text());
    CHECK(tests::run_candidates(runtime, scan, length) == "");
  }
}

TEST_CASE("scans of columns with narrow rows equal the reference, whether lanes or CTAs share them") {
  Runtime runtime({.device = make_sim_device(),
                   .cache_directory = tests::shared_kernels(),
                   .compile = tests::ptx_without_lines});
  const std::uint64_t seed = tests::seed(20265221);
  std::mt19937_64 random(seed);
  const auto below = [&](std::uint64_t end) { return random() % end; };
  constexpr std::array types{f32, ElementType::u8, ElementType::bf16, ElementType::f64, ElementType::i32};
  std::uint32_t by_lanes = 0;
  for (std::uint32_t n = 0; n < 12; ++n) {
    const ElementType type = types.at(n % types.size());
    const Scan what{
        .op = static_cast<ScanOp>(below(4)), .axis = 1, .exclusive = below(2) == 1, .reverse = below(2) == 1};
    const std::uint64_t length = 1 + below(n % 3 == 0 ? 1000 : 100);
    const std::vector<std::uint64_t> shape{1 + below(30'000 / length + 1), length, 2 + below(6)};
    const auto scan = dense_scan(what, type, type, shape, below(3));
    INFO("seed " << seed << ": " << scan.text());
    if (planned(what, type, shape).why().find("neighbouring lanes") != std::string::npos) ++by_lanes;
    CHECK(tests::run_candidates(runtime, scan, n) == "");
  }
  CHECK(by_lanes > 0);
}

TEST_CASE("a thread that scans a long column alone rounds like one that adds groups of rows") {
  constexpr std::size_t rows = 8192;
  constexpr std::size_t columns = 64;
  constexpr float value = 0.1F;  // equal addends round in the same direction many times
  Runtime runtime({.device = make_sim_device({.sm_count = 1}),
                   .cache_directory = tests::shared_kernels(),
                   .compile = tests::ptx_without_lines});
  const Buffer memory(runtime.device(), rows * columns * sizeof(float));
  const Tensor tensor = dense(f32, {rows, columns}, memory.address());
  std::vector<float> sums(rows * columns, value);
  runtime.device()->memory().copy_in(tensor.address, std::as_bytes(std::span(sums)), nullptr);
  scan(runtime, tensor, {.op = ScanOp::sum, .axis = 0}, {tensor});
  runtime.device()->memory().copy_out(std::as_writable_bytes(std::span(sums)), tensor.address, nullptr);
  runtime.device()->streams().synchronize(nullptr);
  for (std::size_t row = 0; row < rows; ++row) {
    const double exact = static_cast<double>(row + 1) * static_cast<double>(value);
    INFO("row " << row);
    REQUIRE(std::fabs(sums[row * columns] - exact) <= exact * 0x1p-21);
  }
}

TEST_CASE("found: vectors of one-byte sources are no longer than a destination of 2 bytes allows") {
  Runtime runtime({.device = make_sim_device(),
                   .cache_directory = tests::shared_kernels(),
                   .compile = tests::ptx_without_lines});
  const Scan what{.op = ScanOp::min, .axis = 0, .reverse = true};
  CHECK(tests::run_candidates(runtime, dense_scan(what, ElementType::e4m3, ElementType::bf16, {2864}), 3) ==
        "");
}

TEST_CASE("a call can scan in place, and a second call reuses its plan") {
  Runtime runtime({.device = make_sim_device(),
                   .cache_directory = tests::shared_kernels(),
                   .compile = tests::ptx_without_lines});
  const Buffer memory(runtime.device(), 4096);
  const Tensor tensor = dense(f32, {2, 3}, memory.address());
  std::vector<float> values{1, 2, 3, 4, 5, 6};
  runtime.device()->memory().copy_in(memory.address(), std::as_bytes(std::span(values)), nullptr);
  for (int run = 0; run < 2; ++run) scan(runtime, tensor, {.op = ScanOp::sum, .axis = 1}, {tensor});
  runtime.device()->streams().synchronize(nullptr);
  runtime.device()->memory().copy_out(std::as_writable_bytes(std::span(values)), tensor.address, nullptr);
  runtime.device()->streams().synchronize(nullptr);
  CHECK(values == std::vector<float>{1, 4, 10, 4, 13, 28});
}

TEST_CASE("exclusive scans begin with the identity of the operation in the expression's type") {
  Runtime runtime({.device = make_sim_device(),
                   .cache_directory = tests::shared_kernels(),
                   .compile = tests::ptx_without_lines});
  const Buffer memory(runtime.device(), 4096);
  const auto first = [&](ScanOp op, ElementType from) {
    scan(runtime, dense(ElementType::f64, {4}, memory.address()), {.op = op, .axis = 0, .exclusive = true},
         {dense(from, {4}, memory.address() + 1024)});
    runtime.device()->streams().synchronize(nullptr);
    double value = 0;
    runtime.device()->memory().copy_out(std::as_writable_bytes(std::span(&value, 1)), memory.address(),
                                        nullptr);
    runtime.device()->streams().synchronize(nullptr);
    return value;
  };
  runtime.device()->memory().fill(memory.address(), std::byte{0}, 4096, nullptr);
  CHECK(first(ScanOp::sum, f32) == 0);
  CHECK(first(ScanOp::product, ElementType::i32) == 1);
  CHECK(first(ScanOp::min, f32) == std::numeric_limits<double>::infinity());
  CHECK(first(ScanOp::max, ElementType::bf16) == -std::numeric_limits<double>::infinity());
  CHECK(first(ScanOp::min, ElementType::i8) == 127);
  CHECK(first(ScanOp::max, ElementType::u16) == 0);
}

TEST_CASE("a scan of an empty tensor needs no kernel, and one along an axis of extent 1 is a copy") {
  CHECK(plan_kernels(operation::scan(dense(f32, {4, 0}), {.axis = 1}, {dense(f32, {4, 0}, 0x20000000)}))
            .empty());
  CHECK(plan_kernels(operation::scan(dense(f32, {0, 4}), {.axis = 1}, {dense(f32, {0, 4}, 0x20000000)}))
            .empty());
  Runtime runtime({.device = make_sim_device(),
                   .cache_directory = tests::shared_kernels(),
                   .compile = tests::ptx_without_lines});
  CHECK(tests::run_candidates(runtime, dense_scan({.axis = 1}, f32, f32, {40, 1}), 3) == "");
}

TEST_CASE("the error of an illegal scan names the rule and a legal value") {
  const Tensor from = dense(f32, {4, 5}, 0x20000000);
  const Tensor to = dense(f32, {4, 5});
  CHECK_THAT(refusal(to, {.axis = 2}, {from}), ContainsSubstring("axis 2"));
  CHECK_THAT(refusal(to, {.axis = -3}, {from}), ContainsSubstring("axis -3"));
  CHECK_THAT(refusal(dense(f32, {}), {.axis = 0}, {dense(f32, {}, 0x20000000)}),
             ContainsSubstring("no axis"));
  CHECK_THAT(refusal(to, {.axis = 1, .expression = "x + g[0]"}, {from}), ContainsSubstring("no coordinates"));
  CHECK_THAT(refusal(to, {.axis = 1}, {from, from}), ContainsSubstring("such as \"x0 * x1\""));
  CHECK_THAT(refusal(to, {.axis = 1}, {}), ContainsSubstring("without a source"));
  CHECK_THAT(refusal(to, {.axis = 1}, {dense(f32, {3, 5}, 0x20000000)}), ContainsSubstring("source"));
  CHECK(parse<ScanOp>("product") == ScanOp::product);
  CHECK_THROWS_WITH(parse<ScanOp>("prod"), ContainsSubstring("product"));
}
