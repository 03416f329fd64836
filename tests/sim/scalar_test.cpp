/// Kernels of one or few instructions, whose results are compared with values computed on the host or by
/// hand.
#include "sim/evaluate.hpp"

#include <bit>
#include <cmath>
#include <limits>

namespace scalar_test {

using namespace tests;

TEST_CASE("integer arithmetic gives the right results") {
  CHECK(result32("add.s32 %r9, %r1, %r2;", 0xffffffff, 2) == 1);
  CHECK(result32("sub.u32 %r9, %r1, %r2;", 1, 2) == 0xffffffff);
  CHECK(result32("mul.lo.s32 %r9, %r1, %r2;", 0x10001, 0x10001) == 0x20001);
  CHECK(result32("mul.hi.u32 %r9, %r1, %r2;", 0xffffffff, 0xffffffff) == 0xfffffffe);
  CHECK(result32("mul.hi.s32 %r9, %r1, %r2;", 0xffffffff, 2) == 0xffffffff);
  CHECK(result64("mul.hi.u64 %rd9, %rd1, %rd2;", ~0ULL, ~0ULL) == ~1ULL);
  CHECK(result64("mul.hi.s64 %rd9, %rd1, %rd2;", ~0ULL, 5) == ~0ULL);
  CHECK(result64("mul.wide.s32 %rd9, %r1, %r2;", 0xffffffff, 3) == 0xfffffffffffffffd);
  CHECK(result64("mul.wide.u32 %rd9, %r1, %r2;", 0xffffffff, 3) == 0x2fffffffd);
  CHECK(result64("mad.wide.u32 %rd9, %r1, %r2, %rd3;", 0xffffffff, 3, 7) == 0x300000004);
  CHECK(result32("mul.wide.u16 %r9, %h1, %h2;", 0xffff, 0xffff) == 0xfffe0001);
  CHECK(result32("mad.lo.s32 %r9, %r1, %r2, %r3;", 5, 6, 0xffffffff) == 29);
  CHECK(result32("div.s32 %r9, %r1, %r2;", 0xfffffff9, 2) == 0xfffffffd);
  CHECK(result32("rem.s32 %r9, %r1, %r2;", 0xfffffff9, 2) == 0xffffffff);
  CHECK(result32("div.s32 %r9, %r1, %r2;", 0x80000000, 0xffffffff) == 0x80000000);
  CHECK(result32("div.u32 %r9, %r1, %r2;", 7, 0) == 0xffffffff);
  CHECK(result64("rem.u64 %rd9, %rd1, %rd2;", 1'000'000'000'007, 10) == 7);
  CHECK(result32("min.s32 %r9, %r1, %r2;", 0xffffffff, 1) == 0xffffffff);
  CHECK(result32("min.u32 %r9, %r1, %r2;", 0xffffffff, 1) == 1);
  CHECK(result32("abs.s32 %r9, %r1;", 0xfffffffb) == 5);
  CHECK(result32("neg.s32 %r9, %r1;", 5) == 0xfffffffb);
  CHECK(result32("sad.s32 %r9, %r1, %r2, %r3;", 0xfffffffe, 3, 10) == 15);
  CHECK(result32("add.s16 %h9, %h1, %h2;\ncvt.s32.s16 %r9, %h9;", 0x7fff, 1) == 0xffff8000);
}

TEST_CASE("bit operations give the right results") {
  CHECK(result32("popc.b32 %r9, %r1;", 0xf0f0) == 8);
  CHECK(result32("clz.b64 %r9, %rd1;", 1) == 63);
  CHECK(result32("bfind.u32 %r9, %r1;", 0x10) == 4);
  CHECK(result32("bfind.s32 %r9, %r1;", 0xffffffff) == 0xffffffff);
  CHECK(result32("brev.b32 %r9, %r1;", 1) == 0x80000000);
  CHECK(result32("bfe.u32 %r9, %r1, %r2, %r3;", 0xabcd1234, 8, 8) == 0x12);
  CHECK(result32("bfe.s32 %r9, %r1, %r2, %r3;", 0xabcd8234, 8, 8) == 0xffffff82);
  CHECK(result32("bfe.s32 %r9, %r1, 40, 8;", 0x80000000) == 0xffffffff);
  CHECK(result32("bfi.b32 %r9, %r1, %r2, 8, 4;", 0xf5, 0xffffffff) == 0xfffff5ff);
  CHECK(result64("bfi.b64 %rd9, %rd1, %rd2, 32, 32;", 0x12345678, 0x9abcdef0) == 0x123456789abcdef0);
  CHECK(result32("prmt.b32 %r9, %r1, %r2, 0x5410;", 0x33221100, 0x77665544) == 0x55441100);
  CHECK(result32("prmt.b32 %r9, %r1, %r2, 0x888b;", 0x80221180, 0) == 0xffffffff);
  CHECK(result32("prmt.b32 %r9, %r1, %r2, %r3;", 0x33221100, 0x77665544, 0x0123) == 0x00112233);
  CHECK(result32("shl.b32 %r9, %r1, %r2;", 1, 32) == 0);
  CHECK(result32("shr.u32 %r9, %r1, %r2;", 0x80000000, 31) == 1);
  CHECK(result32("shr.s32 %r9, %r1, %r2;", 0x80000000, 99) == 0xffffffff);
  CHECK(result64("shl.b64 %rd9, %rd1, %r2;", 1, 40) == 1ULL << 40);
  CHECK(result32("shf.l.wrap.b32 %r9, %r1, %r2, %r3;", 0x80000000, 1, 33) == 3);
  CHECK(result32("shf.r.clamp.b32 %r9, %r1, %r2, %r3;", 0x80000000, 1, 32) == 1);
  CHECK(result32("lop3.b32 %r9, %r1, %r2, %r3, 0x96;", 0xff00ff00, 0xf0f0f0f0, 0xcccccccc) ==
        (0xff00ff00 ^ 0xf0f0f0f0 ^ 0xcccccccc));
  CHECK(result32("lop3.b32 %r9, %r1, %r2, %r3, 0xe8;", 0xff00ff00, 0xf0f0f0f0, 0xcccccccc) == 0xfcc0fcc0);
  CHECK(result32("not.b32 %r9, %r1;", 0) == 0xffffffff);
}

TEST_CASE("comparisons and selections give the right results") {
  CHECK(result32("setp.lt.s32 %p1, %r1, %r2;\nselp.b32 %r9, 7, 8, %p1;", 0xffffffff, 0) == 7);
  CHECK(result32("setp.lt.u32 %p1, %r1, %r2;\nselp.b32 %r9, 7, 8, %p1;", 0xffffffff, 0) == 8);
  CHECK(result32("setp.lt.s32 %p1|%p2, %r1, %r2;\nselp.b32 %r9, 7, 8, %p2;", 0, 1) == 8);
  CHECK(result32("setp.eq.s32 %p2, 0, 0;\nsetp.ne.and.s32 %p1, %r1, 0, !%p2;\nselp.b32 %r9, 7, 8, %p1;", 1) ==
        8);
  const std::uint64_t nan = 0x7fc00000;
  CHECK(result32("setp.lt.f32 %p1, %f1, %f2;\nselp.b32 %r9, 1, 0, %p1;", nan, 0) == 0);
  CHECK(result32("setp.ltu.f32 %p1, %f1, %f2;\nselp.b32 %r9, 1, 0, %p1;", nan, 0) == 1);
  CHECK(result32("setp.ne.f32 %p1, %f1, %f2;\nselp.b32 %r9, 1, 0, %p1;", nan, 0) == 0);
  CHECK(result32("setp.neu.f32 %p1, %f1, %f2;\nselp.b32 %r9, 1, 0, %p1;", nan, 0) == 1);
  CHECK(result32("setp.nan.f32 %p1, %f1, %f2;\nselp.b32 %r9, 1, 0, %p1;", nan, 0) == 1);
  CHECK(result32("setp.eq.s32 %p1, %r1, 3;\n@%p1 mov.u32 %r9, 1;\n@!%p1 mov.u32 %r9, 2;", 3) == 1);
}

TEST_CASE("floating-point results equal the host's where both round in the same way") {
  const float tiny = std::numeric_limits<float>::denorm_min();
  CHECK(result32("add.f32 %f4, %f1, %f2;\nmov.b32 %r9, %f4;", bits(0.1F), bits(0.2F)) == bits(0.1F + 0.2F));
  CHECK(result32("fma.rn.f32 %f4, %f1, %f2, %f3;\nmov.b32 %r9, %f4;", bits(1.0000001F), bits(1.0000001F),
                 bits(-1.0F)) == bits(std::fma(1.0000001F, 1.0000001F, -1.0F)));
  CHECK(result32("mul.f32 %f4, %f1, %f2;\nmov.b32 %r9, %f4;", bits(tiny), bits(1.0F)) == 1);
  CHECK(result32("mul.ftz.f32 %f4, %f1, %f2;\nmov.b32 %r9, %f4;", bits(tiny), bits(1.0F)) == 0);
  CHECK(result32("add.sat.f32 %f4, %f1, %f2;\nmov.b32 %r9, %f4;", bits(0.75F), bits(0.75F)) == bits(1.0F));
  CHECK(result32("div.rn.f32 %f4, %f1, %f2;\nmov.b32 %r9, %f4;", bits(1.0F), bits(3.0F)) == 0x3eaaaaab);
  CHECK(result32("div.rz.f32 %f4, %f1, %f2;\nmov.b32 %r9, %f4;", bits(1.0F), bits(3.0F)) == 0x3eaaaaaa);
  CHECK(result32("add.rp.f32 %f4, %f1, %f2;\nmov.b32 %r9, %f4;", bits(1.0F), bits(1e-20F)) == 0x3f800001);
  CHECK(result32("add.rm.f32 %f4, %f1, %f2;\nmov.b32 %r9, %f4;", bits(1.0F), bits(-1e-20F)) == 0x3f7fffff);
  CHECK(result32("sub.f32 %f4, %f1, %f2;\nmov.b32 %r9, %f4;", bits(INFINITY), bits(INFINITY)) == 0x7fffffff);
  CHECK(result32("min.f32 %f4, %f1, %f2;\nmov.b32 %r9, %f4;", 0x7fc00000, bits(2.0F)) == bits(2.0F));
  CHECK(result32("max.f32 %f4, %f1, %f2;\nmov.b32 %r9, %f4;", bits(-0.0F), bits(0.0F)) == 0);
  CHECK(result32("neg.f32 %f4, %f1;\nmov.b32 %r9, %f4;", 0x7fc00001) == 0xffc00001);
  CHECK(result32("sqrt.rn.f32 %f4, %f1;\nmov.b32 %r9, %f4;", bits(2.0F)) == bits(std::sqrt(2.0F)));
  CHECK(result64("fma.rn.f64 %fd4, %fd1, %fd2, %fd3;\nmov.b64 %rd9, %fd4;", bits(0.1), bits(10.0),
                 bits(-1.0)) == bits(std::fma(0.1, 10.0, -1.0)));
  CHECK(result64("div.rn.f64 %fd4, %fd1, %fd2;\nmov.b64 %rd9, %fd4;", bits(1.0), bits(3.0)) ==
        bits(1.0 / 3.0));
}

TEST_CASE("results of f16 and bf16 are rounded only once") {
  const std::string widen = "\ncvt.u32.u16 %r9, %h9;";
  CHECK(result32("add.f16 %h9, %h1, %h2;" + widen, 0x3c00, 0x1000) == 0x3c00);  // 1 + 2^-11, a tie: to even
  CHECK(result32("add.f16 %h9, %h1, %h2;" + widen, 0x3c01, 0x1000) == 0x3c02);
  CHECK(result32("mul.f16 %h9, %h1, %h2;" + widen, 0x7bff, 0x4000) ==
        0x7c00);  // beyond the largest: infinity
  // 1 · 2^-11 + 1 plus a much smaller number is no longer a tie.
  CHECK(result32("fma.rn.f16 %h9, %h1, %h2, %h3;" + widen, 0x1401, 0x3800, 0x3c00) == 0x3c01);
  CHECK(result32("add.f16x2 %r9, %r1, %r2;", 0x3c004000, 0x3c003c00) == 0x40004200);
  CHECK(result32("add.bf16 %h9, %h1, %h2;" + widen, 0x3f80, 0x3b80) == 0x3f80);  // 1 + 2^-8, a tie
  CHECK(result32("fma.rn.bf16 %h9, %h1, %h2, %h3;" + widen, 0x3b81, 0x3f80, 0x3f80) == 0x3f81);
}

TEST_CASE("cvt rounds, saturates and flushes as the ISA says") {
  CHECK(result32("cvt.rzi.s32.f32 %r9, %f1;", bits(-1.9F)) == 0xffffffff);
  CHECK(result32("cvt.rzi.s32.f32 %r9, %f1;", bits(3e9F)) == 0x7fffffff);
  CHECK(result32("cvt.rzi.u32.f32 %r9, %f1;", bits(-3.0F)) == 0);
  CHECK(result32("cvt.rzi.s32.f32 %r9, %f1;", 0x7fc00000) == 0);
  // If either type has 64 bits, NaN is converted to a number with only the highest bit set (PTX
  // ISA 9.7.9.22).
  CHECK(result64("cvt.rzi.s64.f32 %rd9, %f1;", 0x7fc00000) == 1ULL << 63);
  CHECK(result64("cvt.rzi.u64.f32 %rd9, %f1;", 0x7fc00000) == 1ULL << 63);
  CHECK(result64("cvt.rni.u64.f64 %rd9, %fd1;", 0x7ff8000000000000) == 1ULL << 63);
  CHECK(result32("cvt.rzi.s32.f64 %r9, %fd1;", 0x7ff8000000000000) == 0x80000000);
  CHECK(result32("cvt.rzi.u32.f64 %r9, %fd1;", 0xfff8000000000000) == 0x80000000);
  CHECK(result32("cvt.rni.s32.f32 %r9, %f1;", bits(2.5F)) == 2);
  CHECK(result32("cvt.rpi.s32.f32 %r9, %f1;", bits(2.1F)) == 3);
  CHECK(result32("cvt.rmi.f32.f32 %f4, %f1;\nmov.b32 %r9, %f4;", bits(-2.1F)) == bits(-3.0F));
  CHECK(result64("cvt.rzi.u64.f64 %rd9, %fd1;", bits(1e30)) == ~0ULL);
  CHECK(result32("cvt.rn.f32.s32 %f4, %r1;\nmov.b32 %r9, %f4;", 16777217) == bits(16777216.0F));
  CHECK(result32("cvt.rp.f32.u32 %f4, %r1;\nmov.b32 %r9, %f4;", 16777217) == bits(16777218.0F));
  CHECK(result32("cvt.rn.f32.u64 %f4, %rd1;\nmov.b32 %r9, %f4;", ~0ULL) == bits(18446744073709551616.0F));
  CHECK(result32("cvt.rn.f32.f64 %f4, %fd1;\nmov.b32 %r9, %f4;", bits(0.1)) == bits(0.1F));
  CHECK(result32("cvt.s32.s8 %r9, %r1;", 0x80) == 0xffffff80);
  CHECK(result32("cvt.u16.u32 %h9, %r1;\ncvt.u32.u16 %r9, %h9;", 0x12345) == 0x2345);
  CHECK(result32("cvt.sat.u8.s32 %r9, %r1;", 300) == 255);
  CHECK(result64("cvt.s64.s32 %rd9, %r1;", 0x80000000) == 0xffffffff80000000);
  const std::string widen = "\ncvt.u32.u16 %r9, %h9;";
  CHECK(result32("cvt.rn.f16.f32 %h9, %f1;" + widen, bits(65519.0F)) == 0x7bff);
  CHECK(result32("cvt.rn.f16.f32 %h9, %f1;" + widen, bits(65520.0F)) == 0x7c00);
  CHECK(result32("cvt.rn.f16.f32 %h9, %f1;" + widen, bits(std::ldexp(1.0F, -25))) == 0);
  CHECK(result32("cvt.rn.f16.f32 %h9, %f1;" + widen, bits(std::ldexp(1.5F, -25))) == 1);
  CHECK(result32("cvt.rz.f16.f32 %h9, %f1;" + widen, bits(1e9F)) == 0x7bff);
  CHECK(result32("cvt.rn.bf16x2.f32 %r9, %f1, %f2;", bits(1.0F), bits(-2.0F)) == 0x3f80c000);
  CHECK(result32("cvt.rn.satfinite.e4m3x2.f32 %h9, %f1, %f2;" + widen, bits(1000.0F), bits(1.0F)) == 0x7e38);
  CHECK(result32("cvt.rn.satfinite.e5m2x2.f32 %h9, %f1, %f2;" + widen, bits(-1e9F), 0x7fc00000) == 0xfb7f);
  CHECK(result32("cvt.rn.f16x2.e4m3x2 %r9, %h1;", 0x7e01) == 0x5f001800);
  CHECK(result32("cvt.rn.f16x2.e5m2x2 %r9, %h1;", 0x7c01) == 0x7c000100);
  CHECK(result32("cvt.rn.tf32.f32 %r9, %f1;", 0x3f801000) == 0x3f800000);
  CHECK(result32("cvt.rna.tf32.f32 %r9, %f1;", 0x3f801000) == 0x3f802000);
  CHECK(result32("cvt.f32.f16 %f9, %h1;\nmov.b32 %r9, %f9;", 0xfe01) == 0x7fffffff);
  CHECK(result32("cvt.rn.tf32.f32 %r9, %f1;", 0x7fc00001) == 0x7fffe000);
  CHECK(result32("cvt.rna.tf32.f32 %r9, %f1;", 0xffffffff) == 0xffffe000);
  CHECK(result32("cvt.rna.satfinite.tf32.f32 %r9, %f1;", 0x7fc00000) == 0x7fbfe000);
  CHECK(result32("cvt.f32.f32 %f9, %f1;\nmov.b32 %r9, %f9;", 0xff800001) == 0xff800001);
  CHECK(result32("cvt.rp.ftz.f16.f32 %h9, %f1;" + widen, 1) == 1);
  CHECK(result64("cvt.ftz.f64.f32 %fd9, %f1;\nmov.b64 %rd9, %fd9;", 0xffc00001) == 0x7fffffffe0000000);
  // Numbers between the largest subnormal and the smallest normal f32, in steps of a quarter of their
  // distance.
  const std::string flush = "cvt.rn.ftz.f32.f64 %f9, %fd1;\nmov.b32 %r9, %f9;";
  CHECK(result32(flush, 0xb80fffffefffffff) == 0x80000000);
  CHECK(result32(flush, 0xb80ffffff0000000) == 0x80800000);
  CHECK(result32("cvt.rn.f32.f64 %f9, %fd1;\nmov.b32 %r9, %f9;", 0xfff83a8a20000001) == 0xffc1d451);
}

TEST_CASE("lanes can exchange values, diverge and reconverge") {
  Words lanes(32);
  for (std::size_t i = 0; i < 32; ++i) lanes[i] = 100 + i;
  const Words down =
      evaluate("shfl.sync.down.b32 %r9|%p1, %r1, 4, 31, 0xffffffff;\ncvt.u64.u32 %rd9, %r9;", lanes);
  const Words xored =
      evaluate("shfl.sync.bfly.b32 %r9, %r1, 1, 31, 0xffffffff;\ncvt.u64.u32 %rd9, %r9;", lanes);
  const Words up = evaluate("shfl.sync.up.b32 %r9, %r1, 1, 0, 0xffffffff;\ncvt.u64.u32 %rd9, %r9;", lanes);
  const Words ballot = evaluate(
      "setp.ge.u32 %p1, %r1, 116;\nvote.sync.ballot.b32 %r9, %p1, 0xffffffff;\ncvt.u64.u32 %rd9, %r9;",
      lanes);
  // Lane n makes n − 100 iterations of the loop: each lane leaves it at another time, and then all
  // reconverge.
  const Words loop = evaluate(
      "sub.u32 %r4, %r1, 100;\nmov.u32 %r9, 0;\nL0:\nsetp.eq.u32 %p1, %r4, 0;\n@%p1 bra L1;\nadd.u32 %r9, "
      "%r9, %r4;\n"
      "sub.u32 %r4, %r4, 1;\nbra L0;\nL1:\nbar.warp.sync 0xffffffff;\nredux.sync.add.u32 %r5, %r9, "
      "0xffffffff;\n"
      "mov.b64 %rd9, {%r9, %r5};",
      lanes);
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < 32; ++i) sum += i * (i + 1) / 2;
  for (std::uint64_t i = 0; i < 32; ++i) {
    CAPTURE(i);
    CHECK(down[i] == (i + 4 < 32 ? 104 + i : 100 + i));
    CHECK(xored[i] == 100 + (i ^ 1));
    CHECK(up[i] == (i == 0 ? 100 : 99 + i));
    CHECK(ballot[i] == 0xffff0000);
    CHECK(loop[i] == (sum << 32 | i * (i + 1) / 2));
  }
}

}  // namespace scalar_test
