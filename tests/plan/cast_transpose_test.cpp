/// Problems of cast_transpose: their candidates' tiles, and the moves that are refused.
#include "plan/all_candidates.hpp"
#include "plan/moves.hpp"
#include "plan/violations.hpp"

#include <tmajit/operations.hpp>
#include <tmajit/plan.hpp>

#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace tmajit;
using Catch::Matchers::ContainsSubstring, Catch::Matchers::MessageMatches;
using tests::destination_address, tests::source_address;

namespace {

Tensor cast_to(ElementType type, const Dims& shape, DevicePtr shift = 0) {
  return Tensor::contiguous(type, shape, destination_address + shift);
}
Tensor cast_from(ElementType type, const Dims& shape) {
  return Tensor::contiguous(type, shape, source_address);
}
Tensor scale_of(ElementType type, const Dims& shape) {
  return Tensor::contiguous(type, shape, DevicePtr{1} << 45);
}

/// The rules that y alone of x breaks.
tests::Rules broken(const Tensor& y, const std::vector<Tensor>& sources) {
  return tests::broken_rule_names([&] {
    return plan_kernels(
        operation::cast_transpose({y}, {.orders = CastOrders::plain, .amax = false}, sources));
  });
}

}  // namespace

TEST_CASE("one kernel stores both orders only of the same type") {
  using enum ElementType;
  const Tensor x = cast_from(bf16, {256, 128});
  const auto one_order = [&](const Tensor& y, CastOrders orders) {
    return operation::cast_transpose({y}, {.orders = orders, .amax = false}, {x}).moves.front();
  };
  const auto kernels = [&](ElementType of_transposed) {
    const Tensor transposed = Tensor::contiguous(of_transposed, {128, 256}, DevicePtr{1} << 46);
    return plan_kernels(Operation::of({one_order(cast_to(e4m3, {256, 128}), CastOrders::plain),
                                       one_order(transposed, CastOrders::transposed)}))
        .size();
  };
  CHECK(kernels(e4m3) == 1);
  CHECK(kernels(e5m2) == 2);
}

TEST_CASE("large matrices have tiles of 128 x 128, small ones of 64 x 64") {
  using enum ElementType;
  const auto chosen = [](const Dims& shape) {
    const Operation made =
        operation::cast_transpose({cast_to(e4m3, shape)}, {.orders = CastOrders::plain, .amax = false},
                                  {cast_from(bf16, shape), number(0.5F)});
    return plan_kernels(made).front().choice().text();
  };
  CHECK_THAT(chosen({8192, 8192}), ContainsSubstring("256 threads, 2 warps side by side"));
  CHECK_THAT(chosen({512, 512}), ContainsSubstring("64 threads, 1 warp side by side"));
}

TEST_CASE("cast_transpose refuses tensors that do not fit") {
  using enum ElementType;
  const Tensor x = cast_from(bf16, {6, 8});
  const Tensor y = cast_to(e4m3, {6, 8});
  CHECK(broken(y, {x}).empty());
  CHECK(broken(y, {x, number(2.0F)}).empty());
  CHECK(broken(y, {x, scale_of(f32, {1, 1})}).empty());
  CHECK(broken(y, {x, scale_of(f32, {6, 1})}) == tests::Rules{"cast_transpose.scale"});
  CHECK(broken(y, {x, scale_of(bf16, {})}) == tests::Rules{"cast_transpose.scale"});
  CHECK(broken(y, {x, number(2.0)}) == tests::Rules{"cast_transpose.scale"});
  CHECK(broken(y, {cast_from(i32, {6, 8})}) == tests::Rules{"cast_transpose.type"});
  CHECK(broken(cast_to(f32, {6, 8}), {x}) == tests::Rules{"cast_transpose.to"});
  CHECK(broken(cast_to(e4m3, {8, 6}), {x}) == tests::Rules{"view.shape"});
  CHECK(broken(cast_to(e4m3, {8}), {cast_from(bf16, {8})}) == tests::Rules{"cast_transpose.rank"});
  const auto error = [](const char* words) { return MessageMatches(ContainsSubstring(words)); };
  const Tensor turned = cast_to(e4m3, {8, 6}, 1 << 20);
  const Tensor amax = cast_to(f32, {}, 2 << 20);
  CHECK_THROWS_MATCHES(operation::cast_transpose({y, turned}, {}, {x}), Error,
                       error("2 destinations; needed are 3: y, transposed, amax"));
  CHECK_THROWS_MATCHES(operation::cast_transpose({y, cast_to(e5m2, {8, 6}), amax}, {}, {x}), Error,
                       error("y has elements of e4m3, and transposed of e5m2"));
  CHECK_THROWS_MATCHES(operation::cast_transpose({y, turned, amax}, {}, {}), Error,
                       error("needed are x and the scale"));
  CHECK_THROWS_MATCHES(operation::cast_transpose({y, turned, amax}, {}, {number(1.0F)}), Error,
                       error("x is a number"));
  const auto amax_rules = [&](const Tensor& source, const std::vector<Tensor>& to) {
    return tests::broken_rule_names(
        [&] { return plan_kernels(operation::cast_transpose(to, {}, {source})); });
  };
  CHECK(amax_rules(x, {y, turned, cast_to(f32, {2}, 2 << 20)}) == tests::Rules{"cast_transpose.amax"});
  CHECK(amax_rules(x, {y, turned, cast_to(bf16, {}, 2 << 20)}) == tests::Rules{"cast_transpose.amax"});
  CHECK(amax_rules(cast_from(bf16, {0, 8}), {cast_to(e4m3, {0, 8}), cast_to(e4m3, {8, 0}), amax}) ==
        tests::Rules{"reduction.elements"});
  CHECK(amax_rules(x, {y, cast_to(e4m3, {8, 6}), amax}) == tests::Rules{"memory.overlap"});
  CHECK(amax_rules(x, {y, cast_to(e4m3, {8, 6}, 8), amax}) ==
        tests::Rules{"memory.overlap"});  // in the memory of y
}
