/// One call of gather, scatter, scatter_add and gather_sum: each argument is in the key of the call's plan.
#include "ops/call_fixture.hpp"

#include <tmajit/error.hpp>
#include <tmajit/operations.hpp>
#include <tmajit/runtime.hpp>

#include <memory>
#include <optional>
#include <vector>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;

namespace indexed_call_test {
using tests::called_destination, tests::called_source, tests::tensor_of;

TEST_CASE("indexed calls that differ in one argument get plans of their own") {
  const auto device = std::make_shared<FakeDevice>();
  device->on_launch = nullptr;
  const Runtime runtime({.device = device, .cache_directory = std::nullopt});
  const Tensor square = tensor_of({32, 32}, called_source);
  const Tensor out = tensor_of({32, 32}, called_destination);
  const Tensor row = tensor_of({32}, called_source + (1 << 28), ElementType::i64);
  const Tensor whole = tensor_of({32, 32}, called_source + (1 << 28), ElementType::i64);
  const auto loads_of = [&](const auto& call) {
    const int before = device->loads;
    call();
    return device->loads - before;
  };
  CHECK(loads_of([&] { gather(runtime, out, square, {row}); }) == 1);
  CHECK(loads_of([&] { gather(runtime, out, square, {row}, {.axes = {1}}); }) == 1);
  CHECK(loads_of([&] { gather(runtime, out, square, {row}, {.out_of_range = OutOfRange::clamp}); }) == 1);
  CHECK(loads_of([&] { gather(runtime, out, square, {row}, {.value = 2}); }) == 1);
  CHECK(loads_of([&] { gather(runtime, out, square, {whole}, {.axes = {1}, .along = true}); }) == 0);
  CHECK_THROWS_AS(gather(runtime, out, square, {whole}, {.axes = {1}}), Error);
  CHECK_THROWS_AS(gather(runtime, out, square, {row}, {.along = true}), Error);
  CHECK(loads_of([&] { scatter(runtime, out, square, {row}); }) == 1);
  CHECK(loads_of([&] { scatter(runtime, out, square, {row}, {.axes = {1}}); }) == 1);
  CHECK(loads_of([&] { scatter_add(runtime, out, square, {row}); }) == 1);
  CHECK(loads_of([&] { scatter_add(runtime, out, square, {row}, {.out_of_range = OutOfRange::clamp}); }) ==
        1);
  CHECK(loads_of([&] { scatter_add(runtime, out, square, {row}, {.deterministic = true}); }) == 1);
  CHECK_THROWS_AS(scatter(runtime, out, square, {row}, {.along = true}), Error);
  CHECK_THROWS_AS(scatter_add(runtime, out, square, {whole}, {.axes = {1}}), Error);
  CHECK(loads_of([&] { scatter(runtime, out, square, {row}, {.out_of_range = OutOfRange::error}); }) == 1);
  const Tensor line = tensor_of({32}, called_source);
  const Tensor tall = tensor_of({32, 32}, called_destination);
  CHECK(loads_of([&] { scatter(runtime, tall, line, {row}, {.axes = {0, 1}, .flat = true}); }) == 0);
  CHECK_THROWS_AS(scatter(runtime, tall, line, {row}, {.axes = {0, 1}}), Error);
  const Tensor weights = tensor_of({32, 32}, called_source + (1 << 29));
  CHECK(loads_of([&] { gather_sum(runtime, out, square, whole); }) == 1);
  CHECK(loads_of([&] { gather_sum(runtime, out, square, whole, weights); }) == 1);
  CHECK(loads_of([&] { gather_sum(runtime, out, square, whole, {}, {.axes = {1}}); }) == 1);
  CHECK(loads_of([&] { gather_sum(runtime, out, square, whole, {}, {.out_of_range = OutOfRange::clamp}); }) ==
        1);
  const Tensor offsets = tensor_of({33}, called_source + (3 << 28), ElementType::i32);
  CHECK(loads_of([&] { gather_sum(runtime, out, square, row, {}, {}, nullptr, offsets); }) == 1);
  CHECK_THROWS_AS(gather_sum(runtime, out, square, row, offsets), Error);
  CHECK_THROWS_AS(gather_sum(runtime, out, square, row, {}, {.ragged = true}), Error);
  const Tensor sums = tensor_of({32}, called_destination);
  CHECK(loads_of([&] { gather_sum(runtime, sums, square, whole, {}, {.axes = {0, 1}, .flat = true}); }) == 0);
  CHECK_THROWS_AS(gather_sum(runtime, sums, square, whole, {}, {.axes = {0, 1}}), Error);
  const auto numbers = [&](std::uint64_t count, DevicePtr number) {
    return tensor_of({count}, called_destination + (number << 28), ElementType::i32);
  };
  const std::vector<Tensor> sorted{out, numbers(32, 1), numbers(3, 2), numbers(4, 3)};
  CHECK(loads_of([&] { moe_permute(runtime, sorted, square, row); }) == 1);
  CHECK_THROWS_AS(moe_permute(runtime, sorted, square, row, {.alignment = 0}), Error);
  // More index tensors than any key has.
  const std::vector<Tensor> many(9, row);
  CHECK_THROWS_AS(gather(runtime, out, square, many), Error);
}

}  // namespace indexed_call_test
