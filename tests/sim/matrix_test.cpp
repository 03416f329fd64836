/// ldmatrix, stmatrix, movmatrix and mma: each element must be where the tables of the PTX ISA say.
#include "sim/support.hpp"

#include <array>
#include <bit>
#include <random>

#include <catch2/matchers/catch_matchers_string.hpp>

namespace matrix_test {

using namespace tmajit;

namespace {

/// Runs `body` on one warp, and returns the words afterwards. %rd1 is the address of the lane's 16 words in
/// `words`.
std::vector<std::uint32_t> run(const std::string& body, std::vector<std::uint32_t> words) {
  const auto sim = make_sim_device({.threads = 1});
  const auto kernel = sim->kernels().load(tests::module_of(
      ".reg .pred %p<9>;\n.reg .b32 %r<60>;\n.reg .b64 %rd<9>;\n.shared .align 16 .b8 tile[1024];\n"
      "ld.param.u64 %rd1, [p0];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, 64;\nadd.u64 %rd1, %rd1, "
      "%rd2;\n" +
          body + "\nret;",
      1));
  words.resize(32ULL * 16);
  const Buffer buffer(sim, words.size() * 4);
  sim->memory().copy_in(buffer.address(), std::as_bytes(std::span(words)), nullptr);
  std::uint64_t address = buffer.address();
  void* const parameters[] = {&address};
  kernel->launch({.grid = {1, 1, 1}, .block = {32, 1, 1}}, parameters, nullptr);
  sim->streams().synchronize(nullptr);
  sim->memory().copy_out(std::as_writable_bytes(std::span(words)), address, nullptr);
  return words;
}

/// Writes 512 16-bit elements to shared memory; element i is i. %r2 is the address of this lane's row.
const std::string fill =
    "shl.b32 %r3, %r1, 5;\nmov.u32 %r4, tile;\nadd.u32 %r3, %r3, %r4;\nmul.lo.u32 %r5, %r1, 0x100010;\n"
    "add.u32 %r5, %r5, 0x10000;\nmov.u32 %r6, 0;\nF:\nst.shared.u32 [%r3], %r5;\nadd.u32 %r5, %r5, 0x20002;\n"
    "add.u32 %r3, %r3, 4;\nadd.u32 %r6, %r6, 1;\nsetp.lt.u32 %p1, %r6, 8;\n@%p1 bra F;\nbar.sync 0;\n"
    "shl.b32 %r2, %r1, 4;\nadd.u32 %r2, %r2, %r4;\n";

}  // namespace

TEST_CASE("ldmatrix gives each lane two elements of each matrix") {
  const auto words =
      run(fill +
              "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r10, %r11, %r12, %r13}, [%r2];\n"
              "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r14, %r15}, [%r2];\n"
              "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r16}, [%r2];\nmovmatrix.sync.aligned.m8n8."
              "trans.b16 %r17, %r16;\n"
              "st.global.v4.u32 [%rd1], {%r10, %r11, %r12, %r13};\n"
              "st.global.v4.u32 [%rd1+16], {%r14, %r15, %r16, %r17};",
          {});
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    const std::uint32_t row = lane / 4;
    const std::uint32_t column = lane % 4 * 2;
    const auto element = [](std::uint32_t m, std::uint32_t r, std::uint32_t c) { return 64 * m + 8 * r + c; };
    const auto plain = [&](std::uint32_t m) {
      return element(m, row, column) | element(m, row, column + 1) << 16;
    };
    const auto transposed = [&](std::uint32_t m) {
      return element(m, column, row) | element(m, column + 1, row) << 16;
    };
    for (std::uint32_t m = 0; m < 4; ++m) CHECK(words[lane * 16 + m] == plain(m));
    CHECK(words[lane * 16 + 4] == transposed(0));
    CHECK(words[lane * 16 + 5] == transposed(1));
    CHECK(words[lane * 16 + 6] == plain(0));
    CHECK(words[lane * 16 + 7] == transposed(0));
  }
}

TEST_CASE("stmatrix is the inverse of ldmatrix") {
  const auto words =
      run(fill +
              "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r10, %r11, %r12, %r13}, [%r2];\nbar.sync 0;\n"
              "stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%r2], {%r10, %r11, %r12, %r13};\n"
              "bar.sync 0;\nld.shared.v4.u32 {%r14, %r15, %r16, %r17}, [%r2];\n"
              "st.global.v4.u32 [%rd1], {%r14, %r15, %r16, %r17};",
          {});
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    for (std::uint32_t i = 0; i < 8; ++i) {
      const std::uint32_t got = words[lane * 16 + i / 2] >> 16 * (i % 2) & 0xffff;
      CHECK(got == 64 * (lane / 8) + 8 * i + lane % 8);
    }
  }
}

namespace {

/// An mma, d = a b + c, of integers that every type represents exactly.
struct Product {
  std::string instruction;
  std::uint32_t m = 16;
  std::uint32_t k = 16;
  std::uint32_t per_register = 2;          ///< elements of a and b in a 32-bit register
  std::uint32_t (*encode)(int) = nullptr;  ///< the bits of a number of a or b
  bool integer = false;                    ///< c and d are s32, not f32
  bool half_result = false;                ///< c and d are f16, not f32
  int least = -8;                          ///< smallest number in a and b
  int most = 8;
  bool by_xor = false;  ///< for b1: multiplies by xor instead of and
};

std::uint32_t as_f16(int v) {
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(v));
  if (v == 0) return 0;
  return (bits >> 16 & 0x8000) | ((bits >> 23 & 255) - 127 + 15) << 10 | (bits >> 13 & 0x3ff);
}
std::uint32_t as_bf16(int v) {
  return std::bit_cast<std::uint32_t>(static_cast<float>(v)) >> 16;
}
std::uint32_t as_tf32(int v) {
  return std::bit_cast<std::uint32_t>(static_cast<float>(v)) | 0x1fff;  // ignored bits
}
std::uint32_t as_byte(int v) {
  return static_cast<std::uint32_t>(v) & 255;
}
std::uint32_t as_nibble(int v) {
  return static_cast<std::uint32_t>(v) & 15;
}
std::uint32_t as_bit(int v) {
  return static_cast<std::uint32_t>(v);
}

void check(const Product& product) {
  INFO(product.instruction);
  std::mt19937 random(7);
  const auto number = [&] {
    return static_cast<int>(random() % static_cast<std::uint32_t>(product.most - product.least + 1)) +
           product.least;
  };
  std::vector<std::vector<int>> a(product.m, std::vector<int>(product.k));
  std::vector<std::vector<int>> b(product.k, std::vector<int>(8));
  std::vector<std::vector<int>> c(product.m, std::vector<int>(8));
  for (auto* matrix : {&a, &b, &c}) {
    for (auto& row : *matrix) {
      for (int& v : row) v = number();
    }
  }
  const std::uint32_t a_registers = product.m * product.k / 32 / product.per_register;
  const std::uint32_t b_registers = 8 * product.k / 32 / product.per_register;
  const std::uint32_t c_registers = product.m * 8 / (product.half_result ? 64 : 32);
  std::vector<std::uint32_t> words(512);
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    const std::uint32_t group = lane / 4;
    const std::uint32_t in_group = lane % 4;
    std::uint32_t* const mine = &words[std::size_t{lane} * 16];
    const std::uint32_t bits = 32 / product.per_register;
    // The numbering of the ISA: a register has `per_register` elements a_i or b_i. Adjacent registers of a
    // are 8 rows apart.
    for (std::uint32_t i = 0; i < a_registers * product.per_register; ++i) {
      const std::uint32_t reg = i / product.per_register;
      const bool lower = product.m == 16 && reg % 2 == 1;
      const std::uint32_t block = product.m == 16 ? reg / 2 : reg;
      const std::uint32_t column =
          in_group * product.per_register + i % product.per_register + block * 4 * product.per_register;
      mine[reg] |= product.encode(a[group + (lower ? 8 : 0)][column]) << bits * (i % product.per_register);
    }
    for (std::uint32_t i = 0; i < b_registers * product.per_register; ++i) {
      const std::uint32_t row = in_group * product.per_register + i % product.per_register +
                                i / product.per_register * 4 * product.per_register;
      mine[4 + i / product.per_register] |= product.encode(b[row][group])
                                            << bits * (i % product.per_register);
    }
    for (std::uint32_t i = 0; i < product.m / 4; ++i) {
      const int v = c[group + i / 2 * 8][in_group * 2 + i % 2];
      if (product.half_result) {
        mine[8 + i / 2] |= as_f16(v) << 16 * (i % 2);
      } else {
        mine[8 + i] = product.integer ? static_cast<std::uint32_t>(v)
                                      : std::bit_cast<std::uint32_t>(static_cast<float>(v));
      }
    }
  }
  const auto list = [](const char* prefix, std::uint32_t first, std::uint32_t count) {
    std::string text = "{";
    for (std::uint32_t i = 0; i < count; ++i)
      text += (i == 0 ? "" : ", ") + std::string(prefix) + std::to_string(first + i);
    return text + "}";
  };
  std::string load;
  for (std::uint32_t i = 0; i < 12; ++i)
    load += "ld.global.u32 %r" + std::to_string(10 + i) + ", [%rd1+" + std::to_string(4 * i) + "];\n";
  // The result overwrites c.
  const auto got =
      run(load + product.instruction + " " + list("%r", 18, c_registers) + ", " +
              list("%r", 10, a_registers) + ", " + list("%r", 14, b_registers) + ", " +
              list("%r", 18, c_registers) + ";\nst.global.v4.u32 [%rd1], {%r18, %r19, %r20, %r21};",
          words);
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    for (std::uint32_t i = 0; i < product.m / 4; ++i) {
      const std::uint32_t row = lane / 4 + i / 2 * 8;
      const std::uint32_t column = lane % 4 * 2 + i % 2;
      int sum = c[row][column];
      for (std::uint32_t k = 0; k < product.k; ++k)
        sum += product.by_xor ? a[row][k] ^ b[k][column] : a[row][k] * b[k][column];
      const std::uint32_t word = got[lane * 16 + (product.half_result ? i / 2 : i)];
      if (product.half_result) {
        CHECK((word >> 16 * (i % 2) & 0xffff) == as_f16(sum));
      } else if (product.integer) {
        CHECK(static_cast<int>(word) == sum);
      } else {
        CHECK(std::bit_cast<float>(word) == static_cast<float>(sum));
      }
    }
  }
}

}  // namespace

TEST_CASE("mma of every type and shape gives the right products") {
  const std::string mma = "mma.sync.aligned.";
  check({mma + "m16n8k16.row.col.f32.f16.f16.f32", 16, 16, 2, as_f16});
  check({mma + "m16n8k8.row.col.f32.f16.f16.f32", 16, 8, 2, as_f16});
  check({mma + "m16n8k16.row.col.f16.f16.f16.f16", 16, 16, 2, as_f16, false, true});
  check({mma + "m16n8k16.row.col.f32.bf16.bf16.f32", 16, 16, 2, as_bf16});
  check({mma + "m16n8k8.row.col.f32.bf16.bf16.f32", 16, 8, 2, as_bf16});
  check({mma + "m16n8k8.row.col.f32.tf32.tf32.f32", 16, 8, 1, as_tf32});
  check({mma + "m16n8k4.row.col.f32.tf32.tf32.f32", 16, 4, 1, as_tf32});
  check({mma + "m16n8k32.row.col.s32.s8.s8.s32", 16, 32, 4, as_byte, true});
  check({mma + "m16n8k16.row.col.satfinite.s32.s8.s8.s32", 16, 16, 4, as_byte, true});
  check({mma + "m8n8k16.row.col.s32.s8.s8.s32", 8, 16, 4, as_byte, true});
  check({mma + "m8n8k32.row.col.s32.s4.s4.s32", 8, 32, 8, as_nibble, true, false, -8, 7});
  check({mma + "m16n8k32.row.col.s32.s4.s4.s32", 16, 32, 8, as_nibble, true, false, -8, 7});
  check({mma + "m16n8k64.row.col.satfinite.s32.u4.u4.s32", 16, 64, 8, as_nibble, true, false, 0, 15});
  check({mma + "m16n8k64.row.col.s32.u4.s4.s32", 16, 64, 8, as_nibble, true, false, 0, 7});
  check({mma + "m8n8k128.row.col.s32.b1.b1.s32.and.popc", 8, 128, 32, as_bit, true, false, 0, 1});
  check({mma + "m16n8k128.row.col.s32.b1.b1.s32.xor.popc", 16, 128, 32, as_bit, true, false, 0, 1, true});
  check({mma + "m16n8k256.row.col.s32.b1.b1.s32.and.popc", 16, 256, 32, as_bit, true, false, 0, 1});
  check({mma + "m16n8k256.row.col.s32.b1.b1.s32.xor.popc", 16, 256, 32, as_bit, true, false, 0, 1, true});
}

TEST_CASE("mma of f64 gives the right products") {
  // a[g][t] = g + 1, b[t][g] = t + g, c = 0.5: d[g][n] = (g + 1)(6 + 4 n) + 0.5.
  const auto words =
      run(".reg .f64 %fd<9>;\nshr.u32 %r2, %r1, 2;\nand.b32 %r3, %r1, 3;\nadd.u32 %r4, %r2, 1;\n"
          "cvt.rn.f64.u32 %fd1, %r4;\nadd.u32 %r5, %r2, %r3;\ncvt.rn.f64.u32 %fd2, %r5;\nmov.f64 %fd3, 0.5;\n"
          "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%fd4, %fd5}, {%fd1}, {%fd2}, {%fd3, %fd3};\n"
          "cvt.rn.f32.f64 %r6, %fd4;\ncvt.rn.f32.f64 %r7, %fd5;\nst.global.v2.u32 [%rd1], {%r6, %r7};",
          {});
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    for (std::uint32_t i = 0; i < 2; ++i) {
      const std::uint32_t n = lane % 4 * 2 + i;
      const std::uint32_t product = (lane / 4 + 1) * (6 + 4 * n);
      CHECK(std::bit_cast<float>(words[lane * 16 + i]) == static_cast<float>(product) + 0.5F);
    }
  }
}

TEST_CASE("shapes and types that no mma has are refused") {
  for (const char* instruction : {"mma.sync.aligned.m16n8k8.row.col.f32.s8.s8.f32 {%r1, %r2, %r3, %r4}, "
                                  "{%r1, %r2}, {%r1}, {%r1, %r2, %r3, %r4};",
                                  "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r1, %r2, %r3, %r4}, "
                                  "{%r1, %r2}, {%r1, %r2}, {%r1, %r2, "
                                  "%r3, %r4};"}) {
    CHECK_THAT(
        tests::refusal(tests::module_of(std::string(".reg .b32 %r<9>;\n") + instruction + "\nret;", 1)),
        Catch::Matchers::ContainsSubstring("does not run"));
  }
}

TEST_CASE("accesses by ldmatrix and stmatrix race like other accesses of shared memory") {
  const auto rules_of = [](const std::string& between) {
    const auto sim = make_sim_device({.threads = 1});
    const auto kernel = sim->kernels().load(tests::module_of(
        ".reg .pred %p<3>;\n.reg .b32 %r<9>;\n.shared .align 16 .b8 tile[1024];\nmov.u32 %r1, "
        "%tid.x;\nmov.u32 "
        "%r2, tile;\nand.b32 %r3, %r1, 31;\nshl.b32 %r4, %r3, 4;\nadd.u32 %r4, %r4, %r2;\nsetp.ge.u32 %p1, "
        "%r1, "
        "32;\n@%p1 bra A;\nstmatrix.sync.aligned.m8n8.x1.shared.b16 [%r4], {%r3};\nA:\n" +
            between +
            "@!%p1 bra B;\nldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r5}, [%r4];\nsetp.eq.u32 %p2, %r5, "
            "0;\n@%p2 bra B;\nB:\nret;",
        0));
    kernel->launch({.grid = {1, 1, 1}, .block = {64, 1, 1}}, {}, nullptr);
    return tests::rules(*sim);
  };
  CHECK(rules_of("bar.sync 0;\n").empty());
  const auto raced = rules_of("");
  REQUIRE_FALSE(raced.empty());
  CHECK((raced[0].starts_with("race.shared-") || raced[0] == "shared.uninitialised"));
}

}  // namespace matrix_test
