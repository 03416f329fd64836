// One call of operations with numbers of the launch: all values share a kernel and a plan.
#include "lib/allocations.hpp"
#include "ops/call_fixture.hpp"

#include <tmajit/error.hpp>
#include <tmajit/operations.hpp>
#include <tmajit/plan.hpp>

#include <array>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;
using tests::called_destination, tests::called_source, tests::CallFixture, tests::tensor_of;

TEST_CASE("1,000 values of a number share a kernel and a plan, and each launch passes its own value") {
  CallFixture fixture;
  std::vector<float> passed;
  fixture.device->on_launch = [&](const FakeDevice::Launch& launch) {
    // The parameter is params::RowPlan<3>: the addresses of the destination and the source, then the number.
    const auto* const bytes = static_cast<const std::byte*>(launch.parameters[0]);
    std::memcpy(&passed.emplace_back(), bytes + 16, sizeof(float));
  };
  const std::array destinations{tensor_of({64, 96}, called_destination)};
  const Rowwise steps{.steps = "y = x / sum(x) * p0"};
  const TensorView view = TensorView::contiguous(ElementType::f32, {64, 96});
  const auto call = [&](float value) {
    rowwise(fixture.runtime, destinations, steps, std::array{Tensor{view, called_source}, number(value)});
  };
  call(0);  // its bits are no address
  for (int i = 1; i < 1000; ++i) call(static_cast<float>(i) * 1.25F);
  const auto record = std::exchange(fixture.device->on_launch, nullptr);
  const std::size_t before = allocations();
  for (int i = 1; i < 1000; ++i) call(static_cast<float>(i) * 1.25F);
  CHECK(allocations() == before);
  fixture.device->on_launch = record;
  CHECK(fixture.device->loads == 1);
  REQUIRE(passed.size() == 1000);
  for (int i = 1; i < 1000; ++i) CHECK(passed[static_cast<std::size_t>(i)] == static_cast<float>(i) * 1.25F);
  // A plan takes the bits in place of an address.
  const Plan planned =
      plan(fixture.runtime, operation::rowwise(destinations, {.steps = "y = x / sum(x) * p0"},
                                               {tensor_of({64, 96}, called_source), number(3.0F)}));
  planned();
  planned({called_destination}, {called_source, number(7.0F).address});
  CHECK(passed[1000] == 3.0F);
  CHECK(passed[1001] == 7.0F);
  CHECK(fixture.device->loads == 1);
}

TEST_CASE("values of a number share a kernel in the epilogue of a reduction and in a stencil") {
  CallFixture fixture;
  const Tensor in = tensor_of({64, 96}, called_source);
  const Reduction sums{.op = ReductionOp::sum, .axes = {1}, .epilogue = "x * p0 + p1"};
  for (const float value : {0.0F, 0.5F, -2.0F})
    reduce(fixture.runtime, tensor_of({64}, called_destination), sums, {in, number(value), number(7)});
  CHECK(fixture.device->loads == 1);
  for (const float value : {0.0F, 0.5F, -2.0F}) {
    stencil(fixture.runtime, tensor_of({64, 96}, called_destination), "x(-1) + p0 * x(1)",
            {in, number(value)});
  }
  CHECK(fixture.device->loads == 2);
  CHECK(fixture.device->launches == 6);
}

TEST_CASE("1,000 values of numbers share a kernel of tiles") {
  CallFixture fixture;
  const Tensor in = tensor_of({64, 96}, called_source);
  const Tensor out = tensor_of({64, 96}, called_destination);
  for (int i = 0; i < 1000; ++i) {
    const float value = static_cast<float>(i) * 1.25F;
    tiles(fixture.runtime, out, {.family = "map", .expression = "x * p0 + p1"},
          {in, number(value), number(i)});
  }
  CHECK(fixture.device->loads == 1);
  for (int i = 0; i < 1000; ++i)
    tiles(fixture.runtime, out, {.family = "bulk", .expression = "x * p0"}, {in, number(1.0 / (i + 1))});
  CHECK(fixture.device->loads == 2);
  CHECK(fixture.device->launches == 2000);
}

TEST_CASE("wrong numbers are refused: their order, their use, and those that an expression reads in vain") {
  CallFixture fixture;
  const Tensor out = tensor_of({8}, called_destination);
  const Tensor in = tensor_of({8}, called_source);
  const auto refused = [&](auto&& call) {
    try {
      call();
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const auto is_in = [](std::string_view part, const std::string& text) {
    INFO(text);
    CHECK(text.find(part) != std::string::npos);
  };
  is_in("numbers after all tensors", refused([&] {
          map(fixture.runtime, out, "x * p0", {number(2.0F), in});
        }));
  is_in("no number is given", refused([&] { map(fixture.runtime, out, "x * p0", {in}); }));
  is_in("1 number is given", refused([&] { map(fixture.runtime, out, "x * p1", {in, number(2.0F)}); }));
  is_in("no number is given",
        refused([&] { tiles(fixture.runtime, out, {.family = "map", .expression = "x * p0"}, {in}); }));
  is_in("numbers after all tensors", refused([&] {
          tiles(fixture.runtime, out, {.family = "map", .expression = "x * p0"}, {in, number(2.0F), in});
        }));
  is_in("numbers = 0", refused([&] { tiles(fixture.runtime, out, {}, {in, number(2.0F)}); }));
  is_in("numbers = 7", refused([&] {
          std::vector<Tensor> many(9, number(1.0F));
          many.front() = in;
          tiles(fixture.runtime, out, {.family = "map", .expression = "x * p0"}, many);
        }));
  is_in("tile kernel", refused([&] {
          (void)destinations_of("tiles", std::vector{number(2.0F).view}, {{"family", "map"}});
        }));
  is_in("this operation has no expression", refused([&] { copy(fixture.runtime, out, number(2.0F)); }));
  is_in("p1 does not exist", refused([&] {
          rowwise(fixture.runtime, {out}, {.steps = "y = x * p1"}, {in, number(2.0F)});
        }));
  is_in("p0 is a number of the launch",
        refused([&] { rowwise(fixture.runtime, {out}, {.steps = "p0 = x; y = p0"}, {in}); }));
  Tensor wide = in;
  wide.view.is_number = true;
  is_in("strides of 0", refused([&] { map(fixture.runtime, out, "p0", {wide}); }));
  is_in("i32", refused([&] { (void)number(std::int64_t{1} << 40, ElementType::i32); }));
  is_in("legal is an integer", refused([&] { (void)number(0.5, ElementType::i64); }));
  is_in("legal are f32", refused([&] { (void)number(0.5, ElementType::bf16); }));
}
