/// f16 and bf16 with modifiers, and their comparisons, with expected values computed by hand.
#include "sim/evaluate.hpp"

namespace half_test {

using namespace tests;

namespace {

// Bit patterns of f16.
constexpr std::uint64_t one = 0x3c00;
constexpr std::uint64_t two = 0x4000;
constexpr std::uint64_t sign_bit = 0x8000;
constexpr std::uint64_t quiet_nan = 0x7fff;
constexpr std::uint64_t least_subnormal = 1;

/// The bits of a pair of 16-bit numbers.
std::uint64_t pair(std::uint64_t low, std::uint64_t high) {
  return low | high << 16;
}
/// The result of `body` in %h9.
std::uint32_t result16(const std::string& body, std::uint64_t a, std::uint64_t b = 0, std::uint64_t c = 0) {
  return result32(body + "\nmov.b32 %r9, {%h9, 0};", a, b, c);
}

}  // namespace

TEST_CASE("results of f16 and bf16 are saturated, clamped or flushed by modifiers") {
  CHECK(result16("add.sat.f16 %h9, %h1, %h2;", one, two) == one);
  CHECK(result16("add.sat.f16 %h9, %h1, %h2;", sign_bit | one, 0) == 0);
  CHECK(result16("add.sat.f16 %h9, %h1, %h2;", quiet_nan, one) == 0);
  CHECK(result16("fma.rn.relu.f16 %h9, %h1, %h2, %h3;", sign_bit | one, two, one) == 0);
  CHECK(result16("fma.rn.relu.bf16 %h9, %h1, %h2, %h3;", 0x3f80, 0x4000, 0x3f80) == 0x4040);
  CHECK(result16("add.ftz.f16 %h9, %h1, %h2;", least_subnormal, 0) == 0);
  CHECK(result16("add.ftz.f16 %h9, %h1, %h2;", sign_bit | least_subnormal, sign_bit) == sign_bit);
  CHECK(result16("mul.ftz.f16 %h9, %h1, %h2;", 0x0400, 0x3800) == 0);  // a result that is subnormal
  CHECK(result32("add.sat.f16x2 %r9, %r1, %r2;", pair(two, 0x3800), pair(two, 0x3000)) == pair(one, 0x3900));
}

TEST_CASE("fma.oob is 0 where a factor is the NaN of a tensor map's fill") {
  constexpr std::uint64_t fill = 0x7ff7;  // in f16 and in bf16
  for (const std::string type : {"f16", "bf16"}) {
    const std::uint64_t unit = type == "f16" ? one : 0x3f80;
    const std::string oob = "fma.rn.oob." + type + " %h9, %h1, %h2, %h3;";
    CHECK(result16(oob, unit, unit, two) == result16("add." + type + " %h9, %h1, %h2;", unit, two));
    for (const std::uint64_t nan : {fill, sign_bit | fill}) {
      CHECK(result16(oob, nan, unit, two) == 0);
      CHECK(result16(oob, unit, nan, sign_bit | two) == 0);
      CHECK(result16(oob, nan, quiet_nan, sign_bit) == 0);
      CHECK(result16(oob, nan, two, quiet_nan) == 0);
      CHECK(result16("fma.rn." + type + " %h9, %h1, %h2, %h3;", nan, unit, two) == quiet_nan);
      // The fill is a NaN like others in c.
      CHECK(result16(oob, unit, unit, nan) == quiet_nan);
    }
    for (const std::uint64_t nan : {fill - 1, fill + 1, quiet_nan, std::uint64_t{0xffff}}) {
      CHECK(result16(oob, nan, unit, two) == quiet_nan);
      CHECK(result16(oob, unit, nan, two) == quiet_nan);
    }
    CHECK(result16("fma.rn.oob.relu." + type + " %h9, %h1, %h2, %h3;", sign_bit | unit, two, unit) == 0);
    CHECK(result16("fma.rn.oob.relu." + type + " %h9, %h1, %h2, %h3;", fill, unit, two) == 0);
    // The halves of a pair are separate.
    const std::string both = "fma.rn.oob." + type + "x2 %r9, %r1, %r2, %r3;";
    CHECK(result32(both, pair(fill, unit), pair(unit, two), pair(two, 0)) == pair(0, two));
    CHECK(result32(both, pair(unit, two), pair(two, sign_bit | fill), pair(0, two)) == pair(two, 0));
  }
}

TEST_CASE("min and max of f16, bf16 and f32 treat NaNs and signs by their modifiers") {
  CHECK(result16("min.NaN.f16 %h9, %h1, %h2;", quiet_nan, one) == quiet_nan);
  CHECK(result16("max.NaN.f16 %h9, %h1, %h2;", two, one) == two);
  CHECK(result16("min.xorsign.abs.f16 %h9, %h1, %h2;", sign_bit | one, two) == (sign_bit | one));
  CHECK(result16("max.xorsign.abs.f16 %h9, %h1, %h2;", sign_bit | one, sign_bit | two) == two);
  CHECK((result32("max.NaN.f32 %f9, %f1, %f2;\nmov.b32 %r9, %f9;", 0x7fc00000, bits(1.0F)) & 0x7fffffff) ==
        0x7fffffff);
  CHECK(result32("min.xorsign.abs.f32 %f9, %f1, %f2;\nmov.b32 %r9, %f9;", bits(-3.0F), bits(2.0F)) ==
        bits(-2.0F));
  CHECK(result32("add.rz.ftz.f32 %f9, %f1, %f2;\nmov.b32 %r9, %f9;", bits(1.0F), bits(1e-30F)) == bits(1.0F));
  CHECK(result32("add.rp.ftz.f32 %f9, %f1, %f2;\nmov.b32 %r9, %f9;", bits(1.0F), bits(1e-30F)) ==
        bits(1.0F) + 1);
  CHECK(result32("add.rp.ftz.f32 %f9, %f1, %f2;\nmov.b32 %r9, %f9;", bits(1.0F), 1) == bits(1.0F));
}

TEST_CASE("f16 and bf16 are compared by setp and set") {
  // Bit 0 of the result is %p1, bit 1 is %p2.
  const auto set_predicates = [](const std::string& body, std::uint64_t a, std::uint64_t b) {
    return result32(body + "\nselp.u32 %r9, 1, 0, %p1;\nselp.u32 %r8, 2, 0, %p2;\nor.b32 %r9, %r9, %r8;", a,
                    b);
  };
  const std::string clear = "setp.ne.u32 %p2, 0, 0;\n";
  CHECK(set_predicates(clear + "setp.lt.f16 %p1, %h1, %h2;", sign_bit | one, one) == 1);
  CHECK(set_predicates(clear + "setp.lt.f16 %p1, %h1, %h2;", quiet_nan, one) == 0);
  CHECK(set_predicates(clear + "setp.nan.bf16 %p1, %h1, %h2;", quiet_nan, one) == 1);
  CHECK(set_predicates(clear + "setp.eq.ftz.f16 %p1, %h1, %h2;", least_subnormal, 0) == 1);
  CHECK(set_predicates("setp.gt.f16x2 %p1|%p2, %r1, %r2;", pair(one, two), pair(two, one)) == 2);
  CHECK(result32("set.gt.f16x2.f16x2 %r9, %r1, %r2;", pair(one, two), pair(two, one)) == pair(0, one));
  CHECK(result32("set.le.u32.f16x2 %r9, %r1, %r2;", pair(one, two), pair(two, one)) == 0xffff);
  CHECK(result16("set.equ.f16.f16 %h9, %h1, %h2;", quiet_nan, one) == one);
  CHECK(result32("set.eq.f32.bf16 %f9, %h1, %h2;\nmov.b32 %r9, %f9;", 0x3f80, 0x3f80) == bits(1.0F));
}

TEST_CASE("tanh and ex2 of f16 and bf16 are computed") {
  CHECK(result16("ex2.approx.f16 %h9, %h1;", two) == 0x4400);
  CHECK(result16("tanh.approx.f16 %h9, %h1;", 0) == 0);
  CHECK(result32("ex2.approx.ftz.bf16x2 %r9, %r1;", pair(0, 0x3f80)) == pair(0x3f80, 0x4000));
}

}  // namespace half_test
