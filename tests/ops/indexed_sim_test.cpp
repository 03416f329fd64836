/// The families of index tensors on the simulated device: indices that select one element several times, all
/// types that are added, flat axes, indices that stop a kernel, many shapes by one kernel, and numbers of
/// vectors beyond 32 bits.
#include "ops/own_memory.hpp"
#include "ops/run_case.hpp"
#include "ptx_alone.hpp"

#include <tmajit/codegen.hpp>
#include <tmajit/error.hpp>
#include <tmajit/operations.hpp>
#include <tmajit/sim.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;
using reference::TestCase;

namespace indexed_test {
namespace {

Runtime sim_runtime(std::uint64_t seed) {
  return Runtime({.device = make_sim_device({.mode = SimOptions::Mode::random, .seed = seed}),
                  .cache_directory = tests::shared_kernels(),
                  .compile = tests::ptx_without_lines});
}

/// A case of dense tensors: the rows of a matrix of `extent` rows, by `count` indices.
TestCase rows_case(const char* operation, ElementType type, std::uint64_t extent, std::uint64_t count,
                   std::uint64_t length, std::uint64_t shift = 0) {
  const bool gathers = std::string_view(operation) == "gather";
  const TensorView table = TensorView::contiguous(type, {extent, length});
  const TensorView rows = TensorView::contiguous(type, {count, length});
  TestCase made = reference::dense_case(
      operation, {}, {gathers ? rows : table},
      {gathers ? table : rows, TensorView::contiguous(ElementType::i64, {count})}, shift);
  made.indices = {{.source = 1, .extent = extent, .outside = true}};
  return made;
}

/// A buffer with these elements.
template <class T>
Buffer uploaded(const std::shared_ptr<Device>& device, const std::vector<T>& elements) {
  Buffer buffer(device, elements.size() * sizeof(T));
  device->memory().copy_in(buffer.address(), std::as_bytes(std::span(elements)), nullptr);
  return buffer;
}

}  // namespace

TEST_CASE("all types are added, by vectors and one by one, to few rows and to many") {
  Runtime runtime = sim_runtime(1);
  using enum ElementType;
  for (const ElementType type : {i32, u32, i64, u64, f16, bf16, f32, f32_ftz, f64}) {
    for (const std::uint64_t length : {1, 2, 3, 4, 8, 24}) {
      for (const std::uint64_t extent : {1, 50}) {
        TestCase made = rows_case("scatter_add", type, extent, 40, length, length % 3);
        INFO(made.text());
        CHECK(tests::run_candidates(runtime, made, length) == "");
        made.arguments.set("deterministic", "yes");
        CHECK(tests::run_candidates(runtime, made, length) == "");
      }
    }
  }
}

TEST_CASE("deterministic additions leave the bits of a loop over the index") {
  const auto device = make_sim_device({.mode = SimOptions::Mode::random, .seed = 5});
  const Runtime runtime(
      {.device = device, .cache_directory = tests::shared_kernels(), .compile = tests::ptx_without_lines});
  constexpr std::uint64_t extent = 30;
  constexpr std::uint64_t count = 700;
  for (const std::uint64_t length : {1, 8, 37}) {
    reference::Random random(length);
    const auto draw = [&] { return static_cast<float>(reference::between(random, 1, 1'000'000)) * 1e-3F; };
    std::vector<float> sums(extent * length);
    std::vector<float> added(count * length);
    for (float& one : sums) one = draw();
    for (float& one : added) one = draw();
    std::vector<std::int64_t> places(count);
    for (std::int64_t& one : places)
      one = static_cast<std::int64_t>(reference::between(random, 0, extent - 1));
    const Buffer from(device, added.size() * sizeof(float));
    const Buffer index(device, places.size() * sizeof(std::int64_t));
    const Buffer to(device, sums.size() * sizeof(float));
    device->memory().copy_in(from.address(), std::as_bytes(std::span(added)), nullptr);
    device->memory().copy_in(index.address(), std::as_bytes(std::span(places)), nullptr);
    device->memory().copy_in(to.address(), std::as_bytes(std::span(sums)), nullptr);
    scatter_add(runtime, Tensor::contiguous(ElementType::f32, {extent, length}, to.address()),
                Tensor::contiguous(ElementType::f32, {count, length}, from.address()),
                {Tensor::contiguous(ElementType::i64, {count}, index.address())}, {.deterministic = true});
    std::vector<float> found(sums.size());
    device->streams().synchronize(nullptr);
    device->memory().copy_out(std::as_writable_bytes(std::span(found)), to.address(), nullptr);
    device->streams().synchronize(nullptr);
    for (std::uint64_t i = 0; i < count; ++i) {
      for (std::uint64_t k = 0; k < length; ++k)
        sums[static_cast<std::uint64_t>(places[i]) * length + k] += added[i * length + k];
    }
    CHECK(found == sums);
  }
}

TEST_CASE("an element that several indices select becomes one of theirs, whole") {
  const auto device = make_sim_device({.mode = SimOptions::Mode::random, .seed = 3});
  const Runtime runtime(
      {.device = device, .cache_directory = tests::shared_kernels(), .compile = tests::ptx_without_lines});
  for (const std::uint64_t length : {1, 2, 4}) {
    constexpr std::uint64_t count = 600;
    std::vector<std::uint64_t> rows(count * length);
    for (std::uint64_t i = 0; i < rows.size(); ++i) rows[i] = (i / length) * 0x1'0000'0001 + 7;
    const std::vector<std::int32_t> places(count, 2);
    const Buffer from(device, rows.size() * 8);
    const Buffer index(device, places.size() * 4);
    const Buffer to(device, 4 * length * 8);
    device->memory().copy_in(from.address(), std::as_bytes(std::span(rows)), nullptr);
    device->memory().copy_in(index.address(), std::as_bytes(std::span(places)), nullptr);
    device->memory().fill(to.address(), std::byte{0x11}, to.bytes(), nullptr);
    scatter(runtime, Tensor::contiguous(ElementType::u64, {4, length}, to.address()),
            Tensor::contiguous(ElementType::u64, {count, length}, from.address()),
            {Tensor::contiguous(ElementType::i32, {count}, index.address())});
    std::vector<std::uint64_t> found(4 * length);
    device->streams().synchronize(nullptr);
    device->memory().copy_out(std::as_writable_bytes(std::span(found)), to.address(), nullptr);
    device->streams().synchronize(nullptr);
    for (std::uint64_t i = 0; i < found.size(); ++i) {
      if (i / length != 2) {
        CHECK(found[i] == 0x1111'1111'1111'1111);
        continue;
      }
      const std::uint64_t low = (found[i] - 7) & 0xffff'ffff;
      CHECK(low < count);
      CHECK(found[i] - 7 == low * 0x1'0000'0001);
    }
  }
}

TEST_CASE("64 lengths of one operation need one kernel") {
  for (const char* const operation : {"gather", "scatter", "scatter_add"}) {
    std::set<std::string> keys;
    for (std::uint64_t n = 1; n <= 64; ++n) {
      const TestCase made = rows_case(operation, ElementType::bf16, 4000, n * 37 % 1000 + 1, 4096);
      const Operation each =
          reference::operation_of(made, std::vector<DevicePtr>{1ULL << 32, 2ULL << 32, 3ULL << 32});
      for (const KernelPlan& plan : plan_kernels(each)) keys.emplace(plan.key());
    }
    INFO(operation);
    CHECK(keys.size() == 1);
  }
}

TEST_CASE("a source without elements writes nothing, and an empty dimension has no element to select") {
  Runtime runtime = sim_runtime(4);
  TestCase none = rows_case("scatter", ElementType::f32, 5, 0, 8);
  CHECK(tests::run_candidates(runtime, none, 1) == "");
  const auto device = runtime.device();
  const std::vector<std::int64_t> places{0, 1, -1};
  const Buffer index(device, 3 * 8);
  const Buffer to(device, 3 * 4 * 4);
  device->memory().copy_in(index.address(), std::as_bytes(std::span(places)), nullptr);
  const Tensor empty = Tensor::contiguous(ElementType::f32, {0, 4}, 1 << 20);
  const Tensor rows = Tensor::contiguous(ElementType::f32, {3, 4}, to.address());
  const Tensor at = Tensor::contiguous(ElementType::i64, {3}, index.address());
  gather(runtime, rows, empty, {at}, {.value = 2});
  std::vector<float> found(12);
  device->streams().synchronize(nullptr);
  device->memory().copy_out(std::as_writable_bytes(std::span(found)), to.address(), nullptr);
  device->streams().synchronize(nullptr);
  CHECK(found == std::vector<float>(12, 2));
  CHECK_THROWS_AS(gather(runtime, rows, empty, {at}, {.out_of_range = OutOfRange::clamp}), SpecError);
  CHECK(plan_kernels(operation::scatter(empty, rows, {at})).empty());
}

TEST_CASE("an index out of range stops the kernel by an assertion that names the operation") {
  constexpr std::uint64_t extent = 10;
  constexpr std::uint64_t count = 300;
  constexpr std::uint64_t length = 8;
  const std::vector<std::int32_t> right(count, 3);
  std::vector<std::int32_t> wrong = right;
  wrong[137] = extent;
  const auto run = [&](std::string_view operation, bool deterministic,
                       const std::vector<std::int32_t>& places) {
    const auto device = make_sim_device({.mode = SimOptions::Mode::random, .seed = 6});
    const Runtime runtime(
        {.device = device, .cache_directory = tests::shared_kernels(), .compile = tests::ptx_without_lines});
    const Buffer table(device, extent * length * 4);
    const Buffer rows(device, count * length * 4);
    const Buffer index(device, count * 4);
    device->memory().fill(table.address(), std::byte{1}, table.bytes(), nullptr);
    device->memory().fill(rows.address(), std::byte{2}, rows.bytes(), nullptr);
    device->memory().copy_in(index.address(), std::as_bytes(std::span(places)), nullptr);
    const Tensor x = Tensor::contiguous(ElementType::i32, {extent, length}, table.address());
    const Tensor y = Tensor::contiguous(ElementType::i32, {count, length}, rows.address());
    const Tensor at = Tensor::contiguous(ElementType::i32, {count}, index.address());
    const Tensor terms = Tensor::contiguous(ElementType::i32, {count, 1}, index.address());
    constexpr OutOfRange error = OutOfRange::error;
    if (operation == "gather") gather(runtime, y, x, {at}, {.out_of_range = error});
    if (operation == "gather_sum") gather_sum(runtime, y, x, terms, {}, {.out_of_range = error});
    if (operation == "scatter") scatter(runtime, x, y, {at}, {.out_of_range = error});
    if (operation == "scatter_add")
      scatter_add(runtime, x, y, {at}, {.out_of_range = error, .deterministic = deterministic});
    return device->reports();
  };
  for (const char* const operation : {"gather", "scatter", "scatter_add", "gather_sum"}) {
    for (const bool deterministic : {false, true}) {
      INFO(operation);
      CHECK(run(operation, deterministic, right).empty());
      const std::vector<Report> reports = run(operation, deterministic, wrong);
      REQUIRE(!reports.empty());
      CHECK(reports.front().rule == "trap");
      CHECK(reports.front().found ==
            "assertion `each index is in its dimension' failed in " + std::string(operation) + ", tmajit:1");
    }
  }
}

TEST_CASE("slots of a paged cache are moved in both layouts, whether its axes are one dimension or not") {
  Runtime runtime = sim_runtime(7);
  constexpr std::uint64_t blocks = 6;
  constexpr std::uint64_t places = 4;
  constexpr std::uint64_t heads = 3;
  for (const char* const operation : {"gather", "scatter", "scatter_add", "gather_sum"}) {
    for (const bool heads_first : {false, true}) {
      for (const std::uint64_t length : {8, 5}) {
        const std::string_view name(operation);
        const bool gathers = name.starts_with("gather");
        TensorView cache = TensorView::contiguous(ElementType::f32, {blocks, places, heads, length});
        if (heads_first) {
          const auto row = static_cast<std::int64_t>(length);
          cache = TensorView::strided(ElementType::f32, {blocks, places, heads, length},
                                      {12 * row, row, 4 * row, 1});
        }
        const TensorView rows = TensorView::contiguous(ElementType::f32, {20, heads, length});
        const TensorView index =
            TensorView::contiguous(ElementType::i64, name == "gather_sum" ? Dims{20, 2} : Dims{20});
        TestCase made = reference::dense_case(operation, {{"axes", Dims{0, 1}}, {"flat", "yes"}},
                                              {gathers ? rows : cache}, {gathers ? cache : rows, index});
        made.contents = reference::Contents::whole;
        made.indices = {
            {.source = 1, .extent = blocks * places, .distinct = name == "scatter", .outside = !gathers}};
        INFO(made.text());
        CHECK(tests::run_candidates(runtime, made, length) == "");
        if (name != "scatter_add") continue;
        made.arguments.set("deterministic", "yes");
        CHECK(tests::run_candidates(runtime, made, length) == "");
      }
    }
  }
}

TEST_CASE("expressions of gathered elements of all types, in whole vectors and one by one") {
  Runtime runtime = sim_runtime(9);
  using enum ElementType;
  for (const ElementType type : {u8, i16, i64, e4m3, f16, bf16, tf32, f32_ftz, f64}) {
    for (const ElementType to : {u8, i32, u64, e5m2, bf16, tf32, f64}) {
      for (const std::uint64_t length : {1, 24, 64}) {
        TestCase made = reference::dense_case(
            "gather", {{"expression", "x * p0"}, {"value", 3.0}}, {TensorView::contiguous(to, {50, length})},
            {TensorView::contiguous(type, {30, length}), TensorView::contiguous(i64, {50})}, length % 3);
        made.contents = reference::Contents::whole;
        made.indices = {{.source = 1, .extent = 30, .outside = true}};
        made.numbers = {number(2.0F)};
        INFO(made.text());
        CHECK(tests::run_candidates(runtime, made, length) == "");
      }
    }
  }
}

TEST_CASE("all values of a number share a gather's kernel") {
  std::set<std::string> keys;
  for (const float value : {1.0F, 2.0F, 3.5F}) {
    const Tensor rows = Tensor::contiguous(ElementType::f32, {40, 64}, 1ULL << 32);
    const Tensor table = Tensor::contiguous(ElementType::bf16, {30, 64}, 2ULL << 32);
    const Tensor index = Tensor::contiguous(ElementType::i64, {40}, 3ULL << 32);
    const Operation each = operation::gather(rows, table, {index, number(value)}, {.expression = "x * p0"});
    for (const KernelPlan& plan : plan_kernels(each)) keys.emplace(plan.key());
  }
  CHECK(keys.size() == 1);
}

TEST_CASE("sums of all types of rows, weights and results") {
  Runtime runtime = sim_runtime(8);
  using enum ElementType;
  for (const ElementType type : {u8, i16, i64, e4m3, f16, bf16, f32, f64}) {
    for (const ElementType to : {u8, i32, e5m2, bf16, f32, f64}) {
      for (const std::uint64_t length : {1, 24, 64}) {
        for (const std::uint64_t terms : {1, 11}) {
          std::vector<TensorView> sources{TensorView::contiguous(type, {30, length}),
                                          TensorView::contiguous(u32, {10, terms})};
          if (length > 1) sources.push_back(TensorView::contiguous(terms == 1 ? bf16 : f32, {10, terms}));
          TestCase made =
              reference::dense_case("gather_sum", {}, {TensorView::contiguous(to, {10, length})}, sources);
          made.contents = reference::Contents::whole;
          made.indices = {{.source = 1, .extent = 30, .outside = true}};
          INFO(made.text());
          CHECK(tests::run_candidates(runtime, made, terms) == "");
        }
      }
    }
  }
}

TEST_CASE("ragged bags: one long bag, many short ones, offsets out of range and in any order") {
  const auto device = make_sim_device({.mode = SimOptions::Mode::random, .seed = 10});
  const Runtime runtime(
      {.device = device, .cache_directory = tests::shared_kernels(), .compile = tests::ptx_without_lines});
  constexpr std::int64_t count = 40;
  std::vector<std::int32_t> list(count);
  for (std::int32_t i = 0; i < count; ++i) list[i] = i * 7 % 11 - (i % 3 == 0 ? 11 : 0);
  list[5] = 11;  // out of range
  std::vector<std::vector<std::int64_t>> cases{
      {0, count}, {0, 0, count, count}, {7, 9, 3, 20}, {-5, 4, 1LL << 40, 2}, {count, 0}};
  std::vector<std::int64_t>& each_alone = cases.emplace_back();
  for (std::int64_t i = 0; i <= count; ++i) each_alone.push_back(i);
  for (const std::uint64_t length : {1, 8, 37}) {
    std::vector<std::int32_t> table(11 * length);
    for (std::size_t i = 0; i < table.size(); ++i) table[i] = static_cast<std::int32_t>(i * i % 1000);
    for (const auto& offsets : cases) {
      const std::uint64_t bags = offsets.size() - 1;
      std::vector<std::int32_t> wanted(bags * length);
      for (std::size_t b = 0; b < bags; ++b) {
        const std::int64_t end = std::clamp<std::int64_t>(offsets[b + 1], 0, count);
        for (std::int64_t i = std::clamp<std::int64_t>(offsets[b], 0, count); i < end; ++i) {
          const std::int64_t place = list[i] < 0 ? list[i] + 11 : list[i];
          for (std::size_t k = 0; k < length && place < 11; ++k)
            wanted[b * length + k] += table[static_cast<std::size_t>(place) * length + k];
        }
      }
      const Buffer from = uploaded(device, table);
      const Buffer index = uploaded(device, list);
      const Buffer bounds = uploaded(device, offsets);
      const Buffer to = uploaded(device, std::vector<std::int32_t>(wanted.size(), 77));
      gather_sum(runtime, Tensor::contiguous(ElementType::i32, {bags, length}, to.address()),
                 Tensor::contiguous(ElementType::i32, {11, length}, from.address()),
                 Tensor::contiguous(ElementType::i32, {count}, index.address()), {}, {}, nullptr,
                 Tensor::contiguous(ElementType::i64, {bags + 1}, bounds.address()));
      std::vector<std::int32_t> found(wanted.size());
      device->streams().synchronize(nullptr);
      device->memory().copy_out(std::as_writable_bytes(std::span(found)), to.address(), nullptr);
      device->streams().synchronize(nullptr);
      CHECK(found == wanted);
      CHECK(device->reports().empty());
    }
  }
}

TEST_CASE("bags of an index tensor without elements are empty") {
  const auto device = make_sim_device({.mode = SimOptions::Mode::random, .seed = 11});
  const Runtime runtime(
      {.device = device, .cache_directory = tests::shared_kernels(), .compile = tests::ptx_without_lines});
  const std::vector<std::int32_t> offsets{0, 0, 3};
  const Buffer bounds(device, 12);
  const Buffer to(device, 2 * 4 * 4);
  device->memory().copy_in(bounds.address(), std::as_bytes(std::span(offsets)), nullptr);
  device->memory().fill(to.address(), std::byte{7}, to.bytes(), nullptr);
  gather_sum(runtime, Tensor::contiguous(ElementType::f32, {2, 4}, to.address()),
             Tensor::contiguous(ElementType::f32, {0, 4}, 0), Tensor::contiguous(ElementType::i32, {0}, 0),
             {}, {}, nullptr, Tensor::contiguous(ElementType::i32, {3}, bounds.address()));
  std::vector<float> found(8, 1);
  device->streams().synchronize(nullptr);
  device->memory().copy_out(std::as_writable_bytes(std::span(found)), to.address(), nullptr);
  device->streams().synchronize(nullptr);
  CHECK(found == std::vector<float>(8, 0));
}

TEST_CASE("indices and weights that no bag has may be anything") {
  const auto device = make_sim_device({.mode = SimOptions::Mode::random, .seed = 12});
  const Runtime runtime(
      {.device = device, .cache_directory = tests::shared_kernels(), .compile = tests::ptx_without_lines});
  constexpr std::uint64_t room = 64;
  std::vector<std::int32_t> list(room, 1 << 30);
  std::vector<float> factors(room, std::nanf(""));
  for (std::int32_t i = 0; i < 5; ++i) {
    list.at(i + 2) = i * 3 % 4;
    factors.at(i + 2) = static_cast<float>(i + 1);
  }
  const std::vector<std::int64_t> offsets{2, 4, 4, 7, 7};
  const std::vector<float> table{1, 10, 100, 1000};
  const Buffer index = uploaded(device, list);
  const Buffer weights = uploaded(device, factors);
  const Buffer bounds = uploaded(device, offsets);
  const Buffer from = uploaded(device, table);
  const Buffer to(device, 4 * 4);
  // An index out of range in a bag would stop the kernel.
  gather_sum(runtime, Tensor::contiguous(ElementType::f32, {4}, to.address()),
             Tensor::contiguous(ElementType::f32, {4}, from.address()),
             Tensor::contiguous(ElementType::i32, {room}, index.address()),
             Tensor::contiguous(ElementType::f32, {room}, weights.address()),
             {.out_of_range = OutOfRange::error}, nullptr,
             Tensor::contiguous(ElementType::i64, {5}, bounds.address()));
  std::vector<float> found(4);
  device->streams().synchronize(nullptr);
  device->memory().copy_out(std::as_writable_bytes(std::span(found)), to.address(), nullptr);
  device->streams().synchronize(nullptr);
  CHECK(found == std::vector<float>{2001, 0, 345, 0});
  CHECK(device->reports().empty());
}

TEST_CASE("all lengths of bags share a kernel") {
  std::set<std::string> keys;
  for (const std::uint64_t bags : {1, 2, 33, 500}) {
    for (const std::uint64_t count : {0, 1, 900}) {
      const Operation each =
          operation::gather_sum(Tensor::contiguous(ElementType::bf16, {bags, 4096}, 1ULL << 32),
                                Tensor::contiguous(ElementType::bf16, {300, 4096}, 2ULL << 32),
                                Tensor::contiguous(ElementType::i32, {count}, 3ULL << 32), {}, {},
                                Tensor::contiguous(ElementType::i32, {bags + 1}, 4ULL << 32));
      for (const KernelPlan& plan : plan_kernels(each)) keys.emplace(plan.key());
    }
  }
  CHECK(keys.size() == 1);
}

TEST_CASE("more vectors than 32 bits count are numbered by 64 bits") {
  const Tensor byte = Tensor::strided(ElementType::u8, {std::uint64_t{1} << 32}, {2}, 1ULL << 40);
  const Tensor table = Tensor::contiguous(ElementType::u8, {256}, 1ULL << 36);
  const Tensor index = Tensor::strided(ElementType::i32, {std::uint64_t{1} << 32}, {0}, 1ULL << 37);
  const std::vector<KernelPlan> plans = plan_kernels(operation::gather(byte, table, {index}));
  REQUIRE(plans.size() == 1);
  CHECK(source(plans.front()).text.find("using Number = u64;") != std::string::npos);
  CHECK(plans.front().bytes_read() >= std::uint64_t{1} << 32);
}

}  // namespace indexed_test
