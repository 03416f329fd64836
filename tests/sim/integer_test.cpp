/// Compares less common integer instructions with host arithmetic on random operands.
#include "seed.hpp"
#include "sim/evaluate.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <random>

#include <spdlog/fmt/fmt.h>

namespace integer_test {

using namespace tests;

namespace {

__extension__ using Wide = unsigned __int128;

/// Random operands, many of which are edge values.
Words operands(std::mt19937_64& random, std::size_t n) {
  constexpr std::array<std::uint64_t, 9> edges{
      0, 1, ~0ULL, 1ULL << 63, (1ULL << 63) - 1, 0x80000000, 0x7fffffff, 0xffffffff, 32};
  Words words(n);
  for (auto& word : words)
    word = random() % 3 == 0 ? edges[random() % edges.size()] : random() >> random() % 64;
  return words;
}

using Function = std::function<std::uint64_t(std::uint64_t, std::uint64_t, std::uint64_t)>;

/// Compares the results of `body` with `expected` for 512 triples of operands.
void compare(const std::string& body, const Function& expected) {
  std::mt19937_64 random(seed(20261121));
  const Words a = operands(random, 512);
  const Words b = operands(random, 512);
  const Words c = operands(random, 512);
  const Words got = evaluate(body, a, b, c);
  for (std::size_t i = 0; i < a.size(); ++i) {
    const std::uint64_t want = expected(a[i], b[i], c[i]);
    if (got[i] == want) continue;
    INFO(body << "\na " << a[i] << " b " << b[i] << " c " << c[i] << " TMAJIT_SEED=" << seed(20261121));
    CHECK(got[i] == want);
    return;
  }
  SUCCEED();
}
void compare32(const std::string& body,
               const std::function<std::uint32_t(std::uint32_t, std::uint32_t, std::uint32_t)>& expected) {
  compare(body + "\ncvt.u64.u32 %rd9, %r9;", [&](std::uint64_t a, std::uint64_t b, std::uint64_t c) {
    return std::uint64_t{expected(static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b),
                                  static_cast<std::uint32_t>(c))};
  });
}

std::int64_t as_signed(std::uint32_t v) {
  return static_cast<std::int32_t>(v);
}
std::uint32_t saturated(std::int64_t v) {
  return static_cast<std::uint32_t>(std::min<std::int64_t>(std::max<std::int64_t>(v, INT32_MIN), INT32_MAX));
}

}  // namespace

TEST_CASE("carries are passed on in 128-bit sums, differences and products") {
  // 128-bit sums and differences of the pairs (c, a) and (a, b), high half first. The high half of the sum is
  // compared, then its low half, then the high half of the difference.
  const auto wide = [](std::uint64_t high, std::uint64_t low) { return Wide{high} << 64 | low; };
  const std::string add = "add.cc.u64 %rd4, %rd1, %rd2;\naddc.u64 %rd5, %rd3, %rd1;\n";
  compare(add + "mov.b64 %rd9, %rd5;", [&](auto a, auto b, auto c) {
    return static_cast<std::uint64_t>((wide(c, a) + wide(a, b)) >> 64);
  });
  compare(add + "mov.b64 %rd9, %rd4;", [&](auto a, auto b, auto) { return a + b; });
  compare("sub.cc.s64 %rd4, %rd1, %rd2;\nsubc.s64 %rd9, %rd3, %rd1;", [&](auto a, auto b, auto c) {
    return static_cast<std::uint64_t>((wide(c, a) - wide(a, b)) >> 64);
  });
  // Three 32-bit limbs; the middle one takes and gives a carry.
  compare(
      "mov.b64 {%r1, %r2}, %rd1;\nmov.b64 {%r3, %r4}, %rd2;\nadd.cc.u32 %r5, %r1, %r3;\n"
      "addc.cc.u32 %r6, %r2, %r4;\naddc.u32 %r7, 0, 0;\nmov.b64 %rd9, {%r6, %r7};",
      [&](auto a, auto b, auto) { return static_cast<std::uint64_t>((Wide{a} + b) >> 32); });
  compare(
      "mov.b64 {%r1, %r2}, %rd1;\nmov.b64 {%r3, %r4}, %rd2;\nsub.cc.u32 %r5, %r1, %r3;\n"
      "subc.cc.u32 %r6, %r2, %r4;\nsubc.u32 %r7, 0, 0;\nmov.b64 %rd9, {%r6, %r7};",
      [&](auto a, auto b, auto) { return static_cast<std::uint64_t>((Wide{a} - b) >> 32); });
  // a · b + c.
  compare("mad.lo.cc.u64 %rd4, %rd1, %rd2, %rd3;\nmadc.hi.u64 %rd9, %rd1, %rd2, 0;",
          [&](auto a, auto b, auto c) { return static_cast<std::uint64_t>((Wide{a} * b + c) >> 64); });
  compare("mad.hi.cc.u64 %rd4, %rd1, %rd2, %rd3;\naddc.u64 %rd9, 0, 0;", [&](auto a, auto b, auto c) {
    return static_cast<std::uint64_t>(((Wide{a} * b >> 64) + c) >> 64);
  });
}

TEST_CASE("saturated sums and 24-bit products equal the host's") {
  compare32("add.sat.s32 %r9, %r1, %r2;",
            [](auto a, auto b, auto) { return saturated(as_signed(a) + as_signed(b)); });
  compare32("sub.sat.s32 %r9, %r1, %r2;",
            [](auto a, auto b, auto) { return saturated(as_signed(a) - as_signed(b)); });
  compare32("mad.hi.sat.s32 %r9, %r1, %r2, %r3;", [](auto a, auto b, auto c) {
    return saturated((as_signed(a) * as_signed(b) >> 32) + as_signed(c));
  });
  const auto s24 = [](std::uint32_t v) { return std::int64_t{static_cast<std::int32_t>(v << 8) >> 8}; };
  compare32("mul24.lo.s32 %r9, %r1, %r2;",
            [&](auto a, auto b, auto) { return static_cast<std::uint32_t>(s24(a) * s24(b)); });
  compare32("mul24.hi.u32 %r9, %r1, %r2;", [](auto a, auto b, auto) {
    return static_cast<std::uint32_t>(std::uint64_t{a & 0xffffff} * (b & 0xffffff) >> 16);
  });
  compare32("mad24.hi.s32 %r9, %r1, %r2, %r3;",
            [&](auto a, auto b, auto c) { return static_cast<std::uint32_t>(s24(a) * s24(b) >> 16) + c; });
  compare32("mad24.lo.u32 %r9, %r1, %r2, %r3;", [](auto a, auto b, auto c) {
    return static_cast<std::uint32_t>(std::uint64_t{a & 0xffffff} * (b & 0xffffff)) + c;
  });
}

TEST_CASE("szext, bmsk and other bit operations give the results that the ISA defines") {
  CHECK(result32("szext.clamp.s32 %r9, %r1, %r2;", 0x8f, 8) == 0xffffff8f);
  CHECK(result32("szext.clamp.u32 %r9, %r1, %r2;", 0xfff8f, 8) == 0x8f);
  CHECK(result32("szext.clamp.s32 %r9, %r1, %r2;", 0x1234, 40) == 0x1234);
  CHECK(result32("szext.wrap.s32 %r9, %r1, %r2;", 0x1f8, 36) == 0xfffffff8);
  CHECK(result32("szext.wrap.s32 %r9, %r1, %r2;", 0x1f8, 32) == 0);
  CHECK(result32("bmsk.clamp.b32 %r9, %r1, %r2;", 4, 8) == 0xff0);
  CHECK(result32("bmsk.clamp.b32 %r9, %r1, %r2;", 4, 32) == 0xfffffff0);
  CHECK(result32("bmsk.clamp.b32 %r9, %r1, %r2;", 33, 3) == 0);
  CHECK(result32("bmsk.wrap.b32 %r9, %r1, %r2;", 33, 3) == 0xe);
  CHECK(result32("bmsk.wrap.b32 %r9, %r1, %r2;", 1, 32) == 0);
  CHECK(result32("bmsk.clamp.b32 %r9, %r1, %r2;", 28, 8) == 0xf0000000);
  CHECK(result32("fns.b32 %r9, %r1, 0, 1;", 0b10110) == 1);
  CHECK(result32("fns.b32 %r9, %r1, 2, 2;", 0b10110) == 4);
  CHECK(result32("fns.b32 %r9, %r1, 4, -3;", 0b10110) == 1);
  CHECK(result32("fns.b32 %r9, %r1, 3, 0;", 0b10110) == 0xffffffff);
  CHECK(result32("fns.b32 %r9, %r1, 4, 0;", 0b10110) == 4);
  CHECK(result32("fns.b32 %r9, %r1, 0, 4;", 0b10110) == 0xffffffff);
}

TEST_CASE("dot products of bytes and 16-bit words equal the host's") {
  const auto byte = [](std::uint32_t v, int i, bool sign) {
    const auto b = static_cast<std::uint8_t>(v >> 8 * i);
    return sign ? std::int64_t{static_cast<std::int8_t>(b)} : std::int64_t{b};
  };
  const auto half = [](std::uint32_t v, int i, bool sign) {
    const auto h = static_cast<std::uint16_t>(v >> 16 * i);
    return sign ? std::int64_t{static_cast<std::int16_t>(h)} : std::int64_t{h};
  };
  for (const bool x : {false, true}) {
    for (const bool y : {false, true}) {
      const std::string types = std::string(x ? ".s32" : ".u32") + (y ? ".s32" : ".u32");
      compare32("dp4a" + types + " %r9, %r1, %r2, %r3;", [&](auto a, auto b, auto c) {
        std::int64_t sum = c;
        for (int i = 0; i < 4; ++i) sum += byte(a, i, x) * byte(b, i, y);
        return static_cast<std::uint32_t>(sum);
      });
      for (const int high : {0, 1}) {
        compare32("dp2a" + std::string(high != 0 ? ".hi" : ".lo") + types + " %r9, %r1, %r2, %r3;",
                  [&](auto a, auto b, auto c) {
                    return static_cast<std::uint32_t>(c + half(a, 0, x) * byte(b, 2 * high, y) +
                                                      half(a, 1, x) * byte(b, 2 * high + 1, y));
                  });
      }
    }
  }
}

TEST_CASE("operations on pairs of 16-bit integers, and relu, equal the host's") {
  CHECK(result32("add.u16x2 %r9, %r1, %r2;", 0x0001ffff, 0x00020001) == 0x00030000);
  CHECK(result32("min.s16x2 %r9, %r1, %r2;", 0xffff0005, 0x00010004) == 0xffff0004);
  CHECK(result32("min.u16x2 %r9, %r1, %r2;", 0xffff0005, 0x00010004) == 0x00010004);
  CHECK(result32("max.s16x2.relu %r9, %r1, %r2;", 0xffff0005, 0xfffe0004) == 0x00000005);
  CHECK(result32("min.s32.relu %r9, %r1, %r2;", 0xffffffff, 4) == 0);
  CHECK(result32("max.s32.relu %r9, %r1, %r2;", 3, 4) == 4);
}

TEST_CASE("prmt in each mode, and slct, select the right operands") {
  const std::uint64_t a = 0x33221100;
  const std::uint64_t b = 0x77665544;
  CHECK(result32("prmt.b32.f4e %r9, %r1, %r2, %r3;", a, b, 1) == 0x44332211);
  CHECK(result32("prmt.b32.b4e %r9, %r1, %r2, %r3;", a, b, 2) == 0x77001122);
  CHECK(result32("prmt.b32.rc8 %r9, %r1, %r2, %r3;", a, b, 7) == 0x33333333);
  CHECK(result32("prmt.b32.ecl %r9, %r1, %r2, %r3;", a, b, 2) == 0x33222222);
  CHECK(result32("prmt.b32.ecr %r9, %r1, %r2, %r3;", a, b, 1) == 0x11111100);
  CHECK(result32("prmt.b32.rc16 %r9, %r1, %r2, %r3;", a, b, 1) == 0x33223322);
  CHECK(result32("slct.u32.s32 %r9, %r1, %r2, %r3;", 1, 2, 0) == 1);
  CHECK(result32("slct.u32.s32 %r9, %r1, %r2, %r3;", 1, 2, 0x80000000) == 2);
  CHECK(result32("slct.b32.f32 %r9, %r1, %r2, %f3;", 1, 2, bits(-0.0F)) == 1);
  CHECK(result32("slct.b32.f32 %r9, %r1, %r2, %f3;", 1, 2, 0x7fc00000) == 2);
  CHECK(result64("slct.b64.s32 %rd9, %rd1, %rd2, %r3;", 1, 2, 0xffffffff) == 2);
}

TEST_CASE("cvt.pack clamps two integers and packs them below the bits of a third operand") {
  CHECK(result32("cvt.pack.sat.s16.s32 %r9, %r1, %r2;", 0x7fff, 0xffff8000) == 0x7fff8000);
  CHECK(result32("cvt.pack.sat.s16.s32 %r9, %r1, %r2;", 0x8000, 0xffff7fff) == 0x7fff8000);
  CHECK(result32("cvt.pack.sat.s16.s32 %r9, %r1, %r2;", 0xffffffff, 1) == 0xffff0001);
  CHECK(result32("cvt.pack.sat.u16.s32 %r9, %r1, %r2;", 0x10000, 0xffffffff) == 0xffff0000);
  CHECK(result32("cvt.pack.sat.u16.s32 %r9, %r1, %r2;", 0xfffe, 0x80000000) == 0xfffe0000);
  CHECK(result32("cvt.pack.sat.u8.s32.b32 %r9, %r1, %r2, 0;", 0x12, 0x34) == 0x1234);
  CHECK(result32("cvt.pack.sat.u8.s32.b32 %r9, %r1, %r2, %r3;", 256, 0xffffffff, 0xabcd1234) == 0x1234ff00);
  CHECK(result32("cvt.pack.sat.s8.s32.b32 %r9, %r1, %r2, %r3;", 128, 0xffffff7f, 0x5678) == 0x56787f80);
  CHECK(result32("cvt.pack.sat.u4.s32.b32 %r9, %r1, %r2, %r3;", 16, 3, 0x87654321) == 0x654321f3);
  CHECK(result32("cvt.pack.sat.s4.s32.b32 %r9, %r1, %r2, %r3;", 8, 0xfffffff7, 0x87654321) == 0x65432178);
  CHECK(result32("cvt.pack.sat.u2.s32.b32 %r9, %r1, %r2, %r3;", 4, 0xffffffff, 0xf0000001) == 0x1c);
  CHECK(result32("cvt.pack.sat.s2.s32.b32 %r9, %r1, %r2, %r3;", 2, 0xfffffffd, 1) == 0x16);
  // Four bytes in two steps. The destination of the second step is also its third operand.
  CHECK(result32("cvt.pack.sat.u8.s32.b32 %r9, %r1, %r2, 0;\ncvt.pack.sat.u8.s32.b32 %r9, %r3, 1, %r9;", 4, 3,
                 2) == 0x04030201);
  for (const std::uint32_t bits : {2, 4, 8, 16}) {
    for (const bool is_signed : {false, true}) {
      const std::string type = (is_signed ? ".s" : ".u") + std::to_string(bits);
      const std::int64_t one = 1;
      const std::int64_t low = is_signed ? -(one << (bits - 1)) : 0;
      const auto part = [&](std::uint32_t v) {
        const std::int64_t clamped = std::clamp(as_signed(v), low, low + (one << bits) - 1);
        return static_cast<std::uint64_t>(clamped) & ((1ULL << bits) - 1);
      };
      const std::string operands = bits == 16 ? ".s32 %r9, %r1, %r2;" : ".s32.b32 %r9, %r1, %r2, %r3;";
      compare32(fmt::format("cvt.pack.sat{}{}", type, operands), [&](auto a, auto b, auto c) {
        return static_cast<std::uint32_t>(std::uint64_t{c} << 2 * bits | part(a) << bits | part(b));
      });
    }
  }
}

TEST_CASE("setp combines predicates, and lop3 gives one") {
  // The combined predicate is also the destination.
  CHECK(result32("setp.lt.u32 %p1, %r1, %r2;\nsetp.gt.and.u32 %p1, %r2, 5, %p1;\nselp.u32 %r9, 1, 0, %p1;", 1,
                 6) == 1);
  CHECK(result32(
            "setp.lt.u32 %p1, %r1, %r2;\nsetp.gt.xor.u32 %p1|%p2, %r2, 5, !%p1;\nselp.u32 %r9, 1, 0, %p1;\n"
            "selp.u32 %r8, 2, 0, %p2;\nadd.u32 %r9, %r9, %r8;",
            1, 6) == 1);
  const std::string set = "setp.eq.u32 %p1, %r3, 1;\n";
  const std::string read = "selp.u32 %r8, 0x100, 0, %p2;\nadd.u32 %r9, %r9, %r8;";
  CHECK(result32(set + "lop3.and.b32 %r9|%p2, %r1, %r2, 0xff, 0xc0, %p1;\n" + read, 0xf0, 0x18, 1) == 0x110);
  CHECK(result32(set + "lop3.and.b32 %r9|%p2, %r1, %r2, 0xff, 0xc0, %p1;\n" + read, 0xf0, 0x18, 0) == 0x10);
  CHECK(result32(set + "lop3.or.b32 %r9|%p2, %r1, %r2, 0xff, 0xc0, %p1;\n" + read, 0xf0, 0x0f, 1) == 0x100);
}

TEST_CASE("128-bit registers can be packed and unpacked") {
  CHECK(
      result64(
          ".reg .b128 %q<3>;\nmov.b128 %q1, {%rd1, %rd2};\nmov.b128 %q2, %q1;\nmov.b128 {%rd5, %rd6}, %q2;\n"
          "sub.u64 %rd9, %rd6, %rd5;",
          3, 10) == 7);
  // The halves are exchanged.
  CHECK(result64(".reg .b128 %q<3>;\nmov.b128 {%rd1, %rd2}, %q1;\nmov.b64 %rd1, 4;\nmov.b64 %rd2, 9;\n"
                 "mov.b128 %q1, {%rd1, %rd2};\nmov.b128 {%rd2, %rd1}, %q1;\nsub.u64 %rd9, %rd1, %rd2;",
                 0) == 5);
}

TEST_CASE("clocks increase") {
  CHECK(result64("mov.u64 %rd4, %clock64;\nmov.u64 %rd5, %clock64;\nsub.u64 %rd9, %rd5, %rd4;", 0) > 0);
  CHECK(result64("mov.u64 %rd4, %globaltimer;\nL:\nmov.u64 %rd5, %globaltimer;\nsub.u64 %rd9, %rd5, %rd4;\n"
                 "setp.lt.u64 %p1, %rd9, 50000;\n@%p1 bra L;",
                 0) >= 50000);
}

}  // namespace integer_test
