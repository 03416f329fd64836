#include "reference/random_maps.hpp"
#include "spec/rules.hpp"
#include "spec/violations.hpp"

#include <tmajit/validate.hpp>

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;
using namespace reference;

namespace {

template <typename T>
T noise(Random& random) {
  T value;
  std::array<std::byte, sizeof(T)> bytes;
  for (auto& byte : bytes) byte = static_cast<std::byte>(between(random, 0, one_in(random, 2) ? 8 : 255));
  std::memcpy(static_cast<void*>(&value), bytes.data(), sizeof(T));
  return value;
}

}  // namespace

TEST_CASE("random legal maps break no rule") {
  const auto seed_used = seed(1);
  Random random(seed_used);
  INFO("TMAJIT_SEED=" << seed_used);
  for (int i = 0; i < 20000; ++i) {
    const auto map = i % 2 == 0 ? legal_map(random) : legal_im2col_map(random);
    const auto violations = validate(map, 0x7f0000000000);
    CAPTURE(describe(map), rules(violations));
    REQUIRE(violations.empty());
  }
}

TEST_CASE("random mutations of legal maps break each rule of the driver without breaking another one") {
  const auto seed_used = seed(2);
  Random random(seed_used);
  INFO("TMAJIT_SEED=" << seed_used);
  std::map<std::string, int> alone;
  for (int i = 0; i < 60000; ++i) {
    auto map = i % 2 == 0 ? legal_map(random) : legal_im2col_map(random);
    mutate(random, map);
    const auto violations = validate(map);
    REQUIRE(complete(violations));
    if (violations.size() == 1) ++alone[violations[0].rule];
  }
  for (const char* rule : {"type.known",
                           "interleave.known",
                           "swizzle.known",
                           "l2-promotion.known",
                           "oob-fill.known",
                           "rank.range",
                           "rank.interleave",
                           "oob-fill.type",
                           "shape.range",
                           "shape.coordinates",
                           "strides.multiple",
                           "strides.range",
                           "strides.innermost",
                           "box.range",
                           "box.inner-bytes",
                           "box.swizzle",
                           "box.bytes",
                           "box.shared-bytes",
                           "element-strides.range",
                           "element-strides.innermost",
                           "element-strides.image",
                           "mode.known",
                           "mode.unused",
                           "rank.im2col",
                           "pixel-box.corner",
                           "pixel-box.area",
                           "pixel-box.end",
                           "pixel-box.channels",
                           "pixel-box.pixels"}) {
    CAPTURE(rule);
    CHECK(alone[rule] > 0);
  }
}

TEST_CASE("validation and layouts of maps made of random bytes do not crash") {
  const auto seed_used = seed(3);
  Random random(seed_used);
  INFO("TMAJIT_SEED=" << seed_used);
  for (int i = 0; i < 20000; ++i) {
    const auto map = noise<TensorMapSpec>(random);
    REQUIRE(complete(validate(map, between(random, 0, ~0ULL))));
    REQUIRE(tile_layout(map).alignment >= 128);
  }
}

TEST_CASE("a random map's tile layout has room for its rows and for the swizzle's span") {
  const auto seed_used = seed(4);
  Random random(seed_used);
  INFO("TMAJIT_SEED=" << seed_used);
  for (int i = 0; i < 5000; ++i) {
    const auto map = i % 2 == 0 ? legal_map(random) : legal_im2col_map(random);
    const auto layout = tile_layout(map);
    CAPTURE(describe(map));
    REQUIRE(layout.bytes == layout.rows * layout.pitch_bytes);
    REQUIRE(layout.pitch_bytes >= layout.row_bytes);
    if (map.interleave == Interleave::none) REQUIRE(layout.pitch_bytes >= span_bytes(map.swizzle));
    REQUIRE(layout.transaction_bytes % 16 == 0);
  }
}
