/// f16 and bf16 with modifiers, and their comparisons, with expected values computed by hand.
#include "sim/evaluate.hpp"

namespace half_test {

using namespace tests;

namespace {

// f16
constexpr std::uint64_t one = 0x3c00;
constexpr std::uint64_t two = 0x4000;
constexpr std::uint64_t minus = 0x8000;
constexpr std::uint64_t quiet = 0x7fff;
constexpr std::uint64_t least = 1;  // subnormal

std::uint64_t both(std::uint64_t low, std::uint64_t high) {
  return low | high << 16;
}
std::uint32_t h(const std::string& body, std::uint64_t a, std::uint64_t b = 0, std::uint64_t c = 0) {
  return r(body + "\nmov.b32 %r9, {%h9, 0};", a, b, c);
}

}  // namespace

TEST_CASE("results of f16 and bf16 are saturated, clamped or flushed by modifiers") {
  CHECK(h("add.sat.f16 %h9, %h1, %h2;", one, two) == one);
  CHECK(h("add.sat.f16 %h9, %h1, %h2;", minus | one, 0) == 0);
  CHECK(h("add.sat.f16 %h9, %h1, %h2;", quiet, one) == 0);
  CHECK(h("fma.rn.relu.f16 %h9, %h1, %h2, %h3;", minus | one, two, one) == 0);
  CHECK(h("fma.rn.relu.bf16 %h9, %h1, %h2, %h3;", 0x3f80, 0x4000, 0x3f80) == 0x4040);
  CHECK(h("add.ftz.f16 %h9, %h1, %h2;", least, 0) == 0);
  CHECK(h("add.ftz.f16 %h9, %h1, %h2;", minus | least, minus) == minus);
  CHECK(h("mul.ftz.f16 %h9, %h1, %h2;", 0x0400, 0x3800) == 0);  // a result that is subnormal
  CHECK(r("add.sat.f16x2 %r9, %r1, %r2;", both(two, 0x3800), both(two, 0x3000)) == both(one, 0x3900));
}

TEST_CASE("min and max of f16, bf16 and f32 treat NaNs and signs by their modifiers") {
  CHECK(h("min.NaN.f16 %h9, %h1, %h2;", quiet, one) == quiet);
  CHECK(h("max.NaN.f16 %h9, %h1, %h2;", two, one) == two);
  CHECK(h("min.xorsign.abs.f16 %h9, %h1, %h2;", minus | one, two) == (minus | one));
  CHECK(h("max.xorsign.abs.f16 %h9, %h1, %h2;", minus | one, minus | two) == two);
  CHECK((r("max.NaN.f32 %f9, %f1, %f2;\nmov.b32 %r9, %f9;", 0x7fc00000, bits(1.0F)) & 0x7fffffff) ==
        0x7fffffff);
  CHECK(r("min.xorsign.abs.f32 %f9, %f1, %f2;\nmov.b32 %r9, %f9;", bits(-3.0F), bits(2.0F)) == bits(-2.0F));
  CHECK(r("add.rz.ftz.f32 %f9, %f1, %f2;\nmov.b32 %r9, %f9;", bits(1.0F), bits(1e-30F)) == bits(1.0F));
  CHECK(r("add.rp.ftz.f32 %f9, %f1, %f2;\nmov.b32 %r9, %f9;", bits(1.0F), bits(1e-30F)) == bits(1.0F) + 1);
  CHECK(r("add.rp.ftz.f32 %f9, %f1, %f2;\nmov.b32 %r9, %f9;", bits(1.0F), 1) == bits(1.0F));
}

TEST_CASE("f16 and bf16 are compared by setp and set") {
  const auto said = [](const std::string& body, std::uint64_t a, std::uint64_t b) {
    return r(body + "\nselp.u32 %r9, 1, 0, %p1;\nselp.u32 %r8, 2, 0, %p2;\nor.b32 %r9, %r9, %r8;", a, b);
  };
  const std::string clear = "setp.ne.u32 %p2, 0, 0;\n";
  CHECK(said(clear + "setp.lt.f16 %p1, %h1, %h2;", minus | one, one) == 1);
  CHECK(said(clear + "setp.lt.f16 %p1, %h1, %h2;", quiet, one) == 0);
  CHECK(said(clear + "setp.nan.bf16 %p1, %h1, %h2;", quiet, one) == 1);
  CHECK(said(clear + "setp.eq.ftz.f16 %p1, %h1, %h2;", least, 0) == 1);
  CHECK(said("setp.gt.f16x2 %p1|%p2, %r1, %r2;", both(one, two), both(two, one)) == 2);
  CHECK(r("set.gt.f16x2.f16x2 %r9, %r1, %r2;", both(one, two), both(two, one)) == both(0, one));
  CHECK(r("set.le.u32.f16x2 %r9, %r1, %r2;", both(one, two), both(two, one)) == 0xffff);
  CHECK(h("set.equ.f16.f16 %h9, %h1, %h2;", quiet, one) == one);
  CHECK(r("set.eq.f32.bf16 %f9, %h1, %h2;\nmov.b32 %r9, %f9;", 0x3f80, 0x3f80) == bits(1.0F));
}

TEST_CASE("tanh and ex2 of f16 and bf16 are computed") {
  CHECK(h("ex2.approx.f16 %h9, %h1;", two) == 0x4400);
  CHECK(h("tanh.approx.f16 %h9, %h1;", 0) == 0);
  CHECK(r("ex2.approx.ftz.bf16x2 %r9, %r1;", both(0, 0x3f80)) == both(0x3f80, 0x4000));
}

}  // namespace half_test
