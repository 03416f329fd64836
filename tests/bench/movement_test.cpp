/// The parts of tmajit-movement: values, bytes counted, and a check that finds what is wrong.
#include "case_list.hpp"
#include "data.hpp"
#include "expressions.hpp"
#include "machine.hpp"
#include "plan_case.hpp"
#include "targets.hpp"
#include "values.hpp"

#include <tmajit/error.hpp>
#include <tmajit/sim.hpp>

#include <array>
#include <cmath>
#include <cstring>
#include <set>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

using namespace movement;
using tmajit::ElementType;

namespace {

std::uint64_t encoded(ElementType type, double value) {
  std::uint64_t bits = 0;
  std::array<std::byte, 8> element{};
  encode(type, value, element.data());
  std::memcpy(&bits, element.data(), tmajit::size_of(type));
  return bits;
}

double decoded(ElementType type, std::uint64_t bits) {
  std::array<std::byte, 8> element{};
  std::memcpy(element.data(), &bits, element.size());
  return decode(type, element.data());
}

Case slice_case(ElementType type, const Shape& from, const Shape& to, std::vector<tmajit::Slice> slices) {
  Case c;
  c.operation = Operation::slice;
  c.sources = {{type, from}};
  c.destinations = {{type, to}};
  c.slices = std::move(slices);
  return c;
}

Case labelled(const std::string& label) {
  for (const Case& c : list_cases({.seed = 1, .tiny = true})) {
    if (c.label() == label) return c;
  }
  throw std::runtime_error("no case " + label);
}

}  // namespace

TEST_CASE("e4m3 holds 448 at most and every code is its own nearest") {
  for (std::uint64_t code = 0; code < 256; ++code) {
    if ((code & 0x7F) == 0x7F) continue;  // NaN
    CAPTURE(code);
    CHECK(encoded(ElementType::e4m3, decoded(ElementType::e4m3, code)) == code);
  }
  CHECK(decoded(ElementType::e4m3, 0x7E) == 448);
  CHECK(decoded(ElementType::e4m3, 0x38) == 1);
  CHECK(decoded(ElementType::e4m3, 0x01) == std::ldexp(1.0, -9));
  CHECK(encoded(ElementType::e4m3, 1e9) == 0x7E);
  CHECK(encoded(ElementType::e4m3, -1e9) == 0xFE);
  CHECK(encoded(ElementType::e4m3, 1.0625) == 0x38);  // between 1 and 1.125, to the even one
  CHECK(encoded(ElementType::e4m3, 1.1875) == 0x3A);  // between 1.125 and 1.25
}

TEST_CASE("bf16 rounds to nearest even, integers wrap") {
  CHECK(encoded(ElementType::bf16, 1.0) == 0x3F80);
  CHECK(encoded(ElementType::bf16, 1 + 1.0 / 256) == 0x3F80);
  CHECK(encoded(ElementType::bf16, 1 + 3.0 / 256) == 0x3F82);
  CHECK(encoded(ElementType::bf16, 1 + 1.1 / 256) == 0x3F81);
  CHECK(decoded(ElementType::bf16, 0xC040) == -3);
  CHECK(encoded(ElementType::u8, 257) == 1);
  CHECK(encoded(ElementType::i32, 2147483648.0) == 0x80000000);
  CHECK_THROWS_AS(encoded(ElementType::f16, 1), tmajit::Error);
}

TEST_CASE("sectors of slices") {
  // Rows of 64 bytes, from byte 4 to byte 36: two sectors each.
  const Case shifted = slice_case(ElementType::f32, {4, 16}, {2, 8}, {{0, 2, 1}, {1, 9, 1}});
  CHECK(traffic(shifted).bytes() == 2 * 2 * 8 * 4);
  CHECK(traffic(shifted).sectors == 2 * 64 + 2 * 8 * 4);
  // Every second element of a row of 16: both sectors of it.
  const Case steps = slice_case(ElementType::f32, {4, 16}, {4, 8}, {{0, 4, 1}, {0, 16, 2}});
  CHECK(traffic(steps).sectors == 4 * 64 + 4 * 8 * 4);
  // Elements 128 bytes apart: a sector each.
  const Case apart = slice_case(ElementType::f32, {1, 128}, {1, 4}, {{0, 1, 1}, {0, 128, 32}});
  CHECK(traffic(apart).sectors == 4 * 32 + 4 * 4);
}

TEST_CASE("labels tell cases apart, and every expression is known") {
  std::set<std::string> labels;
  for (const bool tiny : {false, true}) {
    labels.clear();
    for (const Case& c : list_cases({.seed = 1, .tiny = tiny})) {
      CAPTURE(c.label());
      CHECK(labels.insert(c.label()).second);
      if (!c.expression.empty()) CHECK_NOTHROW(find_expression(c.expression));
      CHECK(buffer_bytes(c, c.sources) >= places(c.sources).bytes);
      CHECK(2 * buffer_bytes(c, c.destinations) >= traffic(c).sectors);
    }
  }
  CHECK(labels.size() > 200);
}

TEST_CASE("the check finds one wrong element") {
  const auto device = tmajit::make_sim_device();
  const std::string label =
      GENERATE(std::string("peers: (64,128,256,512)->(3,2,1,0) f32"), std::string("copy: 1 GiB bf16"));
  const Case c = labelled(label);
  const tmajit::Buffer source(device, buffer_bytes(c, c.sources));
  const tmajit::Buffer destination(device, buffer_bytes(c, c.destinations));
  const Pattern pattern(c.sources[0].type, 1);
  pattern.fill(*device, source.address(), source.bytes(), nullptr);

  // The host's own walk over the sources, not the library.
  const Shape& shape = c.destinations[0].shape;
  const std::uint64_t size = tmajit::size_of(c.sources[0].type);
  std::vector<std::byte> result(c.destinations[0].bytes());
  std::vector<std::uint64_t> pitch(shape.size(), size);
  for (std::size_t d = shape.size() - 1; d-- > 0;) pitch[d] = pitch[d + 1] * c.sources[0].shape[d + 1];
  for (std::uint64_t i = 0; i < c.destinations[0].elements(); ++i) {
    std::uint64_t from = 0;
    std::uint64_t rest = i;
    for (std::size_t d = shape.size(); d-- > 0; rest /= shape[d]) {
      from += rest % shape[d] * pitch[c.axes.empty() ? d : c.axes[d]];
    }
    std::memcpy(&result[i * size], pattern.at(from), size);
  }
  const auto checked = [&] {
    device->copy_in(destination.address(), result, nullptr);
    return check(c, pattern, *device, destination.address(), 1, nullptr);
  };
  CHECK(checked().empty());
  result[result.size() / 2] ^= std::byte{1};
  CHECK_FALSE(checked().empty());
}

TEST_CASE("a wrong value of a computation is found, a rounding is not") {
  const auto device = tmajit::make_sim_device();
  const Case c = labelled("map: silu(a)*b+1 f32");
  const tmajit::Buffer source(device, buffer_bytes(c, c.sources));
  const tmajit::Buffer destination(device, buffer_bytes(c, c.destinations));
  const Pattern pattern(ElementType::f32, 1);
  pattern.fill(*device, source.address(), source.bytes(), nullptr);
  std::vector<float> result(c.destinations[0].elements());
  const Places where = places(c.sources);
  const auto value = [&](std::size_t array, std::uint64_t i) {
    return decode(ElementType::f32, pattern.at(where.offsets[array] + 4 * i));
  };
  for (std::uint64_t i = 0; i < result.size(); ++i) {
    const double a = value(0, i);
    result[i] = std::nextafter(static_cast<float>(a / (1 + std::exp(-a)) * value(1, i) + 1), 0.0F);
  }
  const auto checked = [&] {
    device->copy_in(destination.address(), std::as_bytes(std::span(result)), nullptr);
    return check(c, pattern, *device, destination.address(), 1, nullptr);
  };
  CHECK(checked().empty());
  result[3] += 1e-3F;
  CHECK_FALSE(checked().empty());
}

TEST_CASE("targets of cases") {
  Case c = labelled("copy: 1 GiB f32");
  CHECK(target_of(c, 100, 98)->met());
  CHECK_FALSE(target_of(c, 100, 96)->met());
  c = labelled("small: 64 KiB copy f32");
  CHECK(target_of(c, 1.3, 1.05)->met());
  CHECK_FALSE(target_of(c, 1.4, 1.05)->met());
  CHECK_FALSE(target_of(labelled("small: 16 MiB copy f32"), 9, 1));
}

TEST_CASE("devices that are not there") {
  CHECK_THROWS_AS(open_device("toaster"), tmajit::Error);
  CHECK_THROWS_AS(open_device("gpu:x"), tmajit::Error);
}
