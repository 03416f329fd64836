// From operands to the driver's arguments: real specs, real kernels, a device that only records.
#include "runtime/allocations.hpp"
#include "runtime/fake_device.hpp"
#include "runtime/measurable.hpp"

#include <tmajit/runtime.hpp>
#include <tmajit/validate.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace tmajit;
using Catch::Matchers::ContainsSubstring;

namespace {

using Shape = std::vector<std::uint64_t>;

constexpr DevicePtr in_at = 0x7f00'0000'0000;
constexpr DevicePtr out_at = 0x7f80'0000'0000;
const auto some_stream = reinterpret_cast<Stream>(std::uintptr_t{0x5000});

struct Bench {
  std::shared_ptr<FakeDevice> device = std::make_shared<FakeDevice>();
  Runtime runtime{{.device = device, .cache_directory = std::nullopt, .compile = {}}};

  /// What one launch hands to the device, its parameters copied: maps by number, the rest by value.
  struct Seen {
    LaunchShape shape;
    Stream stream = nullptr;
    std::vector<std::uint64_t> words;  // the first 8 bytes of the parameters before the tile grid
    std::vector<std::uint32_t> tiles;
    std::vector<std::uint64_t> tail;  // what begins a RowTail: address and strides
    std::vector<std::uint32_t> tail_extents;
    int launches = 0;
  };
  Seen seen;
  std::uint32_t rank = 0;  ///< of the tile grid; 0 for bulk, which has none
  std::size_t grid_at = 0;

  Bench() {
    device->on_launch = [this](const FakeDevice::Launch& launch) { look_at(launch); };
  }

  void look_at(const FakeDevice::Launch& launch) {
    const int before_this = seen.launches;
    seen = {};
    seen.shape = launch.shape;
    seen.stream = launch.stream;
    seen.launches = before_this + 1;
    const auto parameter = [&](std::size_t i, auto& values, std::size_t count, std::size_t offset = 0) {
      values.resize(count);
      std::memcpy(values.data(), static_cast<const std::byte*>(launch.parameters.at(i)) + offset,
                  count * sizeof(values[0]));
    };
    const std::size_t before = rank == 0 ? launch.parameters.size() : grid_at;
    for (std::size_t i = 0; i < before; ++i) {
      std::vector<std::uint64_t> word;
      parameter(i, word, 1);
      seen.words.push_back(word[0]);
    }
    if (rank > 0) parameter(grid_at, seen.tiles, rank);
    if (rank > 0 && launch.parameters.size() > grid_at + 1) {
      parameter(grid_at + 1, seen.tail, 1 + rank);
      parameter(grid_at + 1, seen.tail_extents, rank + 1, (1 + rank) * sizeof(std::uint64_t));
    }
  }
};

TensorView dense(ElementType type, const Shape& shape) {
  return TensorView::contiguous(type, shape);
}

template <class Action>
Error error_of(Action&& action) {
  try {
    (void)action();
  } catch (const Error& error) {
    return error;
  }
  throw std::logic_error("no error was thrown");
}

/// The rules that operands break, by subject.
template <class Action>
std::vector<std::string> subjects_of(Action&& action) {
  std::vector<std::string> subjects;
  try {
    (void)action();
  } catch (const SpecError& error) {
    for (const Violation& violation : error.violations()) subjects.push_back(violation.subject);
  }
  return subjects;
}

}  // namespace

TEST_CASE("copy: two maps and the tile grid, one launch") {
  Bench bench;
  bench.rank = 2;
  bench.grid_at = 2;
  const TensorView view = dense(ElementType::f32, {1000, 400});
  const std::array<std::uint32_t, 2> box{64, 32};
  const KernelSpec spec = copy_spec(view, view, {.box = box});
  const Kernel kernel = bench.runtime.kernel(spec);
  CHECK(bench.device->allowed == std::vector{launch_shared_bytes(spec)});

  const Operand source{view, in_at};
  const PreparedLaunch launch = kernel.prepare({&source, 1}, {view, out_at, L2Promotion::b128});
  REQUIRE(bench.device->encoded.size() == 2);
  CHECK(bench.device->encoded[0].spec == tensor_map(spec, 0, view));
  CHECK(bench.device->encoded[0].address == in_at);
  CHECK(bench.device->encoded[1].spec == tensor_map(spec, 1, view, L2Promotion::b128));
  CHECK(bench.device->encoded[1].address == out_at);
  CHECK(launch.bytes_moved() == 2ULL * 1000 * 400 * 4);

  launch(some_stream);
  CHECK(bench.seen.launches == 1);
  CHECK(bench.seen.stream == some_stream);
  CHECK(bench.seen.words == std::vector<std::uint64_t>{0, 1});  // maps 0 and 1
  CHECK(bench.seen.tiles == std::vector<std::uint32_t>{16, 13});
  CHECK(bench.seen.shape.grid == std::array{16U * 13U / spec.tiles_per_cta, 1U, 1U});
  CHECK(bench.seen.shape.block == std::array{threads(spec), 1U, 1U});
  CHECK(bench.seen.shape.shared_bytes == launch_shared_bytes(spec));

  CHECK(bench.seen.tail_extents == std::vector<std::uint32_t>{1000, 400, 400});  // nothing left

  // Few tiles: no idle CTAs.
  const TensorView small = dense(ElementType::f32, {65, 32});
  const Operand small_source{small, in_at};
  kernel.launch({&small_source, 1}, {small, out_at}, some_stream);
  CHECK(bench.seen.shape.grid[0] == 1);
  CHECK(bench.seen.tiles == std::vector<std::uint32_t>{2, 1});
}

TEST_CASE("a persistent grid has no more CTAs than are resident, and no more than tiles") {
  Bench bench;
  bench.rank = 2;
  bench.grid_at = 2;
  const TensorView view = dense(ElementType::f32, {1000, 400});
  const std::array<std::uint32_t, 2> box{8, 32};
  const KernelSpec spec = copy_spec(view, view, {.box = box, .ctas_per_sm = 2, .tiles_per_cta = 0});
  CHECK(spec.tiles_per_cta == 0);
  CHECK(launch_shared_bytes(spec) == shared_layout(spec).bytes);
  const Operand source{view, in_at};
  const Kernel kernel = bench.runtime.kernel(spec);
  kernel.launch({&source, 1}, {view, out_at});
  CHECK(bench.seen.shape.grid[0] == 132 * 2);  // of 125 x 13 tiles
  const TensorView small = dense(ElementType::f32, {65, 32});
  const Operand small_source{small, in_at};
  kernel.launch({&small_source, 1}, {small, out_at});
  CHECK(bench.seen.shape.grid[0] == 9);
}

TEST_CASE("a grid that is not persistent asks for the shared memory that keeps further CTAs off") {
  const TensorView view = dense(ElementType::f32, {1000, 400});
  for (std::uint32_t ctas = 1; ctas <= 8; ++ctas) {
    const KernelSpec spec = copy_spec(view, view, {.ctas_per_sm = ctas, .tiles_per_cta = 2});
    const std::uint32_t each = launch_shared_bytes(spec) + 1024;  // what the system takes
    CAPTURE(ctas);
    CHECK(each * ctas <= max_shared_bytes_per_sm);
    CHECK(each * (ctas + 1) > max_shared_bytes_per_sm);
  }
}

TEST_CASE("rows that end within a 16-byte chunk: the map ends before, the tail names the rest") {
  Bench bench;
  bench.rank = 2;
  bench.grid_at = 2;
  const TensorView view = TensorView::strided(ElementType::f32, std::array<std::uint64_t, 2>{1000, 402},
                                              std::array<std::int64_t, 2>{404, 1});
  const Operand source{view, in_at};
  bench.runtime.kernel(copy_spec(view, view)).launch({&source, 1}, {view, out_at});
  CHECK(bench.device->encoded.at(0).spec.shape[1] == 402);
  CHECK(bench.device->encoded.at(1).spec.shape[1] == 400);
  CHECK(bench.seen.tail == std::vector<std::uint64_t>{out_at, 404 * 4, 4});
  CHECK(bench.seen.tail_extents == std::vector<std::uint32_t>{1000, 402, 400});
}

TEST_CASE("copy with element strides reads only what it moves") {
  Bench bench;
  bench.rank = 2;
  bench.grid_at = 2;
  const TensorView source = dense(ElementType::f32, {101, 64});
  const std::array<std::uint32_t, 2> box{20, 32};
  const std::array<std::uint32_t, 2> element_strides{2, 1};
  const KernelSpec spec =
      copy_spec(source, dense(ElementType::f32, {51, 64}), {.box = box, .element_strides = element_strides});
  const Operand in{source, in_at};
  const TensorView result = output_view(spec, source);
  const PreparedLaunch launch = bench.runtime.kernel(spec).prepare({&in, 1}, {result, out_at});
  launch();
  CHECK(bench.seen.tiles == std::vector<std::uint32_t>{6, 2});  // ceil(51 / 10), 64 / 32
  CHECK(launch.bytes_moved() == 2ULL * 51 * 64 * 4);
}

TEST_CASE("map: every input's map, then the output's") {
  Bench bench;
  bench.rank = 3;
  bench.grid_at = 4;
  const std::array views{dense(ElementType::f16, {9, 70, 64}), dense(ElementType::f32, {9, 70, 64}),
                         dense(ElementType::f16, {9, 70, 64})};
  const TensorView output = dense(ElementType::bf16, {9, 70, 64});
  const KernelSpec spec = map_spec("x0 * x1 + x2", views, output);
  const std::array inputs{Operand{views[0], in_at}, Operand{views[1], in_at + (1 << 20)},
                          Operand{views[2], in_at + (1 << 24), L2Promotion::none, OobFill::nan}};
  const PreparedLaunch launch = bench.runtime.kernel(spec).prepare(inputs, {output, out_at});
  launch();
  CHECK(bench.seen.words == std::vector<std::uint64_t>{0, 1, 2, 3});
  CHECK(bench.device->encoded[2].spec.oob_fill == OobFill::nan);
  CHECK(bench.device->encoded[3].address == out_at);
  CHECK(launch.bytes_moved() == 9ULL * 70 * 64 * (2 + 4 + 2 + 2));
  for (std::uint32_t d = 0; d < 3; ++d) {
    CHECK(bench.seen.tiles[d] == (output.shape[d] + spec.tile[d] - 1) / spec.tile[d]);
  }
}

TEST_CASE("snapshot: the source's map and grid, the output's address") {
  Bench bench;
  bench.rank = 2;
  bench.grid_at = 2;
  const TensorView source = dense(ElementType::u16, {33, 128});
  const std::array<std::uint32_t, 2> box{16, 64};
  const KernelSpec spec = snapshot_spec(source, {.box = box, .swizzle = Swizzle::b128});
  const TensorView images = output_view(spec, source);
  const Operand in{source, in_at};
  const Kernel kernel = bench.runtime.kernel(spec);
  const PreparedLaunch launch = kernel.prepare({&in, 1}, {images, out_at});
  launch();
  CHECK(bench.device->encoded.size() == 1);
  CHECK(bench.seen.words == std::vector<std::uint64_t>{0, out_at});
  CHECK(bench.seen.tiles == std::vector<std::uint32_t>{3, 2});
  CHECK(launch.bytes_moved() == 33 * 128 * 2 + 6 * 16 * 128);

  const Error error = error_of([&] { return kernel.prepare({&in, 1}, {images, out_at + 8}); });
  CHECK(error.code() == ErrorCode::invalid_argument);
  CHECK_THAT(error.what(), ContainsSubstring("output: address") && ContainsSubstring("multiple of 16"));
}

TEST_CASE("bulk: two addresses and a count, no map") {
  Bench bench;
  const KernelSpec spec = bulk_spec("x + 1", ElementType::i32, ElementType::i32);
  const TensorView view = dense(ElementType::i32, {1'000'003});
  const Operand in{view, in_at + 4};
  const Kernel kernel = bench.runtime.kernel(spec);
  const PreparedLaunch launch = kernel.prepare({&in, 1}, {view, out_at + 8});
  launch();
  CHECK(bench.device->encoded.empty());
  CHECK(bench.seen.words == std::vector<std::uint64_t>{in_at + 4, out_at + 8, 1'000'003});
  CHECK(bench.seen.shape.grid[0] ==
        (1'000'003 + spec.tile[0] * spec.tiles_per_cta - 1) / (spec.tile[0] * spec.tiles_per_cta));
  CHECK(launch.bytes_moved() == 2ULL * 1'000'003 * 4);

  kernel.launch({&in, 1}, {view, in.address});  // in place
  const Error shifted = error_of([&] { return kernel.prepare({&in, 1}, {view, in.address + 4}); });
  CHECK(shifted.code() == ErrorCode::invalid_argument);
  CHECK_THAT(shifted.what(), ContainsSubstring("overlap") && ContainsSubstring("or the same memory"));
  const Error odd = error_of([&] { return kernel.prepare({&in, 1}, {view, out_at + 2}); });
  CHECK_THAT(odd.what(), ContainsSubstring("not a multiple of 4 bytes"));
}

TEST_CASE("in place needs the same memory and a family that computes element by element") {
  Bench bench;
  const TensorView view = dense(ElementType::f32, {256, 64});
  const Operand in{view, in_at};
  const Kernel map = bench.runtime.kernel(map_spec("x * 2", {&view, 1}, view));
  map.launch({&in, 1}, {view, in_at});
  CHECK(error_of([&] {
          return map.prepare({&in, 1}, {view, in_at + 256});
        }).code() == ErrorCode::invalid_argument);

  const Kernel copy = bench.runtime.kernel(copy_spec(view, view));
  const Error error = error_of([&] { return copy.prepare({&in, 1}, {view, in_at}); });
  CHECK(error.code() == ErrorCode::invalid_argument);
  CHECK_THAT(error.what(), ContainsSubstring("overlap; they must be apart."));

  // The left half of the columns to the right half.
  const std::array<std::uint64_t, 2> shape{256, 64};
  const std::array<std::int64_t, 2> strides{128, 1};
  const TensorView half = TensorView::strided(ElementType::f32, shape, strides);
  const Operand left{half, in_at};
  copy.launch({&left, 1}, {half, in_at + 64 * 4});
}

TEST_CASE("operands that break a rule are refused, with every rule they break") {
  Bench bench;
  const TensorView view = dense(ElementType::f32, {256, 64});
  const KernelSpec spec = copy_spec(view, view);
  const Kernel kernel = bench.runtime.kernel(spec);

  const Error count = error_of([&] { return kernel.prepare({}, {view, out_at}); });
  CHECK(count.code() == ErrorCode::invalid_argument);
  CHECK_THAT(count.what(), ContainsSubstring("takes 1 input, but 0 were given"));

  const Operand wrong_type{dense(ElementType::f16, {256, 64}), in_at};
  CHECK(error_of([&] {
          return kernel.prepare({&wrong_type, 1}, {view, out_at});
        }).code() == ErrorCode::illegal_spec);

  const Operand off{view, in_at + 8};
  const auto subjects = subjects_of([&] { return kernel.prepare({&off, 1}, {view, out_at + 4}); });
  REQUIRE(subjects.size() == 2);
  CHECK_THAT(subjects[0], ContainsSubstring("input: "));
  CHECK_THAT(subjects[1], ContainsSubstring("output: "));

  const TensorView words = dense(ElementType::u32, {256, 64});
  const Operand nan_of_integers{words, in_at, L2Promotion::none, OobFill::nan};
  const Kernel of_words = bench.runtime.kernel(copy_spec(words, words));
  CHECK(subjects_of([&] { return of_words.prepare({&nan_of_integers, 1}, {words, out_at}); }).size() == 1);

  const Operand nowhere{view, 0};
  CHECK_THAT(error_of([&] {
               return kernel.prepare({&nowhere, 1}, {view, out_at});
             }).what(),
             ContainsSubstring("input: the address is null"));
  CHECK(bench.device->launches == 0);
}

TEST_CASE("a prepared launch makes one device call and no allocation, on any thread") {
  Bench bench;
  bench.device->on_launch = nullptr;
  const TensorView view = dense(ElementType::f32, {256, 64});
  const Operand in{view, in_at};
  PreparedLaunch prepared = [&] {
    Runtime runtime({.device = bench.device, .cache_directory = std::nullopt, .compile = {}});
    return runtime.kernel(copy_spec(view, view)).prepare({&in, 1}, {view, out_at});
  }();
  CHECK(bench.device->alive == 1);  // the launch keeps its kernel
  const PreparedLaunch launch = std::move(prepared);

  const std::size_t before = allocations();
  launch(some_stream);
  CHECK(allocations() == before);
  CHECK(bench.device->launches == 1);

  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 1000; ++i) launch(some_stream);
    });
  }
  threads.clear();
  CHECK(bench.device->launches == 4001);
}

TEST_CASE("what a launch costs before it reaches the device") {
  Bench bench;
  bench.device->on_launch = nullptr;
  const TensorView view = dense(ElementType::f32, {256, 64});
  const Operand in{view, in_at};
  const Operand out{view, out_at};
  const Kernel kernel = bench.runtime.kernel(copy_spec(view, view));
  const PreparedLaunch prepared = kernel.prepare({&in, 1}, out);
  // The best of many batches, as for a memory hit.
  const auto nanoseconds = [&](const auto& action) {
    constexpr int batches = 100;
    constexpr int runs = 200;
    double best = 1e9;
    for (int b = 0; b < batches; ++b) {
      bench.device->encoded.clear();
      const auto start = std::chrono::steady_clock::now();
      for (int i = 0; i < runs; ++i) action();
      const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
      best = std::min(best, took.count() / runs);
    }
    return best;
  };
  const double ready = nanoseconds([&] { prepared(some_stream); });
  const double bound = nanoseconds([&] { kernel.launch({&in, 1}, out, some_stream); });
  WARN("prepared launch: " << ready << " ns; launch, with validation and two maps: " << bound << " ns");
#if TMAJIT_MEASURABLE
  CHECK(ready < 500);
  CHECK(bound < 2000);
#endif
}
