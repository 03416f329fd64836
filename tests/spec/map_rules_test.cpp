#include "spec/rules.hpp"
#include "spec/violations.hpp"

#include <tmajit/validate.hpp>

#include <functional>
#include <optional>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace tmajit;
using Catch::Matchers::ContainsSubstring;

namespace {

/// A legal 3-D f32 map: [10, 100, 64] dense, boxes of 2 × 8 × 32.
TensorMapSpec valid() {
  return {.type = ElementType::f32,
          .rank = 3,
          .swizzle = Swizzle::b128,
          .shape = {10, 100, 64},
          .strides = {25600, 256, 4},
          .box = {2, 8, 32},
          .element_strides = {1, 1, 1}};
}

TensorMapSpec interleaved() {
  return {.type = ElementType::f16,
          .rank = 3,
          .interleave = Interleave::b32,
          .swizzle = Swizzle::b32,
          .shape = {10, 100, 16},  // the last extent counts slices
          .strides = {51200, 512, 32},
          .box = {2, 8, 16},
          .element_strides = {1, 1, 1}};
}

struct MapCase {
  const char* rule;  ///< the only broken rule; null for none
  const char* subject;
  const char* legal;  ///< part of the suggested legal value
  std::function<void(TensorMapSpec&)> change;
};

void check_map(const TensorMapSpec& base, const MapCase& c) {
  auto map = base;
  c.change(map);
  const auto violations = validate(map);
  CAPTURE(c.rule, rules(violations));
  CHECK(complete(violations));
  if (c.rule == nullptr) {
    CHECK(violations.empty());
    return;
  }
  CHECK(rules(violations) == Rules{c.rule});
  CHECK(find(violations, c.rule).subject == c.subject);
  CHECK_THAT(find(violations, c.rule).legal, ContainsSubstring(c.legal));
}

constexpr std::uint64_t two_to_32 = 1ULL << 32;
constexpr std::uint64_t two_to_40 = 1ULL << 40;

}  // namespace

TEST_CASE("the maps on which these tests are based break no rule") {
  CHECK(validate(valid()).empty());
  CHECK(validate(interleaved()).empty());
}

TEST_CASE("shape: the driver allows 1 to 2^32, coordinates only 2^31") {
  check_map(valid(), {nullptr, "", "", [](auto& m) { m.shape[0] = 1; }});
  check_map(valid(), {nullptr, "", "", [](auto& m) { m.shape[0] = two_to_32 / 2; }});
  check_map(valid(),
            {"shape.coordinates", "shape[0]", "2147483648", [](auto& m) { m.shape[0] = two_to_32 / 2 + 1; }});
  check_map(valid(),
            {"shape.coordinates", "shape[0]", "2147483648", [](auto& m) { m.shape[0] = two_to_32; }});
  check_map(valid(), {"shape.range", "shape[1]", "shape[1] = 1", [](auto& m) { m.shape[1] = 0; }});
  check_map(valid(), {"shape.range", "shape[0]", "2147483648", [](auto& m) { m.shape[0] = two_to_32 + 1; }});
}

TEST_CASE("strides: must be multiples of 16 bytes below 2^40") {
  check_map(valid(), {nullptr, "", "", [](auto& m) { m.strides[0] = two_to_40 - 16; }});
  check_map(valid(), {nullptr, "", "", [](auto& m) { m.strides[0] = 16; }});
  check_map(valid(),
            {"strides.range", "strides[0]", "1099511627760", [](auto& m) { m.strides[0] = two_to_40; }});
  check_map(valid(),
            {"strides.multiple", "strides[0]", "25616 bytes", [](auto& m) { m.strides[0] = 25608; }});
  check_map(valid(), {"strides.multiple", "strides[1]", "pad rows to 68 elements",
                      [](auto& m) { m.strides[1] = 260; }});
}

TEST_CASE("strides: for a dense tensor with odd rows, padding and a 1-D view are suggested") {
  auto map = valid();
  map.shape = {10, 100, 63};
  map.strides = {25200, 252, 4};
  const auto violations = validate(map);
  CHECK(rules(violations) == Rules{"strides.multiple"});
  CHECK_THAT(violations[0].legal, ContainsSubstring("pad rows to 64 elements") &&
                                      ContainsSubstring("view it as 1-D of 63000 elements"));
}

TEST_CASE("strides: must be multiples of 32 bytes with interleave 32B") {
  check_map(interleaved(), {nullptr, "", "", [](auto& m) { m.strides[1] = 64; }});
  check_map(interleaved(),
            {"strides.multiple", "strides[1]", "64 bytes", [](auto& m) { m.strides[1] = 48; }});
}

TEST_CASE("strides: the innermost must be the element size") {
  check_map(valid(), {"strides.innermost", "strides[2]", "4 bytes", [](auto& m) { m.strides[2] = 8; }});
}

TEST_CASE("box: extents must be 1 to 256") {
  check_map(valid(), {nullptr, "", "", [](auto& m) { m.box[1] = 256; }});
  check_map(valid(), {"box.range", "box[1]", "box[1] = 1", [](auto& m) { m.box[1] = 0; }});
  check_map(valid(), {"box.range", "box[2]", "box[2] = 4", [](auto& m) { m.box[2] = 0; }});
  check_map(valid(), {"box.range", "box[1]", "box[1] = 256", [](auto& m) { m.box[1] = 257; }});
}

TEST_CASE("box: the driver allows an SM's shared memory, and a kernel only a CTA's") {
  const auto with = [](std::uint32_t rows, std::uint32_t columns, Swizzle swizzle) {
    return [=](TensorMapSpec& m) { m.box = {rows, 57, columns}, m.swizzle = swizzle; };
  };
  // 57 × 4096 bytes are 228 KiB.
  check_map(valid(), {nullptr, "", "", with(31, 32, Swizzle::none)});
  check_map(valid(), {"box.shared-bytes", "box", "at most 1816 rows", with(32, 32, Swizzle::none)});
  check_map(valid(), {"box.bytes", "box", "at most 1816 rows", with(33, 32, Swizzle::none)});
  // A swizzle's padding uses a CTA's memory, but the driver does not count it.
  check_map(valid(), {"box.shared-bytes", "box", "at most 1816 rows", with(64, 16, Swizzle::b128)});
  // The driver includes the innermost element stride, which the copy engine ignores.
  auto map = valid();
  with(33, 32, Swizzle::none)(map);
  map.element_strides[2] = 2;
  CHECK(rules(validate(map)) == Rules{"element-strides.innermost", "box.shared-bytes"});
}

TEST_CASE("box: the innermost extent must be a multiple of 16 bytes") {
  check_map(valid(), {nullptr, "", "", [](auto& m) { m.box[2] = 4; }});
  check_map(valid(), {"box.inner-bytes", "box[2]", "box[2] = 8", [](auto& m) { m.box[2] = 6; }});
  check_map(valid(), {"box.inner-bytes", "box[2]", "box[2] = 32", [](auto& m) { m.box[2] = 31; }});
  // The driver counts elements although the box counts slices.
  check_map(interleaved(), {nullptr, "", "", [](auto& m) { m.box[2] = 24; }});
  check_map(interleaved(), {"box.inner-bytes", "box[2]", "box[2] = 8", [](auto& m) { m.box[2] = 7; }});
}

TEST_CASE("box: the innermost extent must not exceed the swizzle's span") {
  check_map(valid(),
            {"box.swizzle", "box[2]", "box[2] = 32, or swizzle none", [](auto& m) { m.box[2] = 36; }});
  check_map(valid(), {nullptr, "", "", [](auto& m) { m.box[2] = 36, m.swizzle = Swizzle::none; }});
  check_map(valid(), {"box.swizzle", "box[2]", "box[2] = 8, or swizzle 64B",
                      [](auto& m) { m.box[2] = 12, m.swizzle = Swizzle::b32; }});
  check_map(valid(), {"box.swizzle", "box[2]", "or swizzle 128B", [](auto& m) { m.swizzle = Swizzle::b64; }});
}

TEST_CASE("element strides: must be 1 to 8, and 1 in the innermost dimension") {
  check_map(valid(), {nullptr, "", "", [](auto& m) { m.element_strides[1] = 8; }});
  check_map(valid(), {"element-strides.range", "element_strides[1]", "element_strides[1] = 1",
                      [](auto& m) { m.element_strides[1] = 0; }});
  check_map(valid(), {"element-strides.range", "element_strides[1]", "element_strides[1] = 8",
                      [](auto& m) { m.element_strides[1] = 9; }});
  check_map(valid(), {nullptr, "", "", [](auto& m) { m.element_strides[1] = 3; }});  // 8 / 3: 3 rows
  check_map(valid(), {"element-strides.range", "element_strides[2]", "element_strides[2] = 1",
                      [](auto& m) { m.element_strides[2] = 0; }});
  check_map(valid(), {"element-strides.innermost", "element_strides[2]", "element_strides[2] = 1",
                      [](auto& m) { m.element_strides[2] = 2; }});
  check_map(interleaved(), {nullptr, "", "", [](auto& m) { m.element_strides[2] = 2; }});
}

TEST_CASE("rank: must be 1 to 5, and at least 3 if interleaved") {
  auto map = valid();
  map.rank = 0;
  CHECK(rules(validate(map)) == Rules{"rank.range"});
  map = TensorMapSpec{.type = ElementType::f32,
                      .rank = 6,
                      .shape = {2, 2, 2, 2, 8},
                      .strides = {2048, 1024, 512, 256, 32},
                      .box = {1, 1, 1, 1, 8},
                      .element_strides = {1, 1, 1, 1, 1}};
  CHECK(rules(validate(map)) == Rules{"rank.range"});
  CHECK(find(validate(map), "rank.range").found == "6");
  auto flat = interleaved();
  flat.rank = 2;
  flat.shape = {100, 16}, flat.strides = {512, 32}, flat.box = {8, 16}, flat.element_strides = {1, 1};
  CHECK(rules(validate(flat)) == Rules{"rank.interleave"});
}

TEST_CASE("interleaved layouts allow any swizzle; extents count slices and strides are whole slices") {
  const auto swizzle = GENERATE(Swizzle::none, Swizzle::b32, Swizzle::b64, Swizzle::b128);
  check_map(interleaved(), {nullptr, "", "", [=](auto& m) { m.swizzle = swizzle; }});
  check_map(interleaved(), {nullptr, "", "", [=](auto& m) {
                              m.swizzle = swizzle, m.interleave = Interleave::b16, m.strides[2] = 16;
                            }});
  check_map(interleaved(),
            {"strides.innermost", "strides[2]", "32 bytes", [](auto& m) { m.strides[2] = 2; }});
}

TEST_CASE("a NaN fill is legal only for floating-point maps") {
  check_map(valid(), {nullptr, "", "", [](auto& m) { m.oob_fill = OobFill::nan; }});
  auto map = valid();
  map.oob_fill = OobFill::nan;
  for (const auto type : {ElementType::i32, ElementType::u32}) {
    map.type = type;
    CHECK(rules(validate(map)) == Rules{"oob-fill.type"});
  }
  map.type = ElementType::tf32_ftz;
  CHECK(validate(map).empty());
  TensorMapSpec fp8{.type = ElementType::e4m3,
                    .rank = 1,
                    .oob_fill = OobFill::nan,
                    .shape = {64},
                    .strides = {1},
                    .box = {64},
                    .element_strides = {1}};
  CHECK(rules(validate(fp8)) == Rules{"oob-fill.type"});
}

TEST_CASE("values that are no enumerators break a rule each") {
  check_map(valid(), {"type.known", "type", "u8", [](auto& m) { m.type = static_cast<ElementType>(17); }});
  check_map(valid(), {"interleave.known", "interleave", "16B",
                      [](auto& m) { m.interleave = static_cast<Interleave>(3); }});
  check_map(valid(),
            {"swizzle.known", "swizzle", "128B", [](auto& m) { m.swizzle = static_cast<Swizzle>(4); }});
  check_map(valid(), {"l2-promotion.known", "l2-promotion", "256B",
                      [](auto& m) { m.l2_promotion = static_cast<L2Promotion>(9); }});
  check_map(valid(),
            {"oob-fill.known", "oob-fill", "nan", [](auto& m) { m.oob_fill = static_cast<OobFill>(2); }});
}

TEST_CASE("fields beyond the rank must be zero") {
  check_map(valid(), {"tail.zero", "shape[3]", "shape[3] = 0", [](auto& m) { m.shape[3] = 1; }});
  check_map(valid(), {"tail.zero", "strides[4]", "strides[4] = 0", [](auto& m) { m.strides[4] = 16; }});
  check_map(valid(), {"tail.zero", "box[3]", "box[3] = 0", [](auto& m) { m.box[3] = 1; }});
  check_map(valid(), {"tail.zero", "element_strides[3]", "= 0", [](auto& m) { m.element_strides[3] = 1; }});
  check_map(valid(), {"reserved.zero", "reserved", "reserved = 0", [](auto& m) { m.reserved = 1; }});
}

TEST_CASE("the address must be aligned to 16 bytes, or to 32 with interleave 32B") {
  CHECK(validate(valid(), 0x7000).empty());
  CHECK(validate(valid(), 0x7010).empty());
  const auto off = validate(valid(), 0x7018);
  CHECK(rules(off) == Rules{"address.alignment"});
  CHECK(off[0].found == "0x7018, 8 bytes past a multiple of 16");
  CHECK_THAT(off[0].legal, ContainsSubstring("0x7010"));
  CHECK(rules(validate(interleaved(), 0x7010)) == Rules{"address.alignment"});
  CHECK(validate(interleaved(), 0x7020).empty());
}

TEST_CASE("all broken rules are reported together") {
  auto map = valid();
  map.shape[0] = 0;
  map.strides[1] = 257;
  map.box[1] = 300;
  map.box[2] = 33;
  map.element_strides[0] = 9;
  map.l2_promotion = static_cast<L2Promotion>(77);
  CHECK(rules(validate(map, 1)) == Rules{"l2-promotion.known", "shape.range", "strides.multiple",
                                         "element-strides.range", "box.range", "box.inner-bytes",
                                         "box.swizzle", "address.alignment"});
}

TEST_CASE("other broken rules are reported even if the rank is illegal") {
  TensorMapSpec map{.type = ElementType::i32,
                    .rank = 6,
                    .oob_fill = OobFill::nan,
                    .shape = {0, 2, 2, 2, 8},
                    .strides = {two_to_40 + 8, 1024, 512, 256, 24},
                    .box = {1, 257, 1, 1, 8},
                    .element_strides = {1, 1, 9, 1, 1}};
  CHECK(rules(validate(map, 8)) == Rules{"rank.range", "oob-fill.type", "shape.range", "strides.multiple",
                                         "strides.range", "strides.multiple", "box.range",
                                         "element-strides.range", "address.alignment"});
  map.rank = 0;
  CHECK(rules(validate(map, 8)) == Rules{"rank.range", "oob-fill.type", "address.alignment"});
}

TEST_CASE("boxes beyond the tensor, and overlapping and zero strides, are legal") {
  check_map(valid(), {nullptr, "", "", [](auto& m) { m.shape[1] = 3; }});
  check_map(valid(), {nullptr, "", "", [](auto& m) { m.strides[0] = 16; }});
  check_map(valid(), {nullptr, "", "", [](auto& m) { m.strides[0] = 0; }});
}

TEST_CASE("rules that the driver does not check are marked as such") {
  CHECK(is_hardware_only("shape.coordinates"));
  CHECK(is_hardware_only("tail.zero"));
  CHECK_FALSE(is_hardware_only("box.range"));
  CHECK_FALSE(is_hardware_only(""));
}
