// Tests the arguments that launches of real plans and kernels pass to the device, which only records them.
#include "error_of.hpp"
#include "lib/allocations.hpp"
#include "measurable.hpp"
#include "plan/violations.hpp"
#include "runtime/fake_device.hpp"
#include "runtime/seen_parameters.hpp"
#include "tiles/tile_spec.hpp"

#include <tmajit/error.hpp>
#include <tmajit/plan.hpp>
#include <tmajit/runtime.hpp>
#include <tmajit/tiles.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace tmajit;
using Catch::Matchers::ContainsSubstring, Catch::Matchers::StartsWith;
using tests::broken_rules, tests::Rules, tests::Seen;
using tests::error_of;

namespace {
using Shape = std::vector<std::uint64_t>;

constexpr DevicePtr launch_in = 0x7f00'0000'0000;
constexpr DevicePtr launch_out = 0x7f80'0000'0000;
const auto some_stream = reinterpret_cast<Stream>(std::uintptr_t{0x5000});

struct LaunchFixture {
  std::shared_ptr<FakeDevice> device = std::make_shared<FakeDevice>();
  Runtime runtime{{.device = device, .cache_directory = std::nullopt, .compile = {}}};

  /// Returns the launch that `launch` makes on the device. It must make one, of `plan`.
  template <class Launch>
  Seen seen(const KernelPlan& plan, const Launch& launch) {
    std::vector<Seen> all;
    device->on_launch = [&](const FakeDevice::Launch& one) { all.emplace_back(plan, one); };
    launch();
    device->on_launch = nullptr;
    REQUIRE(all.size() == 1);
    return all[0];
  }
  Seen launched(const KernelPlan& plan) {
    return seen(plan, [&] { runtime.kernel(plan).launch(plan, some_stream); });
  }
};

TensorView dense(ElementType type, const Shape& shape) {
  return TensorView::contiguous(type, shape);
}

TileRequest request_of(std::string_view family, const TensorView& to, const TensorView& from,
                       std::string_view expression = {}) {
  return {.family = family,
          .destination = {to, launch_out},
          .sources = {{from, launch_in}},
          .expression = expression};
}

/// Returns the spec of the request's kernel, with the defaults filled in.
TileSpec spec_of(const TileTraits& traits, const TileRequest& request) {
  std::vector<TensorView> views;
  views.push_back(request.destination.view);
  for (const Tensor& source : request.sources) views.push_back(source.view);
  return tile_spec(traits, request.expression, views, request.tiles);
}

Rules rules(const TileRequest& request) {
  return broken_rules([&] { return plan_tiles(request); });
}

}  // namespace

TEST_CASE("copy: one launch gets two maps and the grid of tiles") {
  LaunchFixture fixture;
  const TensorView view = dense(ElementType::f32, {1000, 400});
  const std::array<std::uint32_t, 2> box{64, 32};
  TileRequest request = request_of("copy", view, view);
  request.tiles = {.box = box, .l2_promotion = L2Promotion::b128};
  const TileSpec spec = spec_of(copy_traits, request);
  const KernelPlan plan = plan_tiles(request);
  const Kernel kernel = fixture.runtime.kernel(plan);
  CHECK(fixture.device->allowed == std::vector{launch_shared_bytes(spec)});

  const PreparedLaunch launch = kernel.prepare(plan);
  REQUIRE(fixture.device->encoded.size() == 2);
  CHECK(fixture.device->encoded[0].spec == tensor_map(spec, 0, view));
  CHECK(fixture.device->encoded[0].spec.l2_promotion == L2Promotion::b128);
  CHECK(fixture.device->encoded[0].address == launch_out);
  CHECK(fixture.device->encoded[1].spec == tensor_map(spec, 1, view));
  CHECK(fixture.device->encoded[1].address == launch_in);
  CHECK(launch.bytes_moved() == 2ULL * 1000 * 400 * 4);

  const Seen seen = fixture.seen(plan, [&] { launch(some_stream); });
  CHECK(seen.stream == some_stream);
  CHECK(seen.names == std::vector<std::string>{"destination", "source",
                                               "grid"});  // rows are multiples of 16 bytes: no tail
  CHECK(seen.word("destination") == 0);                   // the numbers of the maps
  CHECK(seen.word("source") == 1);
  CHECK(seen.tiles(2) == std::vector<std::uint32_t>{16, 13});
  CHECK(seen.shape.grid == std::array{16U * 13U / spec.tiles_per_cta, 1U, 1U});
  CHECK(seen.shape.block == std::array{threads(spec), 1U, 1U});
  CHECK(seen.shape.shared_bytes == launch_shared_bytes(spec));

  // With few tiles the same kernel gets one CTA a tile.
  const TensorView small = dense(ElementType::f32, {65, 32});
  TileRequest little = request_of("copy", small, small);
  little.tiles = request.tiles;
  const KernelPlan few = plan_tiles(little);
  CHECK(few.key() == plan.key());
  const Seen again = fixture.seen(few, [&] { kernel.launch(few, some_stream); });
  CHECK(again.shape.grid[0] == 1);
  CHECK(again.tiles(2) == std::vector<std::uint32_t>{2, 1});
}

TEST_CASE("a persistent grid has no more CTAs than are resident, and no more than tiles") {
  LaunchFixture fixture;
  const std::array<std::uint32_t, 2> box{8, 32};
  const auto request = [&](const Shape& shape) {
    const TensorView view = dense(ElementType::f32, shape);
    TileRequest one = request_of("copy", view, view);
    one.tiles = {.box = box, .ctas_per_sm = 2, .tiles_per_cta = 0};
    return one;
  };
  const TileSpec spec = spec_of(copy_traits, request({1000, 400}));
  CHECK(spec.tiles_per_cta == 0);
  CHECK(launch_shared_bytes(spec) == shared_layout(spec).bytes);
  CHECK(fixture.launched(plan_tiles(request({1000, 400}))).shape.grid[0] == 132 * 2);  // of 125 x 13 tiles
  CHECK(fixture.launched(plan_tiles(request({65, 32}))).shape.grid[0] == 9);
  // The number depends on the chip of the plan.
  TileRequest smaller_chip = request({1000, 400});
  smaller_chip.chip.sm_count = 10;
  CHECK(plan_tiles(smaller_chip).launch_shape().grid[0] == 10 * 2);
}

TEST_CASE("a grid that is not persistent allocates shared memory that limits the CTAs of an SM") {
  const TensorView view = dense(ElementType::f32, {1000, 400});
  for (std::uint32_t ctas = 1; ctas <= 8; ++ctas) {
    TileRequest request = request_of("copy", view, view);
    request.tiles = {.ctas_per_sm = ctas, .tiles_per_cta = 2};
    const std::uint32_t each =
        plan_tiles(request).launch_shape().shared_bytes + 1024;  // memory that the system reserves
    CAPTURE(ctas);
    CHECK(each * ctas <= 228 * 1024);
    CHECK(each * (ctas + 1) > 228 * 1024);
  }
}

TEST_CASE("if rows are no multiple of 16 bytes, the map covers whole chunks and a tail the rest") {
  LaunchFixture fixture;
  const TensorView view = TensorView::strided(ElementType::f32, {1000, 402}, {404, 1});
  const Seen seen = fixture.launched(plan_tiles(request_of("copy", view, view)));
  CHECK(fixture.device->encoded.at(0).spec.shape[1] == 400);
  CHECK(fixture.device->encoded.at(1).spec.shape[1] == 402);
  CHECK(seen.names.back() == "tail");
  CHECK(seen.numbers<std::uint64_t>("tail", 3) == std::vector<std::uint64_t>{launch_out, 404ULL * 4, 4});
  CHECK(seen.numbers<std::uint32_t>("tail", 3, 24) == std::vector<std::uint32_t>{1000, 402, 400});
}

TEST_CASE("the map of a copy with element strides covers only the elements that are moved") {
  LaunchFixture fixture;
  const TensorView source = dense(ElementType::f32, {101, 64});
  const std::array<std::uint32_t, 2> box{20, 32};
  const std::array<std::uint32_t, 2> element_strides{2, 1};
  TileRequest request = request_of("copy", source, source);
  request.tiles = {.box = box, .element_strides = element_strides};
  request.destination.view = destination_view(request);
  CHECK(request.destination.view == dense(ElementType::f32, {51, 64}));
  const KernelPlan plan = plan_tiles(request);
  CHECK(fixture.launched(plan).tiles(2) == std::vector<std::uint32_t>{6, 2});  // ceil(51 / 10), 64 / 32
  CHECK(plan.bytes_moved() == 2ULL * 51 * 64 * 4);
}

TEST_CASE("map: a launch gets the maps of all inputs and of the output") {
  LaunchFixture fixture;
  const std::array views{dense(ElementType::f16, {9, 70, 64}), dense(ElementType::f32, {9, 70, 64}),
                         dense(ElementType::f16, {9, 70, 64})};
  TileRequest request = request_of("map", dense(ElementType::bf16, {9, 70, 64}), views[0], "x0 * x1 + x2");
  request.sources.push_back({views[1], launch_in + (1 << 20)});
  request.sources.push_back({views[2], launch_in + (1 << 24)});
  request.tiles.oob_fill = OobFill::nan;
  const TileSpec spec = spec_of(map_traits, request);
  const KernelPlan plan = plan_tiles(request);
  const Seen seen = fixture.launched(plan);
  std::map<DevicePtr, std::uint64_t> number_of;  // the number of the tensor map with an address
  for (const auto& map : fixture.device->encoded) number_of.emplace(map.address, number_of.size());
  REQUIRE(number_of.size() == 4);
  CHECK(seen.word("x0") == number_of.at(launch_in));
  CHECK(seen.word("x1") == number_of.at(launch_in + (1 << 20)));
  CHECK(seen.word("x2") == number_of.at(launch_in + (1 << 24)));
  CHECK(seen.word("out") == number_of.at(launch_out));
  for (const auto& [spec_of_map, address] : fixture.device->encoded) {
    INFO(std::hex << address);
    if (address != launch_out) CHECK(spec_of_map.oob_fill == OobFill::nan);
  }
  CHECK(plan.bytes_moved() == 9ULL * 70 * 64 * (2 + 4 + 2 + 2));
  for (std::uint32_t d = 0; d < 3; ++d) {
    CHECK(seen.tiles(3)[d] == (request.destination.view.shape[d] + spec.tile[d] - 1) / spec.tile[d]);
  }
}

TEST_CASE("snapshot: a launch gets the source's map and grid, and the output's address") {
  LaunchFixture fixture;
  const TensorView source = dense(ElementType::u16, {33, 128});
  const std::array<std::uint32_t, 2> box{16, 64};
  TileRequest request = request_of("snapshot", source, source);
  request.tiles = {.box = box, .swizzle = Swizzle::b128};
  request.destination.view = destination_view(request);
  const KernelPlan plan = plan_tiles(request);
  const Seen seen = fixture.launched(plan);
  CHECK(fixture.device->encoded.size() == 1);
  CHECK(seen.word("source") == 0);
  CHECK(seen.word("images") == launch_out);
  CHECK(seen.tiles(2) == std::vector<std::uint32_t>{3, 2});
  CHECK(plan.bytes_moved() == 33 * 128 * 2 + 6 * 16 * 128);

  request.destination.address += 8;
  const Rules broken = rules(request);
  REQUIRE(broken.size() == 1);
  CHECK_THAT(broken[0], ContainsSubstring("alignment") && ContainsSubstring("output"));
  CHECK_THAT(error_of([&] { return plan_tiles(request); }).what(), ContainsSubstring("multiple of 16"));
}

TEST_CASE("bulk: a launch gets two addresses and a count, and no map") {
  LaunchFixture fixture;
  const TensorView view = dense(ElementType::i32, {1'000'003});
  TileRequest request = request_of("bulk", view, view, "x + 1");
  request.sources[0].address += 4;
  request.destination.address += 8;
  const TileSpec spec = spec_of(bulk_traits, request);
  const KernelPlan plan = plan_tiles(request);
  const Seen seen = fixture.launched(plan);
  CHECK(fixture.device->encoded.empty());
  CHECK(seen.names == std::vector<std::string>{"out", "in", "count"});
  CHECK(seen.word("in") == launch_in + 4);
  CHECK(seen.word("out") == launch_out + 8);
  CHECK(seen.word("count") == 1'000'003);
  CHECK(seen.shape.grid[0] ==
        (1'000'003 + spec.tile[0] * spec.tiles_per_cta - 1) / (spec.tile[0] * spec.tiles_per_cta));
  CHECK(plan.bytes_moved() == 2ULL * 1'000'003 * 4);

  TileRequest in_place = request;
  in_place.destination.address = request.sources[0].address;
  CHECK(rules(in_place).empty());
  in_place.destination.address += 4;
  REQUIRE(rules(in_place).size() == 1);
  CHECK_THAT(rules(in_place)[0], StartsWith("memory.overlap of "));
  TileRequest odd = request;
  odd.destination.address = launch_out + 2;
  REQUIRE(rules(odd).size() == 1);
  CHECK_THAT(rules(odd)[0], StartsWith("address.alignment of "));
  CHECK_THAT(error_of([&] { return plan_tiles(odd); }).what(), ContainsSubstring("a multiple of 4 bytes"));
}

TEST_CASE("operands may overlap only if they are the same memory and the family works element by element") {
  const TensorView view = dense(ElementType::f32, {256, 64});
  TileRequest map = request_of("map", view, view, "x * 2");
  map.destination.address = launch_in;
  CHECK(rules(map).empty());
  map.destination.address = launch_in + 256;
  REQUIRE(rules(map).size() == 1);
  CHECK_THAT(rules(map)[0], StartsWith("memory.overlap of "));

  TileRequest copy = request_of("copy", view, view);
  copy.destination.address = launch_in;
  REQUIRE(rules(copy).size() == 1);
  CHECK_THAT(rules(copy)[0], StartsWith("memory.overlap of "));

  // A copy of the left half of the columns to the right half.
  const std::array<std::uint64_t, 2> shape{256, 64};
  const std::array<std::int64_t, 2> strides{128, 1};
  const TensorView half = TensorView::strided(ElementType::f32, shape, strides);
  TileRequest halves = request_of("copy", half, half);
  halves.destination.address = launch_in + 64ULL * 4;
  CHECK(rules(halves).empty());
}

TEST_CASE("operands that break rules are refused with all of these rules") {
  LaunchFixture fixture;
  const TensorView view = dense(ElementType::f32, {256, 64});
  TileRequest none = request_of("copy", view, view);
  none.sources.clear();
  CHECK((error_of([&] { return plan_tiles(none); }).code() == ErrorCode::invalid_argument ||
         !rules(none).empty()));

  CHECK_FALSE(rules(request_of("copy", view, dense(ElementType::f16, {256, 64}))).empty());

  TileRequest off = request_of("copy", view, view);
  off.sources[0].address += 8;
  off.destination.address += 4;
  const Rules both = rules(off);
  REQUIRE(both.size() == 2);
  CHECK_THAT(both[0], ContainsSubstring("output: "));
  CHECK_THAT(both[1], ContainsSubstring("input: "));

  const TensorView words = dense(ElementType::u32, {256, 64});
  TileRequest nan_of_integers = request_of("copy", words, words);
  nan_of_integers.tiles.oob_fill = OobFill::nan;
  CHECK(rules(nan_of_integers).size() == 1);

  // A plan may have addresses of 0, which stand for any; a launch may not.
  TileRequest null_request = request_of("copy", view, view);
  null_request.sources[0].address = 0;
  const KernelPlan plan = plan_tiles(null_request);
  const Error error = error_of([&] { return fixture.runtime.kernel(plan).prepare(plan); });
  CHECK(error.code() == ErrorCode::invalid_argument);
  CHECK_THAT(error.what(), ContainsSubstring("without addresses"));
  CHECK(fixture.device->launches == 0);
}

TEST_CASE("a kernel refuses to launch the plan of another kernel") {
  LaunchFixture fixture;
  const TensorView view = dense(ElementType::f32, {256, 64});
  const KernelPlan copy = plan_tiles(request_of("copy", view, view));
  const KernelPlan map = plan_tiles(request_of("map", view, view, "x + 1"));
  const Kernel kernel = fixture.runtime.kernel(copy);
  for (const Error& error :
       {error_of([&] { return kernel.prepare(map); }), error_of([&] { return kernel.launch(map), 0; })}) {
    CHECK(error.code() == ErrorCode::invalid_argument);
    CHECK_THAT(error.what(), ContainsSubstring("tmajit_copy") && ContainsSubstring("map"));
  }
  CHECK(fixture.device->launches == 0);
}

TEST_CASE("a planner's kernel is launched with its views, and can be rebound to other memory") {
  LaunchFixture fixture;
  const auto turned = [](DevicePtr to, DevicePtr from) {
    const Tensor source{dense(ElementType::f32, {512, 1024}), from};
    return Move{.destination = {dense(ElementType::f32, {1024, 512}), to},
                .sources = {permuted(source, {1, 0})}};
  };
  for (const KernelPlan& plan : plan_candidates(turned(launch_out, launch_in))) {
    INFO(plan.choice().text());
    PreparedLaunch launch = fixture.runtime.kernel(plan).prepare(plan);
    const auto bytes_of = [&](const FakeDevice::Launch& one) {
      std::vector<std::byte> all;
      const std::vector<Parameter> parameters = plan.parameters();
      for (std::size_t i = 0; i < parameters.size(); ++i) {
        if (parameters[i].map) continue;
        const auto* const bytes = static_cast<const std::byte*>(one.parameters[i]);
        all.insert(all.end(), bytes, bytes + parameters[i].bytes);
      }
      return all;
    };
    const auto launched = [&](const auto& action) {
      std::vector<std::byte> found;
      fixture.device->on_launch = [&](const FakeDevice::Launch& one) { found = bytes_of(one); };
      action();
      fixture.device->on_launch = nullptr;
      return found;
    };
    fixture.device->encoded.clear();
    launch.rebind(std::array{launch_out + 4096, launch_in - 8192});
    const auto rebound = launched([&] { launch(some_stream); });
    const auto maps = std::move(fixture.device->encoded);
    fixture.device->encoded = {};
    // The candidate with the same kernel and tile, planned for the other memory.
    const std::vector<KernelPlan> there = plan_candidates(turned(launch_out + 4096, launch_in - 8192));
    const auto same = std::ranges::find_if(there, [&](const KernelPlan& other) {
      return other.key() == plan.key() && other.choice() == plan.choice();
    });
    REQUIRE(same != there.end());
    const auto expected = launched([&] { fixture.runtime.kernel(*same).launch(*same, some_stream); });
    CHECK(rebound == expected);
    REQUIRE(maps.size() == fixture.device->encoded.size());
    for (std::size_t i = 0; i < maps.size(); ++i) {
      CHECK(maps[i].address == fixture.device->encoded[i].address);
      CHECK(maps[i].spec == fixture.device->encoded[i].spec);
    }
    CHECK(error_of([&] { return launch.rebind(std::array{launch_out}), 0; }).code() ==
          ErrorCode::invalid_argument);
  }
}

TEST_CASE("a prepared launch makes one device call and allocates nothing, on any thread") {
  LaunchFixture fixture;
  const TensorView view = dense(ElementType::f32, {256, 64});
  fixture.device->on_launch = nullptr;
  PreparedLaunch prepared = [&] {
    Runtime runtime({.device = fixture.device, .cache_directory = std::nullopt, .compile = {}});
    const KernelPlan plan = plan_tiles(request_of("copy", view, view));
    return runtime.kernel(plan).prepare(plan);
  }();
  CHECK(fixture.device->kernels_alive() == 1);  // the launch keeps its kernel
  PreparedLaunch launch = std::move(prepared);

  fixture.device->encoded.reserve(64);
  const std::array<DevicePtr, 2> other_addresses{launch_out + 4096, launch_in + 4096};
  const std::size_t before = allocations();
  launch(some_stream);
  CHECK(allocations() == before);
  launch.rebind(other_addresses);
  CHECK(allocations() == before);
  launch(some_stream);
  CHECK(allocations() == before);
  CHECK(fixture.device->launches == 2);

  std::vector<std::jthread> threads;
  threads.reserve(4);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 1000; ++i) launch(some_stream);
    });
  }
  threads.clear();
  CHECK(fixture.device->launches == 4002);
}

TEST_CASE("host time of launches, without the device's, is below 0.5 and 2 microseconds") {
  LaunchFixture fixture;
  fixture.device->on_launch = nullptr;
  const TensorView view = dense(ElementType::f32, {256, 64});
  const KernelPlan plan = plan_tiles(request_of("copy", view, view));
  const Kernel kernel = fixture.runtime.kernel(plan);
  PreparedLaunch prepared = kernel.prepare(plan);
  // The fastest of many batches.
  const auto nanoseconds = [&](const auto& action) {
    constexpr int batches = 100;
    constexpr int runs = 200;
    double best = 1e9;
    for (int b = 0; b < batches; ++b) {
      fixture.device->encoded.clear();
      const auto start = std::chrono::steady_clock::now();
      for (int i = 0; i < runs; ++i) action();
      const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
      best = std::min(best, took.count() / runs);
    }
    return best;
  };
  const std::array<DevicePtr, 2> other_addresses{launch_out + 4096, launch_in + 4096};
  const double ready = nanoseconds([&] { prepared(some_stream); });
  const double rebound = nanoseconds([&] {
    prepared.rebind(other_addresses);
    prepared(some_stream);
  });
  const double planned = nanoseconds([&] { kernel.launch(plan, some_stream); });
  WARN("prepared launch: " << ready << " ns; rebound, with two maps: " << rebound
                           << " ns; launch of a plan, with two maps: " << planned << " ns");
#if TMAJIT_MEASURABLE
  CHECK(ready < 500);
  CHECK(rebound < 2000);
  CHECK(planned < 2000);
#endif
}

TEST_CASE("found: addresses that are in no device's memory are refused") {
  CHECK(error_of([] { Buffer(nullptr, 64); }).code() == ErrorCode::unavailable);
  const Runtime runtime({.cache_directory = std::nullopt});
  CHECK(error_of([&] { Buffer(runtime.device(), 64); }).code() == ErrorCode::unavailable);
}

TEST_CASE("found: moved-from plans and kernels stay valid, moved-from launches are refused") {
  LaunchFixture fixture;
  const TensorView view = dense(ElementType::f32, {64, 64});
  std::vector<KernelPlan> plans = plan_kernels(operation::copy({view, launch_out}, {view, launch_in}));
  REQUIRE(plans.size() == 1);
  // NOLINTBEGIN(performance-move-const-arg, bugprone-use-after-move): the subject of this test
  KernelPlan moved_plan = plans[0];
  const KernelPlan taken_plan = std::move(moved_plan);
  CHECK(moved_plan.key() == taken_plan.key());
  Kernel kernel = fixture.runtime.kernel(taken_plan);
  const Kernel taken_kernel = std::move(kernel);
  CHECK(kernel.entry() == taken_kernel.entry());
  PreparedLaunch launch = taken_kernel.prepare(taken_plan);
  const PreparedLaunch taken = std::move(launch);
  taken(some_stream);
  CHECK(error_of([&] { launch(some_stream); }).code() == ErrorCode::invalid_argument);
  CHECK(error_of([&] { launch.rebind({launch_out, launch_in}); }).code() == ErrorCode::invalid_argument);
  CHECK(launch.bytes_moved() == 0);
  // NOLINTEND(performance-move-const-arg, bugprone-use-after-move)
}
