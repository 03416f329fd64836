/// Every candidate of the family `rowwise`, on the simulated device, at the limits of what threads, CTAs and
/// clusters hold.
#include "ops/own_memory.hpp"
#include "ops/run_case.hpp"
#include "plan/candidates.hpp"
#include "ptx_alone.hpp"
#include "seed.hpp"

#include <tmajit/codegen.hpp>
#include <tmajit/error.hpp>
#include <tmajit/sim.hpp>

#include <algorithm>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;
using reference::between, reference::one_in, reference::Random, reference::TestCase;

namespace {

struct Steps {
  const char* text;
  std::size_t sources;
};
constexpr Steps steps[] = {{"m = max(x); e = expf(x - m); y = e / sum(e)", 1},
                           {"u = mean(x0); c = x0 - u; y = c / sqrtf(mean(c * c) + 1.0f) * x1", 2},
                           {"y = x - arg_max(x)", 1}};

/// A case of `rows` dense rows of `length` elements, whose tensors begin `shift` elements after a multiple of
/// 256 bytes.
TestCase dense_rows(const Steps& what, ElementType type, std::uint64_t rows, std::uint64_t length,
                    std::uint64_t shift) {
  const TensorView view = TensorView::contiguous(type, {rows, length});
  std::vector<TensorView> sources{view};
  if (what.sources > 1) sources.push_back(TensorView::contiguous(type, {length}));
  TestCase made =
      reference::dense_case("rowwise", {{"steps", std::string(what.text)}}, {view}, sources, shift);
  made.contents = reference::Contents::whole;
  return made;
}

std::vector<KernelPlan> candidates_of(const TestCase& test_case, const Chip& chip = {}) {
  std::vector<DevicePtr> addresses;
  const std::size_t tensors = test_case.destinations.size() + test_case.sources.size();
  for (std::uint64_t k = 0; k < tensors; ++k) addresses.push_back((k + 1) << 30);
  return candidates_of_kernel(reference::operation_of(test_case, addresses).moves, {.chip = chip});
}

/// The policies of the sources of all candidates: teams of threads such as "ClusterTeam", where elements stay
/// ("ReloadedElements"), and the shape of rows.
std::set<std::string> policies_of(const TestCase& test_case, const Chip& chip = {}) {
  static const std::regex policy("using (Team|Elements|RowShape) = struct ([A-Za-z]+);");
  std::set<std::string> policies;
  for (const KernelPlan& plan : candidates_of(test_case, chip)) {
    const std::string text = source(plan).text;
    for (std::sregex_iterator found(text.begin(), text.end(), policy), end; found != end; ++found)
      policies.insert((*found)[2]);
  }
  return policies;
}

/// Those of `expected` that are not among `found`.
std::set<std::string> missing(const std::set<std::string>& found, const std::set<std::string>& expected) {
  std::set<std::string> absent;
  std::ranges::set_difference(expected, found, std::inserter(absent, absent.end()));
  return absent;
}

Runtime sim_runtime(std::uint64_t seed) {
  return Runtime({.device = make_sim_device({.mode = SimOptions::Mode::random, .seed = seed}),
                  .cache_directory = tests::shared_kernels(),
                  .compile = tests::ptx_without_lines});
}

}  // namespace

TEST_CASE("columns have fewer threads if the states of all reductions would not fit into shared memory") {
  Runtime runtime = sim_runtime(1);
  std::string steps = "a0 = arg_max(x); ";
  for (int k = 1; k < 30; ++k)
    steps += "a" + std::to_string(k) + " = arg_max(x * a" + std::to_string(k - 1) + "); ";
  const Steps what{.text = (steps += "y = x + a29").c_str(), .sources = 1};
  for (const std::uint64_t rows : {64, 1000}) {
    TestCase made = dense_rows(what, ElementType::f32, rows, 96, 0);
    made.arguments.set("axes", Dims{0});
    INFO(made.text());
    CHECK(missing(policies_of(made), {"ColumnTeam"}).empty());
    // A state has a value of 4 bytes, 4 unused bytes, and an index of 8; static shared memory has 48 KiB.
    for (const KernelPlan& plan : candidates_of(made))
      CHECK(plan.launch_shape().block[0] * 30 * 16 <= 48 * 1024);
    CHECK(tests::run_candidates(runtime, made, rows) == "");
  }
}

TEST_CASE(
    "every candidate computes rows of any length: lanes, CTAs, clusters, and rows that are loaded again") {
  const std::uint64_t seed = tests::seed(20261127);
  Random random(seed);
  Runtime runtime = sim_runtime(seed);
  // Lengths near which the planner changes the team; each is drawn from itself and its neighbours.
  constexpr std::uint64_t limits[] = {1, 4, 8, 16, 64, 128, 512, 1024, 4096, 16384};
  std::set<std::string> policies;
  for (const std::uint64_t limit : limits) {
    const std::uint64_t length = limit + between(random, 0, 2) - (limit > 1 ? 1 : 0);
    // Rows of 16,383 elements of f32, not of bf16, exceed the registers of a CTA.
    const bool is_short = limit < 16384 && one_in(random, 2);
    const ElementType type = is_short ? ElementType::bf16 : ElementType::f32;
    const Steps& what = steps[between(random, 0, 2)];
    const TestCase made = dense_rows(what, type, between(random, 1, length > 1000 ? 3 : 40), length,
                                     one_in(random, 2) ? 0 : between(random, 1, 7));
    INFO("TMAJIT_SEED=" << seed << ": " << made.text());
    policies.merge(policies_of(made));
    CHECK(tests::run_candidates(runtime, made, seed) == "");
  }
  INFO("TMAJIT_SEED=" << seed);
  CHECK(missing(policies, {"LaneTeam", "CtaTeam", "ClusterTeam", "HeldElements", "ReloadedElements"}) ==
        std::set<std::string>{});
}

TEST_CASE("rows of two dimensions are loaded by vectors along the inner one, at any alignment") {
  const std::uint64_t seed = tests::seed(20261129);
  Random random(seed);
  Runtime runtime = sim_runtime(seed);
  for (const std::uint64_t inner : {6, 8, 24, 64, 100}) {
    const ElementType type = one_in(random, 2) ? ElementType::bf16 : ElementType::f32;
    const TensorView view = TensorView::contiguous(type, {between(random, 1, 40), 3, inner});
    const std::uint64_t shift = one_in(random, 2) ? 0 : between(random, 1, 8);
    TestCase made = reference::dense_case(
        "rowwise", {{"steps", std::string(steps[inner == 8 ? 2 : 0].text)}, {"axes", Dims{0, 2}}}, {view},
        {view}, shift);
    INFO("TMAJIT_SEED=" << seed << ": " << made.text());
    CHECK(missing(policies_of(made), {"ManyDimensions"}).empty());
    CHECK(tests::run_candidates(runtime, made, seed) == "");
  }
  using enum ElementType;
  const TensorView bytes = TensorView::contiguous(e4m3, {256, 384});
  const TensorView scale = TensorView::contiguous(f32, {2, 3});
  const TestCase blocks = reference::dense_case("dequantize_blocks", {}, {}, {bytes, scale});
  CHECK(tests::run_candidates(runtime, blocks, seed) == "");
}

TEST_CASE("a block of 128 x 128 elements of bf16 is held by the registers of a CTA") {
  using enum ElementType;
  const auto dense = [](ElementType type, const Dims& shape, DevicePtr address) {
    return Tensor::contiguous(type, shape, address);
  };
  const std::vector<KernelPlan> plans = plan_kernels(
      operation::quantize_blocks({dense(e4m3, {4096, 4096}, 1 << 26), dense(f32, {32, 32}, 1 << 27)},
                                 {dense(bf16, {4096, 4096}, 1 << 28)}));
  REQUIRE(plans.size() == 1);
  CHECK(plans.front().choice().text() == "rowwise 512 of 512 threads share a row, 4 vectors of each");
}

TEST_CASE("found: rows of bytes whose other tensors have wider elements that are not side by side") {
  TestCase made = dense_rows(steps[0], ElementType::e4m3, 14, 314, 2);
  const TensorView strided = TensorView::strided(ElementType::i16, {14, 314}, {3, 42});
  made = reference::dense_case("rowwise", made.arguments, {made.destinations[0].view}, {strided});
  made.contents = reference::Contents::whole;
  Runtime runtime = sim_runtime(3);
  CHECK(tests::run_candidates(runtime, made, 1) == "");
}

TEST_CASE("found: a row that is loaded again is not overwritten before all its destinations are computed") {
  const TensorView view = TensorView::contiguous(ElementType::f32, {1, 300'001});
  TestCase made = reference::dense_case("rowwise", {{"steps", std::string("y0 = x - max(x); y1 = x * 2")}},
                                        {view, view}, {view});
  made.contents = reference::Contents::whole;
  made.sources[0] = made.destinations[0];
  CHECK(missing(policies_of(made), {"ReloadedElements"}).empty());
  Runtime runtime = sim_runtime(4);
  CHECK(tests::run_candidates(runtime, made, 1) == "");
}

TEST_CASE("found: a team without a row loads no element that another team overwrites") {
  Runtime runtime = sim_runtime(5);
  for (const std::uint64_t rows : {1, 3}) {
    TestCase made = dense_rows(steps[0], ElementType::f32, rows, 1, 0);
    made.sources[0] = made.destinations[0];
    INFO(made.text());
    CHECK(tests::run_candidates(runtime, made, rows) == "");
  }
}

TEST_CASE("a sum with one term that is not zero computes that term alone, wherever it is") {
  const std::uint64_t seed = tests::seed(20261128);
  Random random(seed);
  Runtime runtime = sim_runtime(seed);
  constexpr const char* places[] = {"n / 2", "n - 1", "0", "n", "-1", "max(x) > 0 ? n / 3 : n / 5"};
  for (const char* place : places) {
    const std::string text = "k = " + std::string(place) + "; y = x - sum(k == i ? x * 2 : 0)";
    const Steps what{.text = text.c_str(), .sources = 1};
    for (const std::uint64_t limit : {1, 30, 900, 20'000}) {
      TestCase made = dense_rows(what, one_in(random, 2) ? ElementType::bf16 : ElementType::f32,
                                 between(random, 1, limit > 900 ? 3 : 20), between(random, 1, limit),
                                 one_in(random, 2) ? 0 : between(random, 1, 7));
      if (one_in(random, 3)) made.arguments.set("axes", Dims{0});
      INFO("TMAJIT_SEED=" << seed << ": " << made.text());
      for (const KernelPlan& plan : candidates_of(made))
        CHECK(source(plan).text.find("reduced_at<Sum") != std::string::npos);
      CHECK(tests::run_candidates(runtime, made, seed) == "");
    }
  }
}

TEST_CASE("rows of half a MiB are shared by clusters of 16 CTAs") {
  Runtime runtime = sim_runtime(1);
  const Operation operation = reference::operation_of(dense_rows(steps[0], ElementType::bf16, 2, 262'144, 0),
                                                      std::vector<DevicePtr>{1 << 20, 1 << 21});
  const std::vector<KernelPlan> plans = plan_kernels(operation);
  REQUIRE(plans.size() == 1);
  CHECK(plans.front().launch_shape().cluster[0] == 16);
  CHECK(tests::run_candidates(runtime, dense_rows(steps[0], ElementType::bf16, 1, 262'144, 0), 1) == "");
}

TEST_CASE("groups of CTAs anywhere on the GPU share long rows, one after the other") {
  const std::uint64_t seed = tests::seed(20261128);
  Random random(seed);
  Runtime runtime = sim_runtime(seed);
  constexpr std::uint32_t sm_counts[] = {1, 2, 5};
  std::uint64_t turn = between(random, 0, 2);
  std::uint64_t by_grid = 0;
  for (const Steps& what : steps) {
    const std::uint32_t sm_count = sm_counts[turn++ % 3];
    const bool shorts = one_in(random, 3);
    const std::uint64_t length = between(random, 33'000, 40'000) * (shorts ? 2 : 1);
    const TestCase made =
        dense_rows(what, shorts ? ElementType::bf16 : ElementType::f32, between(random, 2, 5), length,
                   one_in(random, 2) ? 0 : between(random, 1, 7));
    INFO("TMAJIT_SEED=" << seed << ", " << sm_count << " SMs: " << made.text());
    const Chip chip{.sm_count = sm_count};
    by_grid += policies_of(made, chip).contains("GridTeam") ? 1 : 0;
    CHECK(tests::run_candidates(runtime, made, seed, chip) == "");
  }
  CHECK(by_grid > 0);
}

TEST_CASE("all destinations of the same rows are computed by one kernel, and alone by others") {
  const TensorView view = TensorView::contiguous(ElementType::f32, {6, 40});
  const TensorView per_row = TensorView::contiguous(ElementType::f32, {6});
  const Operation all =
      operation::rowwise({Tensor{view, 1 << 20}, Tensor{per_row, 2 << 20}, Tensor{per_row, 3 << 20}},
                         {.steps = "m = max(x); y0 = x - m; y1 = m; y2 = sum(x)"}, {Tensor{view, 4 << 20}});
  REQUIRE(all.moves.size() == 3);
  const std::vector<KernelPlan> together = plan_kernels(all);
  REQUIRE(together.size() == 1);
  CHECK(together.front().bytes_read() == 6 * 40 * 4);
  CHECK(together.front().bytes_written() == 6 * 40 * 4 + 2 * 6 * 4);
  Runtime runtime = sim_runtime(2);
  for (std::size_t k = 0; k < 3; ++k) {
    const std::vector<KernelPlan> alone = plan_kernels(Operation::of({all.moves[k]}));
    REQUIRE(alone.size() == 1);
    CHECK(alone.front().key() != together.front().key());
  }
}
