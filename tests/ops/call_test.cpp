// Operations in one call: calls with equal arguments share a plan, other calls do not.
#include "ops/call.hpp"

#include "lib/allocations.hpp"
#include "ops/call_fixture.hpp"
#include "ops/move_caches.hpp"

#include <tmajit/error.hpp>
#include <tmajit/move.hpp>
#include <tmajit/operations.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;
using tests::called_destination, tests::called_source, tests::CallFixture, tests::tensor_of;

TEST_CASE("a repeated call neither plans nor allocates, also at other addresses") {
  CallFixture fixture;
  const std::array<std::uint32_t, 2> axes{1, 0};
  const auto call = [&](DevicePtr shift) {
    permute(fixture.runtime, tensor_of({64, 96}, called_destination + shift),
            tensor_of({96, 64}, called_source + shift), axes);
  };
  call(0);
  call(1 << 20);
  const TensorView to = TensorView::contiguous(ElementType::f32, {64, 96});
  const TensorView from = TensorView::contiguous(ElementType::f32, {96, 64});
  const std::size_t before = allocations();
  for (DevicePtr i = 0; i < 50; ++i) {
    permute(fixture.runtime, {to, called_destination + 4096 * i}, {from, called_source + 4096 * i}, axes);
  }
  CHECK(allocations() == before);
  CHECK(fixture.device->loads == 1);
  CHECK(fixture.device->launches == 52);
}

TEST_CASE("found: a repeated call of rows in place neither plans nor allocates") {
  CallFixture fixture;
  const Rowwise steps{.steps = "m = max(x); y = x - m"};
  const TensorView view = TensorView::contiguous(ElementType::f32, {64, 96});
  const auto call = [&](DevicePtr shift) {
    const std::array rows{Tensor{view, called_destination + shift}};
    rowwise(fixture.runtime, rows, steps, rows);
  };
  call(0);
  call(1 << 20);
  fixture.check_repeats(call);
  CHECK(fixture.device->launches == 52);
}

TEST_CASE("a repeated call of a recipe neither plans nor allocates, and moves each part with its tensor") {
  CallFixture fixture;
  std::vector<std::vector<std::byte>> seen;
  fixture.device->on_launch = [&](const FakeDevice::Launch& launch) {
    const auto* const bytes = static_cast<const std::byte*>(launch.parameters[0]);
    seen.emplace_back(bytes, bytes + 48);  // the addresses, extents and strides begin here
  };
  const TensorView rows = TensorView::contiguous(ElementType::f32, {64, 96});
  const TensorView half = TensorView::contiguous(ElementType::f32, {48});
  const auto call = [&](DevicePtr shift) {
    const std::array to{Tensor{rows, called_destination}};
    const std::array from{Tensor{rows, called_source + shift}, Tensor{half, called_source + (2 << 20)},
                          Tensor{half, called_source + (3 << 20)}};
    rotary(fixture.runtime, to, from);
  };
  call(0);
  call(1 << 20);
  CHECK(fixture.device->loads == 1);
  CHECK((seen.size() == 2 && seen[0] != seen[1]));
  fixture.device->on_launch = nullptr;
  fixture.check_repeats(call);
}

TEST_CASE("a repeated gather neither plans nor allocates") {
  CallFixture fixture;
  const TensorView rows = TensorView::contiguous(ElementType::f32, {64, 96});
  const TensorView places = TensorView::contiguous(ElementType::i64, {64});
  const auto call = [&](DevicePtr shift) {
    gather(fixture.runtime, {rows, called_destination + shift}, {rows, called_source + shift},
           {Tensor{places, called_source + (1 << 28)}});
  };
  call(0);
  call(1 << 20);
  fixture.check_repeats(call);
}

TEST_CASE("calls of recipes that differ in one option are different calls") {
  CallFixture fixture;
  const Tensor to = tensor_of({64, 64}, called_destination);
  const Tensor from = tensor_of({64, 64}, called_source);
  const Tensor eight_bits = tensor_of({64, 64}, called_destination, ElementType::i8);
  const Tensor scales = tensor_of({64, 64}, called_destination + (1 << 20));
  // Each call needs a kernel of its own.
  const auto is_new = [&](const auto& call) {
    const int before = fixture.device->loads;
    call();
    const int after = fixture.device->loads;
    call();
    CHECK(fixture.device->loads == after);
    return after > before;
  };
  CHECK(is_new([&] { rms_norm(fixture.runtime, {to}, {from}); }));
  CHECK(is_new([&] { rms_norm(fixture.runtime, {to}, {from}, {.axis = 0}); }));
  // Values of eps share a kernel, and each launch passes its own. The parameter is params::RowPlan<2>: the
  // addresses of the destination and the source, then the number.
  std::vector<std::uint64_t> passed;
  fixture.device->on_launch = [&](const FakeDevice::Launch& launch) {
    std::uint64_t& bits = passed.emplace_back();
    std::memcpy(&bits, static_cast<const std::byte*>(launch.parameters[0]) + 16, sizeof bits);
  };
  CHECK_FALSE(is_new([&] { rms_norm(fixture.runtime, {to}, {from}, {.eps = 0}); }));
  CHECK_FALSE(is_new([&] { rms_norm(fixture.runtime, {to}, {from}, {.eps = 1e-5}); }));
  const Plan planned = plan(fixture.runtime, operation::rms_norm({to}, {from}, {.eps = 0.5}));
  planned();
  planned({to.address + 4096}, {from.address + 4});  // moved, with another alignment
  const auto bits_of = [](float eps) { return number(eps).address; };
  CHECK(passed == std::vector<std::uint64_t>{bits_of(0), bits_of(0), bits_of(1e-5F), bits_of(1e-5F),
                                             bits_of(0.5F), bits_of(0.5F)});
  fixture.device->on_launch = nullptr;
  CHECK(is_new([&] { l2_normalize(fixture.runtime, {to}, {from}); }));
  CHECK(is_new([&] { quantize_rows(fixture.runtime, {eight_bits, scales}, {from}, {.block = 1}); }));
  const Tensor fewer = tensor_of({64, 32}, called_destination + (1 << 20));
  CHECK(is_new([&] { quantize_rows(fixture.runtime, {eight_bits, fewer}, {from}, {.block = 2}); }));
  CHECK_THROWS_AS(
      quantize_rows(fixture.runtime, {eight_bits, fewer}, {from}, {.block = 2, .to = ElementType::e4m3}),
      Error);
  const Tensor angles = tensor_of({32}, called_source + (1 << 20));
  CHECK(is_new([&] { rotary(fixture.runtime, {to}, {from, angles, angles}); }));
  CHECK(is_new([&] { rotary(fixture.runtime, {to}, {from, angles, angles}, {.layout = "pairs"}); }));
}

TEST_CASE("calls that differ in more than addresses get plans of their own") {
  CallFixture fixture;
  std::vector<std::vector<std::byte>> seen;
  fixture.device->on_launch = [&](const FakeDevice::Launch& launch) {
    const auto* const bytes = static_cast<const std::byte*>(launch.parameters[0]);
    seen.emplace_back(bytes, bytes + 48);  // the addresses, extents and strides begin here
  };
  const Tensor square = tensor_of({32, 32}, called_source);
  const Tensor out = tensor_of({32, 32}, called_destination);
  const std::array<std::uint32_t, 2> identity{0, 1};
  const std::array<std::uint32_t, 2> turned{1, 0};
  permute(fixture.runtime, out, square, identity);
  permute(fixture.runtime, out, square, turned);
  copy(fixture.runtime, out, square);
  const std::array sources{square};
  map(fixture.runtime, out, "x + 1", sources);
  map(fixture.runtime, out, "x + 2", sources);
  cast(fixture.runtime, out, {square.view, called_source});
  cast(fixture.runtime, out, reinterpreted(square, ElementType::i32));
  const int loads = fixture.device->loads;
  CHECK(loads == 5);  // copy, transposition, two maps, conversion; the other two calls copy like the first
  CHECK(fixture.device->launches == 7);

  // One of two concats that differ only in new_axis is illegal, and finds no plan.
  const Tensor tall = tensor_of({64, 32}, called_destination);
  const Tensor stack = tensor_of({2, 32, 32}, called_destination);
  const std::array halves{square, square};
  concat(fixture.runtime, tall, halves, 0);
  CHECK_THROWS_AS(concat(fixture.runtime, tall, halves, 0, nullptr, true), Error);
  concat(fixture.runtime, stack, halves, 0, nullptr, true);
  CHECK_THROWS_AS(concat(fixture.runtime, stack, halves, 0), Error);
  // Two splits that differ only in drop_axis, too.
  const Tensor row = tensor_of({1, 32, 32}, called_destination);
  split(fixture.runtime, {row}, tensor_of({1, 32, 32}, called_source), 0);
  CHECK_THROWS_AS(split(fixture.runtime, {row}, tensor_of({1, 32, 32}, called_source), 0, nullptr, true),
                  Error);
  split(fixture.runtime, {out}, tensor_of({1, 32, 32}, called_source), 0, nullptr, true);
  CHECK_THROWS_AS(split(fixture.runtime, {out}, tensor_of({1, 32, 32}, called_source), 0), Error);
  const int concats = fixture.device->launches - 7;

  // Steps that differ in a number, and in the axes alone.
  const int launches = fixture.device->launches;
  const int rows = fixture.device->loads;
  const std::array destinations{out};
  for (const std::int64_t axis : {1, 0}) {
    rowwise(fixture.runtime, destinations, {.steps = "y = x / sum(x)", .axes = {axis}}, sources);
    rowwise(fixture.runtime, destinations, {.steps = "y = x / sum(x + 1)", .axes = {axis}}, sources);
  }
  CHECK(fixture.device->loads == rows + 4);
  fixture.device->launches = launches;

  // Casts that differ in the orders, and in the greatest magnitude alone.
  const int casts = fixture.device->loads;
  const Tensor eighth = Tensor::contiguous(ElementType::e4m3, {32, 32}, called_destination);
  const Tensor amax = Tensor::contiguous(ElementType::f32, {}, called_destination + 8192);
  cast_transpose(fixture.runtime, {eighth, amax}, {.orders = CastOrders::plain}, {square});
  cast_transpose(fixture.runtime, {eighth}, {.orders = CastOrders::plain, .amax = false}, {square});
  cast_transpose(fixture.runtime, {eighth}, {.orders = CastOrders::transposed, .amax = false}, {square});
  CHECK(fixture.device->loads == casts + 3);
  fixture.device->launches = launches;

  // Selections that differ in one argument alone.
  const int selections = fixture.device->loads;
  const Tensor first_rows = Tensor::contiguous(ElementType::f32, {32, 32}, called_destination);
  top_k(fixture.runtime, {first_rows}, square);
  top_k(fixture.runtime, {first_rows}, square, {.axis = 0});
  top_k(fixture.runtime, {first_rows}, square, {.largest = false});
  CHECK(fixture.device->loads == selections + 3);
  fixture.device->launches = launches;

  // Gathers that differ in the expression alone.
  const int gathers = fixture.device->loads;
  const Tensor places = Tensor::contiguous(ElementType::i64, {32}, called_source + 8192);
  gather(fixture.runtime, out, square, {places});
  gather(fixture.runtime, out, square, {places}, {.expression = "x + 1"});
  gather(fixture.runtime, out, square, {places}, {.expression = "x + 2"});
  CHECK(fixture.device->loads == gathers + 3);
  fixture.device->launches = launches;

  // Slices and paddings that differ only in their numbers.
  const std::array<Slice, 1> first{Slice{.start = 0, .stop = 16}};
  const std::array<Slice, 1> second{Slice{.start = 16, .stop = 32}};
  const Tensor half = tensor_of({16, 32}, called_destination);
  seen.clear();
  slice(fixture.runtime, half, square, first);
  slice(fixture.runtime, half, square, second);
  REQUIRE(seen.size() == 2);
  CHECK(seen[0] != seen[1]);
  const Padding above{.before = {1, 0}, .value = 0};
  const Padding below{.before = {0, 0}, .value = 0};
  const Tensor framed = tensor_of({33, 32}, called_destination);
  pad(fixture.runtime, framed, square, above);
  pad(fixture.runtime, framed, square, below);
  CHECK(fixture.device->launches == 11 + concats);
}

TEST_CASE("calls by name find the plans of equal calls, and of no others") {
  CallFixture fixture;
  std::vector<std::vector<std::byte>> seen;
  const Tensor source = tensor_of({32, 32}, called_source);
  const Tensor half = tensor_of({16, 32}, called_destination);
  const Tensor whole = tensor_of({32, 32}, called_destination);
  const Arguments first{{"slices", std::vector{Slice{.start = 0, .stop = 16}}}};
  run_operation(fixture.runtime, "slice", {half}, {source}, first);
  const std::size_t before = allocations();
  for (DevicePtr i = 0; i < 50; ++i)
    run_operation(fixture.runtime, "slice", {{half.view, called_destination + 4096 * i}}, {source}, first);
  CHECK(allocations() == before);

  fixture.device->on_launch = [&](const FakeDevice::Launch& launch) {
    const auto* const bytes = static_cast<const std::byte*>(launch.parameters[0]);
    seen.emplace_back(bytes, bytes + 48);  // the addresses, extents and strides begin here
  };
  run_operation(fixture.runtime, "slice", {half}, {source}, first);
  run_operation(fixture.runtime, "slice", {half}, {source},
                {{"slices", std::vector{Slice{.start = 16, .stop = 32}}}});
  REQUIRE(seen.size() == 2);
  CHECK(seen[0] != seen[1]);
  const int loads = fixture.device->loads;
  run_operation(fixture.runtime, "map", {whole}, {source}, {{"expression", "x + 1"}});
  run_operation(fixture.runtime, "map", {whole}, {source}, {{"expression", "x + 2"}});
  CHECK(fixture.device->loads == loads + 2);
  // An argument that the operation does not take is no equal call.
  CHECK_THROWS_AS(run_operation(fixture.runtime, "map", {whole}, {source},
                                {{"expression", "x + 1"}, {"axis", std::int64_t{0}}}),
                  Error);
  CHECK_THROWS_AS(run_operation(fixture.runtime, "map", {whole}, {source}, {}), Error);
}

TEST_CASE("more different calls than the table holds give right results, also when repeated") {
  CallFixture fixture;
  std::vector<std::uint32_t> grids;
  fixture.device->on_launch = [&](const FakeDevice::Launch& launch) {
    grids.push_back(launch.shape.grid[0]);
  };
  const auto all = [&] {
    grids.clear();
    for (std::uint64_t n = 1; n <= 600; ++n) {
      copy(fixture.runtime, tensor_of({n * 4096}, called_destination), tensor_of({n * 4096}, called_source));
    }
    return grids;
  };
  const std::vector<std::uint32_t> once = all();
  CHECK(once.size() == 600);
  CHECK(once.front() < once.back());
  CHECK(all() == once);
}

TEST_CASE("10,000 shapes take no more memory than a full table of plans") {
  CallFixture fixture;
  // Copies tensors of `first` to `end` - 1 times 4096 elements. Returns the largest number of heap bytes.
  const auto copy_lengths = [&](std::uint64_t first, std::uint64_t end) {
    std::size_t peak_bytes = 0;
    for (std::uint64_t n = first; n < end; ++n) {
      copy(fixture.runtime, tensor_of({n * 4096}, called_destination), tensor_of({n * 4096}, called_source));
      fixture.device->encoded.clear();
      peak_bytes = std::max(peak_bytes, heap_bytes());
    }
    return peak_bytes;
  };
  const std::size_t before = heap_bytes();
  const std::size_t full =
      copy_lengths(1, 2000) - before;  // each set of the table has seen 31 plans on average
  const std::size_t later = copy_lengths(2000, 10'000) - before;
  std::cout << "  bytes of " << PlanTable::max_plans << " plans: " << full << ", most later: " << later
            << '\n';
  CHECK(later < full + full / 20);
  CHECK(full < PlanTable::max_plans * 16'000);
}

TEST_CASE("a key holds the words that were added, and different keys have different hashes") {
  std::vector<std::vector<std::uint64_t>> keys;
  std::set<std::uint64_t> hashes;
  for (std::size_t count = 0; count < 300; ++count) {
    for (const std::uint64_t change : {0ULL, 1ULL, 2ULL}) {
      CallKey key;
      std::vector<std::uint64_t> words;
      for (std::size_t i = 0; i < count; ++i) {
        words.push_back(i == count / 2 ? change << 40 : i);
        if (i % 3 == 0) key.add(words.back());
        if (i % 3 != 0) key.add(std::as_bytes(std::span(&words.back(), 1)));
      }
      CHECK(std::ranges::equal(key.words(), words));
      if (count > 0 || change == 0) CHECK(hashes.insert(key.hash()).second);
    }
  }
  CallKey text;
  text.add(std::as_bytes(std::span("abcdefghij", 10)));
  REQUIRE(text.words().size() == 2);
  CHECK(text.words()[1] == ('i' | 'j' << 8));
}

TEST_CASE("a changed tuning table has a larger generation") {
  CallFixture fixture;
  const std::uint64_t before = tuning(fixture.runtime).generation();
  tuning(fixture.runtime)
      .add({.chip = "fake", .shape_class = {.family = "rows"}, .choice = {.family = "rows"}});
  CHECK(tuning(fixture.runtime).generation() > before);
}

TEST_CASE("many short-lived threads share a kernel, which is freed with its runtime") {
  std::optional<CallFixture> fixture(std::in_place);
  const auto call = [&] {
    copy(fixture->runtime, tensor_of({4096}, called_destination), tensor_of({4096}, called_source));
  };
  call();
  for (int round = 0; round < 20; ++round) {
    std::vector<std::jthread> threads(8);
    for (std::jthread& thread : threads) thread = std::jthread(call);
  }
  CHECK(fixture->device->launches == 161);
  const std::shared_ptr<FakeDevice> device = fixture->device;
  CHECK(device->kernels_alive() == 1);
  fixture.reset();
  CHECK(device->kernels_alive() == 0);  // the tables keep no kernel alive
}

namespace {

/// Calls a function when its thread ends.
struct AtThreadEnd {
  std::function<void()> run;
  ~AtThreadEnd() {
    if (run) run();
  }
};

}  // namespace

TEST_CASE("a call during a thread's end uses no plan table, and a new thread gets another table") {
  const CallFixture fixture;
  PlanTable* table_of_new_thread = nullptr;
  PlanTable* table_of_ending_thread = nullptr;
  std::jthread([&] {
    // This object is made before the library's thread-local objects, so it is destroyed after them.
    thread_local AtThreadEnd last;
    last.run = [&] {
      std::jthread([&] { table_of_new_thread = move_caches(fixture.runtime).plans.of_this_thread(); }).join();
      table_of_ending_thread = move_caches(fixture.runtime).plans.of_this_thread();
      copy(fixture.runtime, tensor_of({4096}, called_destination), tensor_of({4096}, called_source));
    };
    copy(fixture.runtime, tensor_of({4096}, called_destination), tensor_of({4096}, called_source));
  }).join();
  CHECK(table_of_new_thread != nullptr);
  CHECK(table_of_ending_thread == nullptr);
  CHECK(fixture.device->launches == 2);
}

TEST_CASE("a refused call does not affect later calls") {
  CallFixture fixture;
  const Tensor out = tensor_of({64}, called_destination);
  CHECK_THROWS_AS(copy(fixture.runtime, out, out), SpecError);
  CHECK_THROWS_AS(copy(fixture.runtime, out, out), SpecError);
  CHECK_NOTHROW(copy(fixture.runtime, out, tensor_of({64}, called_source)));
  CHECK_THROWS_AS(copy(fixture.runtime, out, out), SpecError);
  const Runtime without_device({.cache_directory = std::nullopt});
  CHECK_THROWS_AS(copy(without_device, out, tensor_of({64}, called_source)), Error);
  CHECK(fixture.device->launches == 1);
}
