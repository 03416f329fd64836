/// Atomics on halves, on vectors and on 128 bits; testp, mov of bytes and of 128 bits, the stack.
#include "sim/evaluate.hpp"
#include "sim/text_kernel.hpp"

#include <cmath>

namespace atomic_test {

using namespace tests;
using text::Outcome;

namespace {

/// Runs one thread on these words, and returns them. %rd1 is their address, and %r5 that of shared memory.
std::vector<std::uint32_t> words_after(const std::string& body, std::vector<std::uint32_t> words) {
  words.resize(32);
  const Outcome outcome = text::run(
      text::registers +
          ".reg .b16 %h<20>;\n.reg .f32 %f<20>;\n.reg .b128 %q<5>;\n.reg .b64 %w<9>;\n.reg .b32 %x<20>;\n" +
          body + "\nret;",
      {.grid = 1, .cluster = 1, .block = 1, .words = std::move(words)});
  text::expect_clean(outcome);
  return outcome.words;
}

constexpr std::uint32_t pair(std::uint32_t low, std::uint32_t high) {
  return low | high << 16;
}

}  // namespace

TEST_CASE("atomics of halves return the old value, and keep subnormal values") {
  // 1 + 2 and 0.5 + 1 in f16, and the sum of two smallest subnormal numbers.
  const auto f16 = words_after(
      "ld.global.u32 %x1, [%rd1+4];\natom.global.add.noftz.f16x2 %x2, [%rd1], %x1;\nst.global.u32 [%rd1+8], "
      "%x2;\n"
      "mov.b16 %h1, 1;\natom.add.noftz.f16 %h2, [%rd1+12], %h1;\nst.global.u16 [%rd1+16], %h2;",
      {pair(0x3c00, 0x3800), pair(0x4000, 0x3c00), 0, 1});
  CHECK(f16[0] == pair(0x4200, 0x3e00));
  CHECK(f16[2] == pair(0x3c00, 0x3800));
  CHECK(f16[3] == 2);
  CHECK(f16[4] == 1);
  const auto bf16 = words_after(
      "ld.global.u32 %x1, [%rd1+4];\natom.relaxed.gpu.global.add.noftz.bf16x2 %x2, [%rd1], %x1;\n"
      "st.global.u32 [%rd1+8], %x2;\nred.global.add.noftz.bf16x2 [%rd1], %x1;",
      {pair(0x3f80, 0x4000), pair(0x4000, 0x3f80)});
  CHECK(bf16[0] == pair(0x40a0, 0x4080));  // 1 + 2 + 2, 2 + 1 + 1
  CHECK(bf16[2] == pair(0x3f80, 0x4000));
  const auto shared = words_after(
      "st.shared.u32 [%r5], 0;\nld.global.u32 %x1, [%rd1];\natom.shared.add.noftz.f16x2 %x2, [%r5], %x1;\n"
      "atom.shared.add.noftz.f16x2 %x3, [%r5], %x1;\nld.shared.u32 %x4, [%r5];\nst.global.v2.u32 [%rd1], "
      "{%x3, %x4};",
      {pair(0x3c00, 0xbc00)});
  CHECK(shared[0] == pair(0x3c00, 0xbc00));
  CHECK(shared[1] == pair(0x4000, 0xc000));
}

TEST_CASE("sums of f32 flush subnormal values in global memory, and keep them in shared memory") {
  const std::string sums =
      "ld.global.f32 %f1, [%rd1];\nst.shared.f32 [%r5], %f1;\natom.global.add.f32 %f2, [%rd1], %f1;\n"
      "atom.shared.add.f32 %f3, [%r5], %f1;\nred.shared.add.f32 [%r5], %f1;\nld.shared.f32 %f4, [%r5];\n"
      "st.global.f32 [%rd1+4], %f2;\nst.global.f32 [%rd1+8], %f4;";
  const auto small = words_after(sums, {5});
  CHECK(small[0] == 0);
  CHECK(small[1] == 5);
  CHECK(small[2] == 15);
  CHECK(words_after(sums, {bits(1.5F)})[0] == bits(3.0F));
  // The smallest normal number minus a subnormal one, and the subnormal difference of two normal numbers. An
  // H200 gave the expected results.
  const std::string differences =
      "ld.global.f32 %f1, [%rd1];\nld.global.f32 %f2, [%rd1+4];\nst.shared.f32 [%r5], %f1;\n"
      "atom.global.add.f32 %f3, [%rd1], %f2;\nred.shared.add.f32 [%r5], %f2;\nld.shared.f32 %f4, [%r5];\n"
      "st.global.f32 [%rd1+4], %f4;";
  const auto least = words_after(differences, {0x00800000, 0x80000001});
  CHECK(least[0] == 0x00800000);
  CHECK(least[1] == 0x007fffff);
  const auto near = words_after(differences, {0x00800003, 0x80800001});
  CHECK(near[0] == 0);
  CHECK(near[1] == 2);
}

TEST_CASE("atomics of vectors combine each element") {
  const auto sums = words_after(
      "ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1];\n"
      "atom.global.v4.f32.add {%f5, %f6, %f7, %f8}, [%rd1], {%f4, %f3, %f2, %f1};\n"
      "st.global.v4.f32 [%rd1+16], {%f5, %f6, %f7, %f8};\nred.global.add.v2.f32 [%rd1+24], {%f1, %f1};",
      {bits(1.0F), bits(2.0F), bits(3.0F), bits(4.0F)});
  for (std::uint32_t i = 0; i < 4; ++i) CHECK(sums[i] == bits(5.0F));
  CHECK(sums[4] == bits(1.0F));
  CHECK(sums[6] == bits(4.0F));
  CHECK(sums[7] == bits(5.0F));
  const auto most = words_after(
      "ld.global.v2.u32 {%x1, %x2}, [%rd1+8];\natom.global.max.noftz.v2.f16x2 {%x3, %x4}, [%rd1], {%x1, "
      "%x2};\n"
      "st.global.v2.u32 [%rd1+16], {%x3, %x4};\nred.global.min.noftz.v2.bf16x2 [%rd1+8], {%x3, %x4};",
      {pair(0x3c00, 0xc000), pair(0x4000, 0), pair(0x4000, 0xbc00), pair(0x3c00, 0x8000)});
  CHECK(most[0] == pair(0x4000, 0xbc00));
  CHECK(most[1] == pair(0x4000, 0));
  CHECK(most[2] == pair(0x3c00, 0xc000));
  CHECK(most[3] == pair(0x3c00, 0x8000));
  CHECK(most[4] == pair(0x3c00, 0xc000));
  const auto eight = words_after(
      "mov.b16 %h1, 0x3c00;\natom.global.add.noftz.v8.f16 {%h2, %h3, %h4, %h5, %h6, %h7, %h8, %h9}, [%rd1], "
      "{%h1, %h1, %h1, %h1, %h1, %h1, %h1, %h1};\nst.global.v2.u16 [%rd1+16], {%h2, %h9};",
      {pair(0, 0x3c00), pair(0x4000, 0), 0, pair(0, 0x4000)});
  CHECK(eight[0] == pair(0x3c00, 0x4000));
  CHECK(eight[3] == pair(0x3c00, 0x4200));
  CHECK(eight[4] == pair(0, 0x4000));
}

TEST_CASE("compare and swap, and exchange, work on 128 bits") {
  const std::string load =
      "ld.global.v2.b64 {%w1, %w2}, [%rd1+16];\nld.global.v2.b64 {%w3, %w4}, [%rd1+32];\n"
      "mov.b128 %q1, {%w1, %w2};\nmov.b128 %q2, {%w3, %w4};\n";
  const std::string store = "\nmov.b128 {%w5, %w6}, %q3;\nst.global.v2.b64 [%rd1+48], {%w5, %w6};";
  const std::vector<std::uint32_t> words{1, 2, 3, 4, 1, 2, 3, 4, 5, 6, 7, 8};
  const auto equal = words_after(load + "atom.global.cas.b128 %q3, [%rd1], %q1, %q2;" + store, words);
  const auto differs = words_after(load + "atom.cas.b128 %q3, [%rd1+32], %q1, %q2;" + store, words);
  const auto exchanged = words_after(load + "atom.exch.b128.global %q3, [%rd1], %q2;" + store, words);
  for (std::uint32_t i = 0; i < 4; ++i) {
    CHECK(equal[i] == 5 + i);
    CHECK(equal[12 + i] == 1 + i);
    CHECK(differs[8 + i] == 5 + i);
    CHECK(differs[12 + i] == 5 + i);
    CHECK(exchanged[i] == 5 + i);
    CHECK(exchanged[12 + i] == 1 + i);
  }
  const auto shared =
      words_after(load + "st.shared.v2.b64 [%r5], {%w1, %w2};\natom.shared.cas.b128 %q3, [%r5], %q1, %q2;" +
                      store + "\nld.shared.v2.b64 {%w1, %w2}, [%r5];\nst.global.v2.b64 [%rd1], {%w1, %w2};",
                  words);
  CHECK(shared[0] == 5);
  CHECK(shared[3] == 8);
  CHECK(shared[12] == 1);
}

TEST_CASE("mov packs and unpacks bytes, and 128 bits in four registers") {
  CHECK(result32(".reg .b8 %b<5>;\nmov.b32 {%b1, %b2, %b3, %b4}, %r1;\nmov.b32 %r9, {%b4, %b3, %b2, %b1};",
                 0x12345678) == 0x78563412);
  CHECK(result32(
            ".reg .b8 %b<5>;\nmov.b16 {%b1, %b2}, %h1;\nmov.b16 %h9, {%b2, %b1};\nmov.b32 %r9, {%h9, %h1};",
            0xabcd) == 0xabcdcdab);
  const auto words = words_after(
      ".reg .b8 %b<5>;\nld.global.v4.u32 {%x1, %x2, %x3, %x4}, [%rd1];\nmov.b128 %q1, {%x4, %x3, %x2, %x1};\n"
      "mov.b128 {%x5, %x6, %x7, %x8}, %q1;\nst.global.v4.u32 [%rd1], {%x5, %x6, %x7, %x8};",
      {1, 2, 3, 4});
  CHECK((words[0] == 4 && words[1] == 3 && words[2] == 2 && words[3] == 1));
}

TEST_CASE("testp classifies every kind of number") {
  struct Kind {
    const char* test;
    bool (*holds)(double);
  };
  const Kind kinds[] = {
      {"finite", [](double x) { return std::isfinite(x); }},
      {"infinite", [](double x) { return std::isinf(x); }},
      {"number", [](double x) { return !std::isnan(x); }},
      {"notanumber", [](double x) { return std::isnan(x); }},
  };
  const auto is_of_kind = [](const std::string& test, const char* type, const char* from,
                             std::uint64_t word) {
    const std::string body = "testp." + test + "." + type + " %p1, " + from +
                             ";\nselp.u32 %r9, 1, 0, %p1;\nmov.b64 %rd9, {%r9, 0};";
    return result64(body, word) == 1;
  };
  for (const std::uint32_t word :
       {0x00000000U, 0x80000000U, 0x00000001U, 0x807fffffU, 0x00800000U, 0x3f800000U, 0xff7fffffU,
        0x7f800000U, 0xff800000U, 0x7f800001U, 0xffffffffU}) {
    const auto value = std::bit_cast<float>(word);
    CAPTURE(word);
    for (const auto& [test, holds] : kinds) {
      CAPTURE(test);
      CHECK(is_of_kind(test, "f32", "%f1", word) == holds(value));
    }
    const bool subnormal = (word & 0x7f800000) == 0 && (word & 0x7fffff) != 0;
    CHECK(is_of_kind("subnormal", "f32", "%f1", word) == subnormal);
    CHECK(is_of_kind("normal", "f32", "%f1", word) == (std::isfinite(value) && !subnormal));
  }
  CHECK(is_of_kind("subnormal", "f64", "%fd1", 1));
  CHECK(is_of_kind("normal", "f64", "%fd1", 0x8000000000000000));
  CHECK(is_of_kind("infinite", "f64", "%fd1", 0x7ff0000000000000));
  CHECK(is_of_kind("notanumber", "f64", "%fd1", 0x7ff0000000000001));
}

TEST_CASE("alloca gives each thread its own memory, which stackrestore frees") {
  const std::string twice =
      "stacksave.u64 %w1;\nalloca.u64 %w2, 40, 16;\nand.b64 %w3, %w2, 15;\ncvt.u32.u64 %x1, %w3;\n"
      "st.local.u32 [%w2+36], %r1;\nalloca.u64 %w4, 8;\nst.local.u32 [%w4], 77;\nld.local.u32 %x2, "
      "[%w2+36];\n"
      "stackrestore.u64 %w1;\nalloca.u64 %w5, 40, 16;\nsub.u64 %w5, %w5, %w2;\ncvt.u32.u64 %x3, %w5;\n"
      "cvta.local.u64 %w6, %w2;\nld.u32 %x4, [%w6+36];\n";
  const auto words = words_after(twice + "st.global.v4.u32 [%rd1], {%x1, %x2, %x3, %x4};", {});
  CHECK((words[0] == 0 && words[1] == 0 && words[2] == 0 && words[3] == 0));
  const Outcome all = text::run(text::registers + ".reg .b64 %w<9>;\n.reg .b32 %x<9>;\n" + twice +
                                    text::element + "st.global.u32 [%rd3], %x2;\nret;",
                                {.grid = 1, .cluster = 1});
  text::expect_clean(all);
  for (std::uint32_t i = 0; i < 32; ++i) CHECK(all.words[i] == i);
  text::expect_only(text::run(text::registers + ".reg .b32 %x<3>;\nalloca.u32 %x1, 20000;\nret;",
                              {.grid = 1, .cluster = 1, .block = 1}),
                    "call.depth");
}

TEST_CASE("memory from a function's alloca is freed at its return") {
  const std::string function =
      ".func (.param .b32 out) probe (.param .b32 n)\n{\n.reg .b32 %x<4>;\nld.param.b32 %x1, [n];\n"
      "alloca.u32 %x2, %x1;\nst.local.u32 [%x2], %x1;\nst.param.b32 [out], %x2;\nret;\n}\n";
  const std::string call =
      "{ .param .b32 n; .param .b32 out; st.param.b32 [n], 64; call.uni (out), probe, (n); ld.param.b32 ";
  const Outcome outcome =
      text::run(text::registers + ".reg .b32 %x<4>;\n" + call + "%x1, [out]; }\n" + call +
                    "%x2, [out]; }\nsub.u32 %x1, %x1, %x2;\nst.global.u32 [%rd1], %x1;\nret;",
                {.grid = 1, .cluster = 1, .block = 1, .words = {9}}, function);
  text::expect_clean(outcome);
  CHECK(outcome.words[0] == 0);
}

}  // namespace atomic_test
