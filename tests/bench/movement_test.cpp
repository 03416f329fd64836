/// Parts of the benchmark program: its list of cases, the counts of bytes, and the check of results.
#include "case_list.hpp"
#include "check.hpp"
#include "distribution.hpp"
#include "machine.hpp"
#include "operations/drawing/expressions.hpp"
#include "planning.hpp"
#include "reference/scalar.hpp"
#include "targets.hpp"
#include "workload.hpp"

#include <tmajit/error.hpp>
#include <tmajit/sim.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>
#include <utility>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

using namespace bench;
using movement::target_of;
using reference::Pattern;
using tmajit::ElementType;

namespace {

Case slice_case(ElementType type, const Shape& to, const Shape& from, std::vector<tmajit::Slice> slices) {
  Case bench_case;
  bench_case.operation = "slice";
  bench_case.sources = {{type, from}};
  bench_case.destinations = {{type, to}};
  bench_case.arguments.set("slices", std::move(slices));
  return bench_case;
}

Case labelled(const std::string& label) {
  for (const Case& bench_case : list_cases({.seed = 1, .tiny = true})) {
    if (bench_case.label() == label) return bench_case;
  }
  throw std::runtime_error("no case " + label);
}

}  // namespace

TEST_CASE("a slice counts the whole 32-byte sectors that it reads") {
  // Each row has 64 bytes. Its bytes 4 to 36 lie in two sectors.
  const Case shifted = slice_case(ElementType::f32, {2, 8}, {4, 16}, {{0, 2, 1}, {1, 9, 1}});
  CHECK(traffic(shifted).bytes() == 2ULL * 2 * 8 * 4);
  CHECK(traffic(shifted).sector_bytes == 2 * 64 + 2 * 8 * 4);
  // Every second element of a 64-byte row: both of its sectors.
  const Case steps = slice_case(ElementType::f32, {4, 8}, {4, 16}, {{0, 4, 1}, {0, 16, 2}});
  CHECK(traffic(steps).sector_bytes == 4 * 64 + 4 * 8 * 4);
  // Elements 128 bytes apart: one sector for each element.
  const Case spaced = slice_case(ElementType::f32, {1, 4}, {1, 128}, {{0, 1, 1}, {0, 128, 32}});
  CHECK(traffic(spaced).sector_bytes == 4 * 32 + 4 * 4);
}

TEST_CASE("labels of cases are unique, and every expression has a text") {
  std::set<std::string> labels;
  for (const bool tiny : {false, true}) {
    labels.clear();
    for (const Case& bench_case : list_cases({.seed = 1, .tiny = tiny})) {
      CAPTURE(bench_case.label());
      CHECK(labels.insert(bench_case.label()).second);
      if (!bench_case.expression.empty())
        CHECK_NOTHROW(expression_text(bench_case.expression, bench_case.data_type()));
      CHECK(buffer_bytes(bench_case, bench_case.sources) >= buffer_layout(bench_case.sources).bytes);
      CHECK(2 * buffer_bytes(bench_case, bench_case.destinations) >= traffic(bench_case).sector_bytes);
    }
  }
  CHECK(labels.size() > 200);
}

TEST_CASE("the check finds one wrong element") {
  const auto device = tmajit::make_sim_device();
  const std::string label =
      GENERATE(std::string("peers: (64,128,256,512)->(3,2,1,0) f32"), std::string("copy: 1 GiB bf16"));
  const Case bench_case = labelled(label);
  const tmajit::Buffer destination(device, buffer_bytes(bench_case, bench_case.destinations));
  const Pattern pattern(bench_case.sources[0].type, 1);

  // The expected values come from loops of this test, not from the library.
  const Shape& shape = bench_case.destinations[0].shape;
  const std::uint64_t size = tmajit::size_of(bench_case.sources[0].type);
  std::vector<std::byte> result(bench_case.destinations[0].bytes());
  const tmajit::Dims axes = bench_case.arguments.dims("axes");
  std::vector<std::uint64_t> pitch(shape.size(), size);
  for (std::size_t d = shape.size() - 1; d-- > 0;)
    pitch[d] = pitch[d + 1] * bench_case.sources[0].shape[d + 1];
  for (std::uint64_t i = 0; i < bench_case.destinations[0].elements(); ++i) {
    std::uint64_t from = 0;
    std::uint64_t rest = i;
    for (std::size_t d = shape.size(); d-- > 0; rest /= shape[d]) {
      from += rest % shape[d] * pitch[axes.empty() ? d : static_cast<std::size_t>(axes[d])];
    }
    std::memcpy(&result[i * size], pattern.at(from), size);
  }
  const auto checked = [&] {
    device->memory().copy_in(destination.address(), result, nullptr);
    return Check(bench_case, pattern, 1).wrong(*device, destination.address(), nullptr);
  };
  CHECK(checked().empty());
  result[result.size() / 2] ^= std::byte{1};
  CHECK_FALSE(checked().empty());
}

TEST_CASE("a wrong value of a computation is found, a rounding is not") {
  const auto device = tmajit::make_sim_device();
  const Case bench_case = labelled("map: silu(a)*b+1 f32");
  const tmajit::Buffer destination(device, buffer_bytes(bench_case, bench_case.destinations));
  const Pattern pattern(ElementType::f32, 1);
  std::vector<float> result(bench_case.destinations[0].elements());
  const BufferLayout layout = buffer_layout(bench_case.sources);
  const auto value = [&](std::size_t array, std::uint64_t i) {
    return reference::as_double(
        reference::decode(ElementType::f32, pattern.at(layout.offsets[array] + 4 * i)));
  };
  for (std::uint64_t i = 0; i < result.size(); ++i) {
    const double a = value(0, i);
    result[i] = std::nextafter(static_cast<float>(a / (1 + std::exp(-a)) * value(1, i) + 1), 0.0F);
  }
  const auto checked = [&] {
    device->memory().copy_in(destination.address(), std::as_bytes(std::span(result)), nullptr);
    return Check(bench_case, pattern, 1).wrong(*device, destination.address(), nullptr);
  };
  CHECK(checked().empty());
  result[3] += 1e-3F;
  CHECK_FALSE(checked().empty());
}

TEST_CASE("memory is filled with the pattern") {
  const auto device = tmajit::make_sim_device();
  const Pattern pattern(ElementType::bf16, 7);
  const std::uint64_t bytes = 2 * pattern.period().size() + 100;
  const tmajit::Buffer buffer(device, bytes);
  fill(*device, pattern, buffer.address(), bytes, nullptr);
  std::vector<std::byte> found(bytes);
  device->memory().copy_out(found, buffer.address(), nullptr);
  for (const std::uint64_t at :
       {std::uint64_t{0}, pattern.period().size() - 2, pattern.period().size(), bytes - 2}) {
    CAPTURE(at);
    CHECK(std::memcmp(&found[at], pattern.at(at), 2) == 0);
  }
}

TEST_CASE("every family has a representative case that is planned with it") {
  for (const tmajit::FamilyInfo& family : tmajit::families()) {
    CAPTURE(family.name);
    const Representative found = representative(family.name);
    CHECK(found.plan().family().name == family.name);
  }
  CHECK_THROWS_AS(representative("teleport"), tmajit::Error);
}

TEST_CASE("a tile of the caller's choice changes the kernel, not the bytes that it moves") {
  const Case bench_case = labelled("tile map: 1 GiB 2a+1 f32");
  const Case other = with_tile(bench_case, {.box = {8, 32}, .stages = 3});
  CHECK(plan_case(bench_case).front().key() != plan_case(other).front().key());
  CHECK(traffic(bench_case).bytes() == traffic(other).bytes());
  CHECK(plan_case(other).front().shape().tile == std::vector<std::uint32_t>{8, 32});
  CHECK_THROWS_AS(plan_case(with_tile(bench_case, {.box = {8, 3}})), tmajit::SpecError);
}

TEST_CASE("large copies have a bandwidth target, small ones a limit of extra time") {
  Case bench_case = labelled("copy: 1 GiB f32");
  CHECK(target_of(bench_case, 100, 98)->met());
  CHECK_FALSE(target_of(bench_case, 100, 96)->met());
  bench_case = labelled("small: 64 KiB copy f32");
  CHECK(target_of(bench_case, 1.3, 1.05)->met());
  CHECK_FALSE(target_of(bench_case, 1.4, 1.05)->met());
  CHECK_FALSE(target_of(labelled("small: 16 MiB copy f32"), 9, 1));
}

TEST_CASE("the list of casts has every pair of different types once") {
  const std::vector<Case> casts = list_cases({.operation = "cast"});
  std::set<std::pair<ElementType, ElementType>> pairs;
  std::size_t quick = 0;
  for (const Case& bench_case : casts) {
    CAPTURE(bench_case.label());
    const Array& from = bench_case.sources.at(0);
    const Array& to = bench_case.destinations.at(0);
    pairs.insert({from.type, to.type});
    CHECK(from.type != to.type);
    CHECK(from.elements() == to.elements());
    CHECK(std::max(from.bytes(), to.bytes()) == 256 * MiB);
    CHECK(operation_of(bench_case).moves.size() == 1);
    CHECK_FALSE(target_of(bench_case, 100, 92.9)->met());
    CHECK(target_of(bench_case, 100, 93.1)->met());
    quick += bench_case.quick ? 1 : 0;
  }
  CHECK(casts.size() == pairs.size());
  CHECK(pairs.size() == tmajit::all_element_types.size() * (tmajit::all_element_types.size() - 1));
  CHECK(quick == 20);
}

TEST_CASE("the ten worst cases are listed, the slowest first") {
  movement::Distribution distribution;
  CHECK(distribution.lines().empty());
  const std::vector<Case> casts = list_cases({.operation = "cast"});
  for (std::size_t i = 0; i < 20; ++i) {
    distribution.add(casts[i], 1.0 - 0.01 * static_cast<double>(7 * i % 20), "kernel");
  }
  const nlohmann::ordered_json worst = distribution.worst();
  REQUIRE(worst.size() == 10);
  CHECK(worst[0]["label"] == casts[17].label());  // 7 * 17 is 19 more than a multiple of 20
  CHECK(worst[0]["ratio"] == 1.0 - 0.19);
  CHECK(worst[9]["ratio"] == 1.0 - 0.10);
  CHECK(distribution.json()[0]["cases"] == 20);
  CHECK(distribution.json()[0]["least"] == worst[0]["ratio"]);
}

TEST_CASE("unknown devices are rejected") {
  CHECK_THROWS_AS(open_device("toaster"), tmajit::Error);
  CHECK_THROWS_AS(open_device("gpu:x"), tmajit::Error);
}
