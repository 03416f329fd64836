#include "spec/remedies.hpp"

#include "reference/random_maps.hpp"
#include "spec/rules.hpp"

#include <tmajit/validate.hpp>

#include <algorithm>
#include <map>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;
using namespace reference;

namespace {

struct PlacedMap {
  TensorMapSpec map;
  std::uint64_t address = 0;
};

template <class Array>
void set_entry(Array& values, const Remedy& remedy) {
  REQUIRE(*remedy.index < values.size());
  values[*remedy.index] = static_cast<typename Array::value_type>(remedy.numbers.at(0));
}

/// The map after the change that the remedy names.
PlacedMap applied(const PlacedMap& before, const Remedy& remedy) {
  PlacedMap after = before;
  TensorMapSpec& map = after.map;
  const auto set_rank = [&](std::uint64_t rank) {
    for (auto d = static_cast<std::uint32_t>(rank); d < max_map_rank; ++d)
      map.shape[d] = map.strides[d] = map.box[d] = map.element_strides[d] = 0;
    map.rank = static_cast<std::uint8_t>(rank);
  };
  if (remedy.field == "box") {
    set_entry(map.box, remedy);
  } else if (remedy.field == "shape") {
    set_entry(map.shape, remedy);
  } else if (remedy.field == "strides") {
    REQUIRE((remedy.bytes || remedy.numbers.at(0) == 0));
    set_entry(map.strides, remedy);
  } else if (remedy.field == "element_strides") {
    set_entry(map.element_strides, remedy);
  } else if (remedy.field == "pixel_box.lower") {
    set_entry(map.pixel_box.lower, remedy);
  } else if (remedy.field == "pixel_box.upper") {
    set_entry(map.pixel_box.upper, remedy);
  } else if (remedy.field == "pixel_box.channels") {
    map.pixel_box.channels = static_cast<std::uint32_t>(remedy.numbers.at(0));
  } else if (remedy.field == "pixel_box.pixels") {
    map.pixel_box.pixels = static_cast<std::uint32_t>(remedy.numbers.at(0));
  } else if (remedy.field == "mode") {
    map.mode = parse<MapMode>(remedy.word);
  } else if (remedy.field == "swizzle") {
    map.swizzle = parse<Swizzle>(remedy.word);
  } else if (remedy.field == "interleave") {
    map.interleave = parse<Interleave>(remedy.word);
  } else if (remedy.field == "oob-fill") {
    map.oob_fill = parse<OobFill>(remedy.word);
  } else if (remedy.field == "rank") {
    set_rank(remedy.numbers.at(0));
  } else if (remedy.field == "flat") {
    const std::uint32_t row = map.box[map.rank - 1U];
    set_rank(0);
    map.rank = 1;
    map.shape[0] = remedy.numbers.at(0);
    map.strides[0] = size_of(map.type);
    map.box[0] = row;
    map.element_strides[0] = 1;
  } else if (remedy.field == "rows") {
    for (std::uint32_t d = 0; d + 1U < map.rank; ++d) map.box[d] = 1;
    if (map.rank > 1)
      map.box[0] = static_cast<std::uint32_t>(std::min<std::uint64_t>(remedy.numbers.at(0), 256));
  } else if (remedy.field == "address") {
    after.address = remedy.numbers.at(0);
  } else {
    FAIL("no such field: " << remedy.field);
  }
  return after;
}

/// Whether the rule's legal values are enumerators, or advice in words.
bool is_advice(const Violation& violation) {
  return violation.rule.ends_with(".known") || violation.rule == "reserved.zero" ||
         violation.legal == "fewer columns";
}

bool is_broken(const std::vector<Violation>& violations, std::string_view rule, std::string_view subject) {
  return std::ranges::any_of(violations,
                             [&](const Violation& v) { return v.rule == rule && v.subject == subject; });
}

}  // namespace

TEST_CASE("a broken rule holds after any change that its violation names as legal") {
  const auto seed_used = seed(5);
  Random random(seed_used);
  INFO("TMAJIT_SEED=" << seed_used);
  std::map<std::string, int> applied_to;
  // Each case is fifty maps.
  const std::uint64_t maps = 50 * from_environment("TMAJIT_CASES", 400);
  for (std::uint64_t i = 0; i < maps; ++i) {
    PlacedMap placed{i % 2 == 0 ? legal_map(random) : legal_im2col_map(random),
                     0x7f0000000000 + between(random, 0, 40)};
    if (one_in(random, 20)) placed.address = between(random, 0, 40);
    for (auto changes = between(random, 1, 4); changes > 0; --changes) mutate(random, placed.map);
    if (one_in(random, 4)) {
      const auto d = between(random, 0, max_map_rank - 1);
      placed.map.element_strides[d] = static_cast<std::uint32_t>(between(random, 0, 10));
      placed.map.box[d] = static_cast<std::uint32_t>(between(random, 0, 300));
    }
    for (const auto& violation : validate(placed.map, placed.address)) {
      CAPTURE(describe(placed.map), placed.address, violation.rule, violation.subject, violation.legal);
      const auto named = remedies(violation);
      REQUIRE((!named.empty() || is_advice(violation)));
      for (const Remedy& remedy : named) {
        const PlacedMap after = applied(placed, remedy);
        CAPTURE(describe(after.map), remedy.field);
        const auto left = validate(after.map, after.address);
        REQUIRE_FALSE(is_broken(left, violation.rule, violation.subject));
        ++applied_to[violation.rule];
      }
      // A remedy of box.range must satisfy all rules of the box's row.
      if (violation.rule == "box.range") {
        const PlacedMap after = applied(placed, named.front());
        const auto left = validate(after.map, after.address);
        REQUIRE_FALSE(is_broken(left, "box.inner-bytes", violation.subject));
        REQUIRE_FALSE(is_broken(left, "box.swizzle", violation.subject));
      }
    }
  }
  for (const char* rule :
       {"rank.range", "rank.interleave", "oob-fill.type", "shape.range", "shape.coordinates",
        "strides.multiple", "strides.range", "strides.innermost", "box.range", "box.inner-bytes",
        "box.swizzle", "box.bytes", "box.shared-bytes", "element-strides.range", "element-strides.innermost",
        "tail.zero", "address.alignment"}) {
    CAPTURE(rule);
    CHECK(applied_to[rule] > 0);
  }
}
