/// The family reduce: the operations that it plans, its rules, and reductions of one result by several CTAs
/// on the simulated device.
#include "families/shared/reduction_team.hpp"
#include "kernel/plan_state.hpp"
#include "operations/reduce/reference.hpp"
#include "ops/run_case.hpp"
#include "ptx_alone.hpp"
#include "reference/random_maps.hpp"
#include "spec/inside.hpp"

#include <tmajit/codegen.hpp>
#include <tmajit/error.hpp>
#include <tmajit/sim.hpp>

#include <array>
#include <iostream>
#include <map>
#include <set>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace tmajit;
using Catch::Matchers::ContainsSubstring;

namespace {

using ElementType::f32;

Tensor dense_source(ElementType type, const std::vector<std::uint64_t>& shape,
                    DevicePtr address = 0x10000000) {
  return {TensorView::contiguous(type, shape), address};
}
Tensor result_tensor(ElementType type, const std::vector<std::uint64_t>& shape) {
  return dense_source(type, shape, 0x7000'0000'0000);
}

KernelPlan reduce_plan(const Tensor& destination, const Reduction& what, std::vector<Tensor> sources) {
  auto plans = plan_kernels(operation::reduce(destination, what, sources));
  REQUIRE(plans.size() == 1);
  return plans.front();
}

/// A sum or an index reduction of small whole numbers along an axis of a matrix.
reference::TestCase shared_reduction(ElementType type, std::uint64_t rows, std::uint64_t columns,
                                     std::int64_t axis, ReductionOp op) {
  const ElementType result = op == ReductionOp::sum ? ElementType::f64 : ElementType::i64;
  return reference::dense_case("reduce", {{"op", std::string(name(op))}, {"axes", Dims{axis}}},
                               {TensorView::contiguous(result, {axis == 0 ? columns : rows})},
                               {TensorView::contiguous(type, {rows, columns})});
}

/// The only plan of a reduction, for tensors at the start of allocations.
KernelPlan reduce_plan(const reference::TestCase& reduction) {
  auto plans = plan_kernels(
      reference::operation_of(reduction, std::array<DevicePtr, 2>{0x7000'0000'0000, 0x10000000}));
  REQUIRE(plans.size() == 1);
  return plans.front();
}

}  // namespace

TEST_CASE("a reduction is planned by the family reduce and reads each byte once") {
  const KernelPlan plan =
      reduce_plan(result_tensor(f32, {512}), {.axes = {-1}}, {dense_source(f32, {512, 1000})});
  CHECK(plan.family().name == "reduce");
  CHECK(plan.bytes_read() == 512ULL * 1000 * 4);
  CHECK(plan.bytes_written() == 512ULL * 4);
  CHECK_THAT(plan.why(), ContainsSubstring("A reduced dimension is contiguous"));
  const KernelPlan columns =
      reduce_plan(result_tensor(f32, {1024}), {.axes = {0}}, {dense_source(f32, {512, 1024})});
  CHECK_THAT(columns.why(), ContainsSubstring("A dimension of the results is contiguous"));
  CHECK_THROWS_WITH(tmajit::plan_kernels(operation::reduce(result_tensor(f32, {512}), {.axes = {1}},
                                                           {dense_source(f32, {512, 8})}),
                                         {.family = "general"}),
                    ContainsSubstring("kernels of the family general cannot do this"));
  CHECK_THROWS_WITH(tmajit::plan_kernels(operation::copy(result_tensor(f32, {512}), dense_source(f32, {512})),
                                         {.family = "reduce"}),
                    ContainsSubstring("kernels of the family reduce cannot do this"));
}

TEST_CASE("sizes are launch parameters: reductions of many sizes share few kernels") {
  const auto key = [](std::uint64_t rows, std::uint64_t columns, std::int64_t axis) {
    const std::vector<std::uint64_t> result_shape{axis == 0 ? columns : rows};
    return std::string(
        reduce_plan(result_tensor(f32, result_shape), {.axes = {axis}}, {dense_source(f32, {rows, columns})})
            .key());
  };
  CHECK(key(5120, 1024, 1) == key(3000, 2048, 1));
  CHECK(key(51200, 1024, 0) == key(70000, 640, 0));
  CHECK(key(5120, 1024, 0) != key(5120, 1024, 1));
  // Kernels also differ in the alignment of rows and in whether rows end within a vector.
  std::set<std::string> keys;
  for (std::uint64_t n = 1; n < 400; ++n) {
    keys.insert(key(n * n, 32 * n, 1));
    keys.insert(key(n * n, 32 * n, 0));
  }
  CHECK(keys.size() <= 12);
}

TEST_CASE("all plans of one reduction kernel set the same limit of dynamic shared memory") {
  const std::uint64_t seed = reference::seed(20261213);
  std::cout << "TMAJIT_SEED=" << seed << std::endl;
  reference::Random random(seed);
  std::map<std::string, std::uint32_t> allowed;
  for (int n = 0; n < 2000; ++n) {
    const std::uint64_t rows = reference::between(random, 1, 700);
    const std::uint64_t columns = reference::between(random, 1, 3000);
    const std::int64_t axis = reference::one_in(random, 2) ? 0 : 1;
    const ElementType type = reference::one_in(random, 2) ? f32 : ElementType::u8;
    const bool index = reference::one_in(random, 4);
    const Tensor result =
        result_tensor(index ? ElementType::i64 : ElementType::f64, {axis == 0 ? columns : rows});
    const Reduction what{.op = index ? ReductionOp::arg_max : ReductionOp::sum, .axes = {axis}};
    INFO("TMAJIT_SEED=" << seed << ": " << rows << "x" << columns << " over " << axis << ' ' << name(type));
    const auto move = operation::reduce(result, what, {dense_source(type, {rows, columns})}).moves.front();
    for (const KernelPlan& plan : plan_candidates(move, {})) {
      const std::uint32_t limit = Inside::state(plan)->max_shared_bytes;
      CHECK(allowed.emplace(std::string(plan.key()), limit).first->second == limit);
      CHECK(plan.shape().dynamic_shared_bytes <= limit);
    }
  }
}

TEST_CASE("adjacent reduced dimensions merge, and so do adjacent dimensions of the results") {
  const KernelPlan plan =
      reduce_plan(result_tensor(f32, {8, 9}), {.axes = {2, 3}}, {dense_source(f32, {8, 9, 20, 30})});
  CHECK(plan.shape().tile.size() == 2);
  // arg_max counts its index over the axes in order, so axes in another order in memory do not merge.
  const Tensor turned = permuted(dense_source(f32, {20, 30}), {1, 0});
  CHECK(reduce_plan(result_tensor(ElementType::i64, {}), {.op = ReductionOp::sum, .axes = {0, 1}}, {turned})
            .shape()
            .tile.size() == 1);
  CHECK(
      reduce_plan(result_tensor(ElementType::i64, {}), {.op = ReductionOp::arg_max, .axes = {0, 1}}, {turned})
          .shape()
          .tile.size() == 2);
}

TEST_CASE("a reduction without axes reduces all dimensions, and an empty sum is 0") {
  const auto planned = [](const Tensor& destination, const Reduction& what, const Tensor& source) {
    return plan_kernels(operation::reduce(destination, what, {source}));
  };
  CHECK(planned(result_tensor(f32, {}), {}, dense_source(f32, {4, 5})).front().family().does("reduce"));
  for (const ReductionOp op : {ReductionOp::sum, ReductionOp::any, ReductionOp::all}) {
    const std::vector<KernelPlan> plans =
        planned(result_tensor(f32, {4}), {.op = op, .axes = {1}}, dense_source(f32, {4, 0}));
    REQUIRE(plans.size() == 1);
    CHECK(plans.front().expression() == (op == ReductionOp::all ? "1" : "0"));
  }
  CHECK(planned(result_tensor(f32, {0}), {.axes = {1}}, dense_source(f32, {0, 5})).empty());
}

TEST_CASE("an illegal reduction is rejected with the rule and a legal value") {
  const auto error_text = [](const Tensor& destination, const Reduction& what, std::vector<Tensor> sources) {
    try {
      (void)plan_kernels(operation::reduce(destination, what, sources));
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK_THAT(error_text(result_tensor(f32, {4}), {.axes = {2}}, {dense_source(f32, {4, 5})}),
             ContainsSubstring("axis 2"));
  CHECK_THAT(error_text(result_tensor(f32, {4}), {.axes = {1, -1}}, {dense_source(f32, {4, 5})}),
             ContainsSubstring("axis -1 twice"));
  CHECK_THAT(error_text(result_tensor(f32, {5}), {.axes = {1}}, {dense_source(f32, {4, 5})}),
             ContainsSubstring("dimensions of 4x5"));
  CHECK_THAT(
      error_text(result_tensor(f32, {4}), {.axes = {1}, .keep_dims = true}, {dense_source(f32, {4, 5})}),
      ContainsSubstring("needs 4x1, the dimensions of 4x5 with 1 for those that are reduced"));
  CHECK_THAT(error_text(result_tensor(f32, {4, 1}), {.axes = {1}}, {dense_source(f32, {4, 5})}),
             ContainsSubstring("keep_dims"));
  CHECK_THAT(
      error_text(result_tensor(f32, {4}), {.op = ReductionOp::max, .axes = {1}}, {dense_source(f32, {4, 0})}),
      ContainsSubstring("no elements along the axes"));
  CHECK_THAT(error_text(result_tensor(f32, {4}), {.axes = {1}, .expression = "x + g[0]"},
                        {dense_source(f32, {4, 5})}),
             ContainsSubstring("no coordinates"));
  CHECK_THAT(error_text(result_tensor(f32, {4}), {.axes = {1}},
                        {dense_source(f32, {4, 5}), dense_source(f32, {4, 5})}),
             ContainsSubstring("such as \"x0 * x1\""));
  CHECK_THAT(error_text(result_tensor(f32, {4}), {.axes = {1}}, {}), ContainsSubstring("without a source"));
  CHECK_THAT(error_text(dense_source(f32, {4}), {.axes = {1}}, {dense_source(f32, {4, 5})}),
             ContainsSubstring("the destination"));
  CHECK(parse<ReductionOp>("arg_max") == ReductionOp::arg_max);
  CHECK_THROWS_WITH(parse<ReductionOp>("argmax"), ContainsSubstring("arg_max"));
  CHECK(plan_kernels(operation::reduce(result_tensor(f32, {0}), {.axes = {1}}, {dense_source(f32, {0, 5})}))
            .empty());
}

TEST_CASE("an error in the argument `epilogue` is reported as the caller's") {
  const Tensor source = dense_source(f32, {4, 5});
  Runtime runtime({.device = nullptr, .cache_directory = std::nullopt});
  CHECK_THROWS_WITH(
      plan(runtime, operation::reduce(result_tensor(f32, {4}), {.axes = {1}, .epilogue = "x / m"}, {source})),
      ContainsSubstring("epilogue"));
  CHECK_THROWS_AS(
      plan(runtime, operation::reduce(result_tensor(f32, {4}), {.axes = {1}, .epilogue = "(x"}, {source})),
      CompileError);
}

TEST_CASE("reduce() gives the right result in the first call and in a repeated one") {
  Runtime runtime({.device = make_sim_device(),
                   .cache_directory = tests::shared_kernels(),
                   .compile = tests::ptx_without_lines});
  const Buffer memory(runtime.device(), 4096);
  const std::vector<float> values{3, 4, 6, 8};
  runtime.device()->memory().copy_in(memory.address(), std::as_bytes(std::span(values)), nullptr);
  const Tensor source = dense_source(f32, {2, 2}, memory.address());
  const Tensor result = dense_source(f32, {2}, memory.address() + 256);
  for (int run = 0; run < 2; ++run) {
    reduce(runtime, result, {.axes = {1}, .expression = "x * x", .epilogue = "sqrt(x)"}, {source});
    std::vector<float> norms(2);
    runtime.device()->streams().synchronize(nullptr);
    runtime.device()->memory().copy_out(std::as_writable_bytes(std::span(norms)), result.address, nullptr);
    runtime.device()->streams().synchronize(nullptr);
    CHECK(norms == std::vector<float>{5, 10});
  }
}

TEST_CASE("keep_dims changes neither the kernel nor its results") {
  const Tensor source = dense_source(f32, {4, 5, 6});
  const auto key = [&](const Tensor& destination, bool keep_dims) {
    return std::string(reduce_plan(destination, {.axes = {0, 2}, .keep_dims = keep_dims}, {source}).key());
  };
  CHECK(key(result_tensor(f32, {1, 5, 1}), true) == key(result_tensor(f32, {5}), false));

  Runtime runtime({.device = make_sim_device(), .cache_directory = std::nullopt});
  const Buffer memory(runtime.device(), 4096);
  const std::vector<float> values{3, 4, 6, 8};
  runtime.device()->memory().copy_in(memory.address(), std::as_bytes(std::span(values)), nullptr);
  const Tensor from = dense_source(f32, {2, 2}, memory.address());
  const Tensor column = dense_source(f32, {2, 1}, memory.address() + 256);
  reduce(runtime, column, {.axes = {1}, .keep_dims = true}, {from});
  std::vector<float> sums(2);
  runtime.device()->streams().synchronize(nullptr);
  runtime.device()->memory().copy_out(std::as_writable_bytes(std::span(sums)), column.address, nullptr);
  runtime.device()->streams().synchronize(nullptr);
  CHECK(sums == std::vector<float>{7, 14});
  // A call that differs only in keep_dims does not find the previous call's plan.
  CHECK_THROWS_AS(reduce(runtime, column, {.axes = {1}}, {from}), SpecError);
  // Empty sums accept keep_dims, too.
  reduce(runtime, column, {.axes = {1}, .keep_dims = true}, {dense_source(f32, {2, 0}, memory.address())});
}

TEST_CASE("several CTAs that share a reduction of rows or columns give the reference's results") {
  Runtime runtime({.device = make_sim_device(),
                   .cache_directory = tests::shared_kernels(),
                   .compile = tests::ptx_without_lines});
  const auto check = [&](ElementType type, std::uint64_t rows, std::uint64_t columns, std::int64_t axis,
                         ReductionOp op) {
    const auto reduction = shared_reduction(type, rows, columns, axis, op);
    INFO(reduction.text());
    const KernelPlan plan = reduce_plan(reduction);
    CHECK(plan.family().does("reduce"));
    CHECK(plan.launch_shape().scratch_bytes > 0);
    CHECK(tests::run_candidates(runtime, reduction, 7) == "");
  };
  check(f32, 1, 70'001, 1, ReductionOp::sum);
  check(ElementType::u8, 3, 300'000, 1, ReductionOp::arg_max);
  check(f32, 40'000, 8, 0, ReductionOp::sum);
  check(ElementType::bf16, 7'001, 7, 0, ReductionOp::arg_min);
}

TEST_CASE("every candidate of a random reduction is of a family for reductions") {
  const std::uint64_t seed = tests::seed(20261123);
  INFO("TMAJIT_SEED=" << seed);
  for (std::uint64_t n = 0; n < 100; ++n) {
    const auto test_case = reference::random_test_case("reduce", seed + n, 0);
    INFO(test_case.text());
    std::vector<DevicePtr> buffers;
    for (std::size_t i = 0; i < test_case.buffers.size(); ++i) buffers.push_back((i + 1) << 32);
    const Move move = reference::operation_of(test_case, buffers).moves.front();
    for (const KernelPlan& plan : plan_candidates(move, {})) CHECK(plan.family().does("reduce"));
  }
}

TEST_CASE("found: sums of f32 with large elements may be rounded in any order") {
  // Elements are small numbers or nearly 2^32: a negative i8 wraps in the sum with a u32, before it becomes
  // f32.
  Runtime runtime({.device = make_sim_device({.threads = 1}),
                   .cache_directory = tests::shared_kernels(),
                   .compile = tests::ptx_without_lines});
  std::vector<TensorView> sources;
  for (const ElementType type : {ElementType::i8, ElementType::u32, f32})
    sources.push_back(TensorView::contiguous(type, {300, 40}));
  const auto reduction =
      reference::dense_case("reduce", {{"op", "mean"}, {"axes", Dims{1}}, {"expression", "x0 + x1 + x2"}},
                            {TensorView::contiguous(ElementType::u32, {300})}, sources);
  CHECK(tests::run_candidates(runtime, reduction, 3) == "");
}

TEST_CASE("the reference's error bound is 0 for sums that f32 holds exactly, else a few units") {
  const auto error_of = [](ReductionOp op, const std::vector<reference::Scalar>& values) {
    reference::Reducer reducer(op);
    for (const reference::Scalar& value : values) reducer.add(value, 0);
    const double error = reducer.result().error;
    return reference::is_exact(error) ? 0 : error;
  };
  CHECK(error_of(ReductionOp::sum, {8388608.0F, -8388608.0F}) == 0);
  CHECK(error_of(ReductionOp::sum, {16777216.0F, 1.0F}) > 1);
  CHECK(error_of(ReductionOp::mean, {16777216.0F, 1.0F}) < 8);
  CHECK(error_of(ReductionOp::sum, {0.5F, 0.25F}) > 0);
  CHECK(error_of(ReductionOp::sum, {16777216.0, 1.0}) == 0);
  CHECK(error_of(ReductionOp::max, {16777216.0F, 1.0F}) == 0);
  CHECK(error_of(ReductionOp::sum, {std::uint32_t{0xffffffff}, std::uint32_t{1}}) == 0);
}

TEST_CASE("the reference rounds a mean of f32 to f32") {
  reference::Reducer mean(ReductionOp::mean);
  for (const float value : {1.0F, 0.0F, 1.0F}) mean.add(reference::Scalar(value), 0);
  CHECK(mean.result().value == reference::Scalar(2.0F / 3.0F));
}

TEST_CASE("partial results of many CTAs are combined within groups and then across groups") {
  Runtime runtime({.device = make_sim_device(),
                   .cache_directory = tests::shared_kernels(),
                   .compile = tests::ptx_without_lines});
  const auto check = [&](ElementType type, std::uint64_t rows, std::uint64_t columns) {
    const auto reduction = shared_reduction(type, rows, columns, 0, ReductionOp::sum);
    INFO(reduction.text());
    const KernelChoice choice = reduce_plan(reduction).choice();
    const ReductionTeamShape team{.columns = true,
                                  .tile_items = choice.number("owners"),
                                  .threads_per_item = choice.number("phases"),
                                  .parts = choice.number("parts")};
    CHECK(parts_of_group(team) < team.parts);
    CHECK(tests::run_candidates(runtime, reduction, 3) == "");
  };
  check(ElementType::u8, 20'000, 103);
  check(f32, 70'000, 53);
}
