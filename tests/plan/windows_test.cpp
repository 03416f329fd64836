/// Plans of im2col and convolutions, the operations on windows: errors and kernels.
#include "operations/cases.hpp"
#include "plan/moves.hpp"
#include "plan/violations.hpp"
#include "seed.hpp"

#include <tmajit/codegen.hpp>
#include <tmajit/plan.hpp>

#include <array>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace tmajit;
using Catch::Matchers::ContainsSubstring;
using tests::broken_rules, tests::source_address, tests::Rules, tests::destination_address;

namespace {

using Shape = std::vector<std::uint64_t>;

Tensor windows_at(const Shape& shape) {
  return {TensorView::contiguous(ElementType::f16, shape), destination_address};
}
Tensor images_at(const Shape& shape, DevicePtr shift = 0) {
  return {TensorView::contiguous(ElementType::f16, shape), source_address + shift};
}

const Windows around{.filter = {3, 3}, .before = {1, 1}, .after = {1, 1}};

KernelPlan planned_windows(const Tensor& destination, const Tensor& source, const Windows& windows) {
  return plan_kernels(operation::im2col(destination, source, windows)).at(0);
}
bool by_engine(const KernelPlan& plan) {
  return plan.choice().number("stages") > 0;
}

/// The message of the exception that creating the operation throws. Empty if it does not throw.
std::string refused_windows(const Shape& destination, const Shape& images, const Windows& windows) {
  try {
    static_cast<void>(operation::im2col(windows_at(destination), images_at(images), windows));
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::invalid_argument);
    return error.what();
  }
  return {};
}

}  // namespace

TEST_CASE("windows: their number follows from filter, strides, dilations and padding") {
  CHECK(window_counts({.filter = {3}}, {10}) == Shape{8});
  CHECK(window_counts(
            {.filter = {3, 3}, .strides = {2, 1}, .dilations = {1, 4}, .before = {1, 0}, .after = {1, 2}},
            {10, 10}) == Shape{5, 4});
  CHECK(window_counts({.filter = {1, 1, 1}}, {4, 5, 6}) == Shape{4, 5, 6});
  CHECK_THROWS_AS(window_counts({.filter = {4}}, {3}), Error);
  CHECK_THROWS_AS(window_counts({.filter = {3}}, {-3}), Error);
  CHECK_THROWS_AS(window_counts({}, {}), Error);
}

TEST_CASE("windows: mismatching shapes and illegal filters, strides, dilations and paddings are refused") {
  const Shape images{2, 8, 10, 16};
  const Shape rows{2ULL * 8 * 10, 9ULL * 16};
  CHECK(refused_windows(rows, images, around).empty());
  CHECK(refused_windows({2, 8, 10, 9ULL * 16}, images, around).empty());
  CHECK(refused_windows({2, 8, 10, 3, 3, 16}, images, around).empty());
  CHECK_THAT(refused_windows({2, 8, 10, 16}, images, around),
             ContainsSubstring("but the result has shape 2x8x10x3x3x16"));
  CHECK_THAT(refused_windows(rows, {2, 160}, around), ContainsSubstring("has 2 dimensions"));
  CHECK_THAT(refused_windows(rows, images, {.filter = {3}}),
             ContainsSubstring("1 number for 2 dimensions of an image"));
  CHECK_THAT(refused_windows(rows, images, {.filter = {3, 3}, .strides = {1}}),
             ContainsSubstring("windows, strides"));
  CHECK_THAT(refused_windows(rows, images, {.filter = {3, 3}, .dilations = {1, 0}}),
             ContainsSubstring("dilations[1]: found 0"));
  CHECK_THAT(refused_windows(rows, images, {.filter = {3, 3}, .before = {-1, 0}}),
             ContainsSubstring("before[0]: found -1"));
  CHECK_THAT(refused_windows(rows, images, {.filter = {9, 3}}),
             ContainsSubstring("8 pixels, 8 with the padding"));

  // A move that the caller has filled in itself.
  const auto rules = [&](Move move) {
    return broken_rules([&] { return plan_kernels(Operation::of({std::move(move)})); });
  };
  const Move legal = operation::im2col(windows_at(rows), images_at(images), around).moves.front();
  CHECK(rules(legal).empty());
  Move wrong = legal;
  wrong.destination = windows_at(rows);
  CHECK(rules(wrong) == Rules{"view.shape of shape of the destination"});
  wrong = legal;
  wrong.sources.push_back(legal.sources.front());  // im2col has no filter
  CHECK(rules(wrong) == Rules{"windows.sources of sources of the windows (to the destination)"});
  wrong = legal;
  std::get<Im2col>(wrong.body).windows.filter = {3};
  CHECK(rules(wrong) == Rules{"windows.rank of windows: filter (to the destination)"});
  wrong = legal;
  wrong.sources.front() = images_at({2ULL * 8 * 10, 16});
  CHECK(rules(wrong) == Rules{"windows.rank of images (to the destination)"});
  wrong = legal;
  wrong.sources.front().address = legal.destination.address;
  CHECK(rules(wrong).size() == 1);
}

TEST_CASE("windows: the copy engine loads windows that a tensor map describes, threads load others") {
  const Shape rows{2ULL * 8 * 10, 9ULL * 16};
  const Shape images{2, 8, 10, 16};
  CHECK(by_engine(planned_windows(windows_at(rows), images_at(images), around)));
  CHECK(by_engine(planned_windows(windows_at({2, 8, 10, 3, 3, 16}), images_at(images), around)));
  CHECK_FALSE(by_engine(planned_windows(windows_at(rows), images_at(images, 2), around)));
  CHECK_FALSE(
      by_engine(planned_windows(windows_at({2ULL * 8 * 10, 9ULL * 12}), images_at({2, 8, 10, 12}), around)));
  // Strides above 8, and taps and paddings that exceed the bits of the instruction's offsets.
  const Shape line{1, 1000, 8};
  CHECK(by_engine(planned_windows(windows_at({125, 8}), images_at(line), {.filter = {1}, .strides = {8}})));
  CHECK_FALSE(
      by_engine(planned_windows(windows_at({112, 8}), images_at(line), {.filter = {1}, .strides = {9}})));
  const Shape solid{1, 40, 40, 40, 8};
  CHECK(by_engine(planned_windows(windows_at({16ULL * 38 * 38, 32}), images_at({1, 31, 38, 38, 8}),
                                  {.filter = {4, 1, 1}, .dilations = {5, 1, 1}})));
  CHECK_FALSE(by_engine(planned_windows(windows_at({8ULL * 40 * 40, 16}), images_at(solid),
                                        {.filter = {2, 1, 1}, .dilations = {32, 1, 1}})));
  CHECK_FALSE(by_engine(planned_windows(windows_at({57ULL * 40 * 40, 8}), images_at(solid),
                                        {.filter = {1, 1, 1}, .before = {17, 0, 0}})));
}

TEST_CASE("windows: the family im2col plans all im2col operations and nothing else") {
  const Operation operation = operation::im2col(windows_at({160, 144}), images_at({2, 8, 10, 16}), around);
  CHECK(plan_kernels(operation).at(0).family().name == "im2col");
  CHECK_THROWS_AS(plan_kernels(operation, {.family = "general"}), Error);
  CHECK_THROWS_AS(plan_kernels(operation::copy(windows_at({8, 8}), images_at({8, 8})), {.family = "im2col"}),
                  Error);
  // One kernel serves windows of any size.
  CHECK(plan_kernels(operation).at(0).key() == planned_windows(windows_at({3ULL * 20 * 20, 4ULL * 64}),
                                                               images_at({3, 21, 21, 64}), {.filter = {2, 2}})
                                                   .key());
  CHECK(plan_kernels(operation).at(0).bytes_read() == 2ULL * 8 * 10 * 16 * 2);
  CHECK(plan_kernels(operation::im2col(windows_at({0, 144}), images_at({0, 8, 10, 16}), around)).empty());
}

namespace {

Tensor f32_at(const Shape& shape, DevicePtr address) {
  return {TensorView::contiguous(ElementType::f32, shape), address};
}
Operation convolved(const Shape& destination, const Shape& images, const Shape& filter,
                    const Windows& windows = {}) {
  return operation::convolution(f32_at(destination, destination_address), f32_at(images, source_address),
                                f32_at(filter, source_address + (1 << 30)), windows);
}

}  // namespace

TEST_CASE("convolutions: mismatching shapes and filters are refused") {
  const auto message = [](const Shape& destination, const Shape& images, const Shape& filter,
                          const Windows& windows = {}) -> std::string {
    try {
      static_cast<void>(convolved(destination, images, filter, windows));
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  };
  const Shape images{2, 8, 10, 16};
  const Shape filter{32, 3, 3, 16};
  CHECK(message({2ULL * 6 * 8, 32}, images, filter).empty());
  CHECK(message({2, 6, 8, 32}, images, filter, {.filter = {3, 3}}).empty());
  CHECK_THAT(message({2, 6, 8, 32}, images, filter, {.filter = {3, 4}}),
             ContainsSubstring("and the taps 3x4"));
  CHECK_THAT(message({2, 6, 8, 32}, images, {32, 3, 3, 8}),
             ContainsSubstring("the 16 channels of the images"));
  CHECK_THAT(message({2, 6, 8, 32}, images, {32, 3, 16}), ContainsSubstring("the filter 3"));
  CHECK_THAT(message({2, 8, 10, 32}, images, filter), ContainsSubstring("but the result has shape 2x6x8x32"));
  CHECK_THAT(message({2, 6, 8, 32}, images, {32, 9, 3, 16}), ContainsSubstring("8 pixels"));

  Move wrong = convolved({2, 6, 8, 32}, images, filter).moves.front();
  wrong.sources[1] = f32_at({32, 3, 5, 16}, source_address);
  CHECK(broken_rules([&] { return plan_kernels(Operation::of({wrong})); }) ==
        Rules{"view.shape of shape of the filter (to the destination)"});
}

TEST_CASE("convolutions: the planner chooses the tile and whether the copy engine or threads load") {
  const auto tile = [](const Operation& operation) { return plan_kernels(operation).at(0).choice(); };
  const KernelChoice large = tile(convolved({64, 56, 56, 256}, {64, 56, 56, 64}, {256, 3, 3, 64}, around));
  CHECK(large.family == "convolution");
  CHECK(large.number("windows") == 128);
  CHECK(large.number("outputs") == 128);
  CHECK(large.number("stages") > 0);
  CHECK(tile(convolved({64, 56, 56, 64}, {64, 56, 56, 64}, {64, 3, 3, 64}, around)).number("outputs") == 64);
  CHECK(tile(convolved({1, 8, 8, 20}, {1, 8, 8, 4}, {20, 1, 1, 4})).number("outputs") == 32);
  CHECK(tile(convolved({1, 6, 6, 20}, {1, 8, 8, 3}, {20, 3, 3, 3})).number("stages") == 0);
  CHECK_THROWS_AS(plan_kernels(convolved({1, 6, 6, 20}, {1, 8, 8, 3}, {20, 3, 3, 3}), {.family = "im2col"}),
                  Error);
}

TEST_CASE("most but not all random windows are loaded by the copy engine") {
  const std::uint64_t seed = tests::seed(20261123);
  INFO("TMAJIT_SEED=" << seed);
  constexpr std::array<DevicePtr, 3> buffers{0x7000'0000'0000, 0x7100'0000'0000, 0x7200'0000'0000};
  for (const std::string_view operation : {"im2col", "convolution"}) {
    INFO(operation);
    int by_engine = 0;
    for (std::uint64_t n = 0; n < 200; ++n) {
      const auto test_case = reference::random_test_case(operation, seed + n, 0, {.max_elements = 20'000});
      const auto plans = plan_kernels(
          reference::operation_of(test_case, std::span(buffers).first(test_case.buffers.size())));
      by_engine += plans.front().choice().number("stages") > 0 ? 1 : 0;
    }
    CHECK(by_engine > 50);
    CHECK(by_engine < 180);
  }
}
