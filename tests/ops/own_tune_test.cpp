// tune() of the caller's own kernel, on a device whose clock the test sets.
#include "ops/scripted_device.hpp"

#include <tmajit/error.hpp>
#include <tmajit/own_tuning.hpp>

#include <cmath>
#include <memory>
#include <string>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace tmajit;
using Catch::Matchers::ContainsSubstring, Catch::Matchers::MessageMatches;
using tests::ScriptedDevice;

namespace {

/// A scripted device that claims to be a GPU.
class OwnGpu final : public ScriptedDevice {
 public:
  explicit OwnGpu(Time time) : ScriptedDevice(std::move(time)) { info_.ordinal = 0; }
};

int value_of(const KernelConstant& constant) {
  return std::get<std::int32_t>(constant.value);
}

/// A kernel whose constants determine its grid and block.
OwnVariant variant(const std::vector<KernelConstant>& constants) {
  const auto rows = static_cast<std::uint32_t>(value_of(constants.at(0)));
  const auto threads = static_cast<std::uint32_t>(value_of(constants.at(1)));
  return {.kernel = {.text = "static_assert(rows != 3); __global__ void k(int* x) { x[rows] = threads; }",
                     .constants = constants},
          .launch = {.tensors = {Tensor::contiguous(ElementType::i32, {64}, 0x7f00'0000'0000)},
                     .arguments = {AddressArgument{0}},
                     .shape = {.grid = {rows, 1, 1}, .block = {threads, 1, 1}}}};
}

}  // namespace

TEST_CASE("tune() times every combination of constants and lists the fastest first") {
  // 4 rows and 64 threads are the fastest.
  const auto takes = [](int, const LaunchShape& shape) -> std::int64_t {
    return 100'000 + (shape.grid[0] == 4 ? 0 : 20'000) + (shape.block[0] == 64 ? 0 : 10'000);
  };
  const auto device = std::make_shared<OwnGpu>(takes);
  const Runtime runtime({.device = device, .cache_directory = std::nullopt});
  int measured = 0;
  std::string last;
  const auto progress = [&](std::uint32_t, std::uint32_t count, std::string_view text) {
    CHECK(count == 4);
    ++measured;
    last = text;
  };
  const OwnTuneReport report = tune(runtime, {{"rows", {2, 3, 4}}, {"threads", {32, 64}}}, variant,
                                    {.repeats = 3, .progress = progress});
  REQUIRE(report.candidates.size() == 4);
  const auto& best = report.candidates.front();
  CHECK(best.constants == std::vector<KernelConstant>{{"rows", 4}, {"threads", 64}});
  CHECK(std::abs(best.microseconds - 100) < 0.01);
  CHECK(std::abs(report.candidates.back().microseconds - 130) < 0.01);
  CHECK(measured > 4);
  CHECK(last.starts_with("rows = "));
  // The variants with 3 rows do not compile.
  REQUIRE(report.left_out.size() == 2);
  CHECK(value_of(report.left_out[0].constants[0]) == 3);
  CHECK(report.left_out[0].why.find("static assertion failed") != std::string::npos);
}

TEST_CASE("tune() leaves out combinations whose launch the driver refuses") {
  const auto takes = [](int, const LaunchShape& shape) -> std::int64_t {
    if (shape.block[0] > 1024) throw Error(ErrorCode::device_failed, "refused");
    return 1000;
  };
  const Runtime runtime({.device = std::make_shared<OwnGpu>(takes), .cache_directory = std::nullopt});
  const OwnTuneReport report =
      tune(runtime, {{"rows", {2, 3}}, {"threads", {2048, 32}}}, variant, {.repeats = 3});
  REQUIRE(report.candidates.size() == 1);
  CHECK(value_of(report.candidates[0].constants[1]) == 32);
  REQUIRE(report.left_out.size() == 3);
  CHECK(report.left_out[0].why == "refused");
  CHECK(value_of(report.left_out[1].constants[0]) == 3);
  CHECK_THROWS_MATCHES(tune(runtime, {{"rows", {2}}, {"threads", {2048}}}, variant), Error,
                       MessageMatches(ContainsSubstring("refused")));
}

TEST_CASE("tune() of a kernel that cannot be tuned is an error with the reason") {
  const Runtime none({.cache_directory = std::nullopt});
  CHECK_THROWS_MATCHES(tune(none, {{"rows", {2}}, {"threads", {32}}}, variant), Error,
                       MessageMatches(ContainsSubstring("tuning measures on a GPU")));
  const Runtime runtime({.device = std::make_shared<OwnGpu>([](int, const LaunchShape&) { return 1000; }),
                         .cache_directory = std::nullopt});
  CHECK_THROWS_MATCHES(tune(runtime, {{"rows", {}}, {"threads", {32}}}, variant), Error,
                       MessageMatches(ContainsSubstring("rows has no values to try")));
  CHECK_THROWS_MATCHES(tune(runtime, {{"rows", {3}}, {"threads", {32}}}, variant), CompileError,
                       MessageMatches(ContainsSubstring("static assertion failed")));
  const std::vector<KernelConstant::Value> many(100, 1);
  CHECK_THROWS_MATCHES(combinations({{"a", many}, {"b", many}}), Error,
                       MessageMatches(ContainsSubstring("more than 4096 combinations")));
  CHECK(combinations({}).size() == 1);
}

TEST_CASE("combination_number() is the index in combinations()") {
  const std::vector<ConstantChoices> choices{{"a", {1, 2, 3}}, {"b", {true, false}}, {"c", {0.5F}}};
  const auto all = combinations(choices);
  for (std::size_t i = 0; i < all.size(); ++i) CHECK(combination_number(choices, all[i]) == i);
  CHECK(combination_number({}, {}) == 0);
  for (const std::vector<KernelConstant>& other : {std::vector<KernelConstant>{},
                                                   {{"a", 1}, {"b", true}},
                                                   {{"a", 4}, {"b", true}, {"c", 0.5F}},
                                                   {{"a", 1}, {"d", true}, {"c", 0.5F}}}) {
    CHECK_THROWS_MATCHES(combination_number(choices, other), Error,
                         MessageMatches(ContainsSubstring("is no combination of the choices")));
  }
}
