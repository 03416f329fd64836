/// Compares products of matrices by a warpgroup, of every type, layout and swizzle, with a plain product.
/// Also tests that incorrect variants of a correct kernel are reported by the rule that they break.
#include "sim/arithmetic/numeric.hpp"
#include "sim/text_kernel.hpp"

#include <random>

#include <catch2/generators/catch_generators_all.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <spdlog/fmt/fmt.h>

namespace wgmma_test {

using namespace tmajit;
using namespace tests::text;
using Catch::Matchers::ContainsSubstring;

namespace {

constexpr std::uint32_t image_words = 16384;  ///< words of shared memory that hold A and B
constexpr std::uint32_t b_offset = 32768;     ///< offset of B in bytes

/// One product of small integers: D (64 × n) = A (64 × k) · B (k × n).
struct Case {
  std::string a = "bf16";
  std::string b = "bf16";
  std::string d = "f32";
  std::uint32_t n = 64;
  std::uint32_t width = 128;  ///< span of the swizzle in bytes; 16: no swizzle
  bool a_in_registers = false;
  bool a_by_columns = false;
  bool b_by_rows = false;
  int a_scale = 1;
  int b_scale = 1;
  bool keeps_d = true;
  std::uint32_t base = 0;  ///< base offset of both descriptors
};

std::uint32_t bits_of(const std::string& type) {
  return type == "tf32" ? 32 : type == "f16" || type == "bf16" ? 16 : type == "b1" ? 1 : 8;
}
bool is_integer(const std::string& type) {
  return type == "s8" || type == "u8" || type == "b1";
}

std::uint32_t encode(const std::string& type, int value) {
  if (type == "f16") return sim::encode_small<sim::f16_format>(value, false);
  if (type == "bf16") return sim::encode_small<sim::bf16_format>(value, false);
  if (type == "e4m3") return sim::encode_small<sim::e4m3_format>(value, false);
  if (type == "e5m2") return sim::encode_small<sim::e5m2_format>(value, false);
  if (type == "tf32")
    return std::bit_cast<std::uint32_t>(static_cast<float>(value)) | 0x1abc;  // ignored bits
  return static_cast<std::uint8_t>(value);
}

/// The offset in bytes of element (row, k) from the matrix's start, by the canonical layouts of the ISA
/// (9.7.15.5.1.2.1.3), with the leading and stride offsets of descriptor().
std::uint32_t offset_of(const Case& wgmma, std::uint32_t bits, bool by_columns, std::uint32_t row,
                        std::uint32_t k) {
  const std::uint32_t span = wgmma.width;
  std::uint32_t at = 0;
  if (!by_columns) {
    const std::uint32_t in_row = k * bits / 8;
    at = span == 16 ? row / 8 * 256 + row % 8 * 16 + in_row / 16 * 128 + in_row % 16
                    : row / 8 * (8 * span) + row % 8 * span + in_row + (span > 32 ? 32 : 0);
  } else {
    const std::uint32_t chunk = row / 8;
    const std::uint32_t in_chunk = row % 8 * 2;
    at = span == 16 ? chunk * 256 + k / 8 * 128 + k % 8 * 16 + in_chunk
                    : chunk / (span / 16) * (16 * span) + chunk % (span / 16) * 16 + k % 8 * span +
                          k / 8 * (8 * span) + in_chunk;
  }
  return span == 16 ? at : at ^ (((at >> 7) - wgmma.base) & (span / 16 - 1)) << 4;
}

/// The upper bits of a descriptor: offsets, base offset and swizzle.
std::uint64_t descriptor(const Case& wgmma, bool by_columns) {
  const std::uint64_t span = wgmma.width;
  const std::uint64_t leading = span == 16 ? 128 : by_columns ? 16 * span : 16;
  const std::uint64_t stride = span == 16 ? 256 : 8 * span;
  const std::uint64_t mode = span == 16 ? 0 : span == 128 ? 1 : span == 64 ? 2 : 3;
  return mode << 62 | std::uint64_t{wgmma.base} << 49 | stride >> 4 << 32 | leading >> 4 << 16;
}

struct Matrices {
  std::vector<std::vector<int>> a;  ///< [row][k]
  std::vector<std::vector<int>> b;  ///< [column][k]
  std::vector<std::vector<int>> d;
  std::vector<std::uint32_t> words;  ///< the content of shared memory, then D, then A in registers
};

Matrices make(const Case& wgmma) {
  std::mt19937 random(wgmma.n * 7 + wgmma.width + bits_of(wgmma.a));
  const std::uint32_t k_count = 256 / bits_of(wgmma.a);
  const auto draw = [&](const std::string& type) {
    const int value = static_cast<int>(random() % 9);
    return type == "b1" ? value % 2 : type == "u8" ? value : value - 4;
  };
  Matrices matrices;
  matrices.words.resize(image_words + 128 * 128 + 128 * 4);
  auto* const image = reinterpret_cast<std::uint8_t*>(matrices.words.data());
  const auto fill = [&](std::vector<std::vector<int>>& m, std::uint32_t rows, const std::string& type,
                        bool columns, std::uint32_t start) {
    m.assign(rows, std::vector<int>(k_count));
    for (std::uint32_t row = 0; row < rows; ++row) {
      for (std::uint32_t k = 0; k < k_count; ++k) {
        m[row][k] = draw(type);
        const std::uint32_t bits = encode(type, m[row][k]);
        std::uint8_t* const at = image + start + offset_of(wgmma, bits_of(type), columns, row, k);
        if (type == "b1")
          *at |= static_cast<std::uint8_t>(bits << k % 8);
        else
          std::memcpy(at, &bits, bits_of(type) / 8);
      }
    }
  };
  fill(matrices.a, 64, wgmma.a, wgmma.a_by_columns, 0);
  fill(matrices.b, wgmma.n, wgmma.b, wgmma.b_by_rows, b_offset);
  matrices.d.assign(64, std::vector<int>(wgmma.n));
  for (auto& row : matrices.d) {
    for (int& value : row) value = static_cast<int>(random() % 64);
  }
  // D by threads: lane l has rows l / 4 and l / 4 + 8 of the warp's 16, and two of each 8 columns.
  for (std::uint32_t thread = 0; thread < 128; ++thread) {
    const std::uint32_t lane = thread % 32;
    for (std::uint32_t i = 0; i < wgmma.n / 2; ++i) {
      const int value =
          matrices.d[thread / 32 * 16 + lane / 4 + i / 2 % 2 * 8][i / 4 * 8 + lane % 4 * 2 + i % 2];
      std::uint32_t& word = matrices.words[image_words + thread * 128 + (wgmma.d == "f16" ? i / 2 : i)];
      if (wgmma.d == "f16")
        word |= encode("f16", value) << 16 * (i % 2);
      else
        word = wgmma.d == "s32" ? static_cast<std::uint32_t>(value)
                                : std::bit_cast<std::uint32_t>(static_cast<float>(value));
    }
    const std::uint32_t bits = bits_of(wgmma.a);
    for (std::uint32_t i = 0; i < 4; ++i) {
      for (std::uint32_t e = 0; e < 32 / bits; ++e) {
        const std::uint32_t k = (lane % 4 + i / 2 * 4) * (32 / bits) + e;
        matrices.words[image_words + 128 * 128 + thread * 4 + i] |=
            encode(wgmma.a, matrices.a[thread / 32 * 16 + lane / 4 + i % 2 * 8][k]) << bits * e;
      }
    }
  }
  return matrices;
}

/// The parts of a kernel around one or more products.
struct Parts {
  std::string fence = "wgmma.fence.sync.aligned;\n";
  std::string proxy = "fence.proxy.async.shared::cta;\n";
  std::string between = "";  ///< code between the issue and the commit
  std::string commit = "wgmma.commit_group.sync.aligned;\n";
  std::string wait = "wgmma.wait_group.sync.aligned 0;\n";
  std::string before = "";
  std::string after = "";
};

std::string registers_of(const char* name, std::uint32_t count) {
  std::string text = "{";
  for (std::uint32_t i = 0; i < count; ++i) text += fmt::format("{}%{}{}", i == 0 ? "" : ", ", name, i);
  return text + "}";
}

std::string product(const Case& wgmma) {
  const std::uint32_t results = wgmma.n / (wgmma.d == "f16" ? 4 : 2);
  std::string text =
      fmt::format("wgmma.mma_async.sync.aligned.m64n{}k{}.{}.{}.{}{} {}, {}, %rd11, %p4", wgmma.n,
                  256 / bits_of(wgmma.a), wgmma.d, wgmma.a, wgmma.b, wgmma.a == "b1" ? ".and.popc" : "",
                  registers_of("d", results), wgmma.a_in_registers ? registers_of("a", 4) : "%rd10");
  if (!is_integer(wgmma.a)) text += fmt::format(", {}, {}", wgmma.a_scale, wgmma.b_scale);
  if (bits_of(wgmma.a) == 16 && !wgmma.a_in_registers) text += wgmma.a_by_columns ? ", 1" : ", 0";
  if (bits_of(wgmma.a) == 16) text += wgmma.b_by_rows ? ", 1" : ", 0";
  return text + ";\n";
}

std::string kernel(const Case& wgmma, const Parts& parts = {}) {
  const std::uint32_t results = wgmma.n / (wgmma.d == "f16" ? 4 : 2);
  const auto start = [&](bool by_columns) { return wgmma.width > 32 && !by_columns ? 32U : 0U; };
  std::string text = registers + ".reg .b32 %d<128>;\n.reg .b32 %a<4>;\n";
  // Copies the content of shared memory, 128 words at a time.
  text +=
      "mul.wide.u32 %rd2, %r1, 4;\nadd.u64 %rd3, %rd1, %rd2;\nshl.b32 %r6, %r1, 2;\nadd.u32 %r6, %r6, %r5;\n"
      "mov.u32 %r7, 0;\nL:\nld.global.u32 %r8, [%rd3];\nst.shared.u32 [%r6], %r8;\nadd.u64 %rd3, %rd3, 512;\n"
      "add.u32 %r6, %r6, 512;\nadd.u32 %r7, %r7, 1;\nsetp.lt.u32 %p2, %r7, 128;\n@%p2 bra L;\n" +
      parts.proxy + "bar.sync 0;\n" +
      fmt::format(
          "mul.wide.u32 %rd4, %r1, 512;\nadd.u64 %rd4, %rd4, %rd1;\nadd.u64 %rd4, %rd4, {};\n"
          "mul.wide.u32 %rd5, %r1, 16;\nadd.u64 %rd5, %rd5, %rd1;\nadd.u64 %rd5, %rd5, {};\n",
          4 * image_words, 4 * (image_words + 128 * 128));
  for (std::uint32_t i = 0; i < results; ++i)
    text += fmt::format("ld.global.u32 %d{}, [%rd4+{}];\n", i, 4 * i);
  for (std::uint32_t i = 0; i < 4 && wgmma.a_in_registers; ++i)
    text += fmt::format("ld.global.u32 %a{}, [%rd5+{}];\n", i, 4 * i);
  text += fmt::format(
      "cvt.u64.u32 %rd6, %r5;\nadd.u64 %rd7, %rd6, {};\nshr.u64 %rd7, %rd7, 4;\nor.b64 %rd10, %rd7, {};\n"
      "add.u64 %rd8, %rd6, {};\nshr.u64 %rd8, %rd8, 4;\nor.b64 %rd11, %rd8, {};\nsetp.eq.u32 %p4, {}, 1;\n",
      start(wgmma.a_by_columns), descriptor(wgmma, wgmma.a_by_columns), b_offset + start(wgmma.b_by_rows),
      descriptor(wgmma, wgmma.b_by_rows), wgmma.keeps_d ? 1 : 0);
  text += parts.before + parts.fence + product(wgmma) + parts.between + parts.commit + parts.wait;
  for (std::uint32_t i = 0; i < results; ++i)
    text += fmt::format("st.global.u32 [%rd4+{}], %d{};\n", 4 * i, i);
  return text + parts.after + "ret;";
}

Outcome multiply(const std::string& body, const Case& wgmma, const SimOptions& options = {}) {
  return run(body, {.grid = 1,
                    .cluster = 1,
                    .block = 128,
                    .options = options,
                    .shared_bytes = 65536,
                    .words = make(wgmma).words});
}

void check(const Case& wgmma, const Parts& parts = {}, const SimOptions& options = {}) {
  INFO(fmt::format("{} {} {} n {} width {} registers {} transposed {} {}", wgmma.a, wgmma.b, wgmma.d, wgmma.n,
                   wgmma.width, wgmma.a_in_registers, wgmma.a_by_columns, wgmma.b_by_rows));
  const Matrices matrices = make(wgmma);
  const Outcome outcome = multiply(kernel(wgmma, parts), wgmma, options);
  expect_clean(outcome);
  std::uint32_t wrong = 0;
  for (std::uint32_t thread = 0; thread < 128; ++thread) {
    const std::uint32_t lane = thread % 32;
    for (std::uint32_t i = 0; i < wgmma.n / 2; ++i) {
      const std::uint32_t row = thread / 32 * 16 + lane / 4 + i / 2 % 2 * 8;
      const std::uint32_t column = i / 4 * 8 + lane % 4 * 2 + i % 2;
      int sum = wgmma.keeps_d ? matrices.d[row][column] : 0;
      for (std::size_t k = 0; k < matrices.a[row].size(); ++k)
        sum += wgmma.a_scale * wgmma.b_scale * matrices.a[row][k] * matrices.b[column][k];
      const std::uint32_t word = outcome.words[image_words + thread * 128 + (wgmma.d == "f16" ? i / 2 : i)];
      const std::uint32_t bits = wgmma.d == "f16" ? word >> 16 * (i % 2) & 0xffff : word;
      const std::uint32_t expected = wgmma.d == "s32" ? static_cast<std::uint32_t>(sum)
                                     : wgmma.d == "f16"
                                         ? encode("f16", sum)
                                         : std::bit_cast<std::uint32_t>(static_cast<float>(sum));
      wrong += bits != expected ? 1 : 0;
    }
  }
  CHECK(wrong == 0);
}

const std::string use_result = "add.f32 %d100, %d0, %d1;\n";

}  // namespace

TEST_CASE("wgmma of every type is right, from shared memory and from registers") {
  for (const auto& [a, b, d] : std::vector<std::array<const char*, 3>>{{"f16", "f16", "f16"},
                                                                       {"f16", "f16", "f32"},
                                                                       {"bf16", "bf16", "f32"},
                                                                       {"tf32", "tf32", "f32"},
                                                                       {"e4m3", "e4m3", "f16"},
                                                                       {"e4m3", "e5m2", "f32"},
                                                                       {"e5m2", "e4m3", "f32"},
                                                                       {"e5m2", "e5m2", "f16"},
                                                                       {"s8", "s8", "s32"},
                                                                       {"u8", "s8", "s32"},
                                                                       {"s8", "u8", "s32"},
                                                                       {"u8", "u8", "s32"},
                                                                       {"b1", "b1", "s32"}}) {
    for (const bool in_registers : {false, true})
      check({.a = a, .b = b, .d = d, .n = 32, .a_in_registers = in_registers});
  }
}

TEST_CASE("wgmma is right for every swizzle, with matrices stored by rows or by columns") {
  for (const std::uint32_t width : {16U, 32U, 64U, 128U}) {
    for (const std::uint32_t transposed : {0U, 1U, 2U, 3U})
      check({.n = 64,
             .width = width,
             .a_by_columns = (transposed & 1) != 0,
             .b_by_rows = (transposed & 2) != 0});
    check({.a = "tf32", .b = "tf32", .n = 8, .width = width});
    check({.a = "s8", .b = "s8", .d = "s32", .n = 48, .width = width});
    check({.a = "b1", .b = "b1", .d = "s32", .n = 24, .width = width});
  }
}

TEST_CASE("wgmma is right with a base offset, which says where the swizzle's pattern begins") {
  for (const std::uint32_t width : {32U, 64U, 128U})
    for (std::uint32_t base = 1; base < width / 16; ++base) check({.n = 16, .width = width, .base = base});
}

TEST_CASE("wgmma is right for several sizes and scales, and without reading accumulators") {
  for (const std::uint32_t n : {8U, 24U, 128U, 200U, 256U}) check({.n = n});
  check({.a_scale = -1});
  check({.b_scale = -1, .keeps_d = false});
  check({.a = "f16", .b = "f16", .a_in_registers = true, .a_scale = -1, .b_scale = -1});
}

TEST_CASE("shapes and operands that wgmma lacks are refused at their line") {
  const auto refused = [](const Case& wgmma, const std::string& from, const std::string& to) {
    std::string text = kernel(wgmma);
    text.replace(text.find(from), from.size(), to);
    CHECK_THROWS_WITH(multiply(text, wgmma), ContainsSubstring("does not run"));
  };
  refused({.n = 64}, "m64n64k16", "m64n60k16");
  refused({.a = "s8", .b = "s8", .d = "s32", .n = 32}, "m64n32k32", "m64n40k32");
  refused({.n = 64}, "m64n64k16", "m64n32k16");
  refused({.n = 64}, ", %p4, 1, 1", ", %p4, 2, 1");
}

TEST_CASE("mistakes around wgmma are reported in every mode, and correct variants are not") {
  const SimOptions options{.mode = any_mode(), .seed = 3};
  const Case wgmma{.n = 16};
  const auto first = [&](const Parts& parts, const std::string& rule) {
    expect_first(multiply(kernel(wgmma, parts), wgmma, options), rule);
  };
  const auto clean = [&](const Parts& parts) {
    expect_clean(multiply(kernel(wgmma, parts), wgmma, options));
  };
  const std::string fence = Parts().fence;
  const std::string commit = Parts().commit;

  SECTION("correct variants") {
    clean({});
    clean({.between =
               product(wgmma) + product(wgmma)});  // products of the same shape need no fence between them
    clean({.between = commit + product(wgmma),
           .wait = "wgmma.wait_group.sync.aligned 1;\nwgmma.wait_group.sync.aligned "
                   "0;\n"});
    clean({.commit = commit + fence});
    // Setting accumulators after the fence, as compilers do.
    clean({.fence = fence + "mov.b32 %d0, 0;\n"});
    clean({.wait = Parts().wait + use_result + "mov.b32 %d0, %d100;\n" + fence + product(wgmma) + commit +
                   Parts().wait});
    clean({.between = "add.u32 %r9, %r1, 1;\nst.shared.u32 [%r6+-512], %r9;\n"});  // memory past the matrices
  }
  SECTION("no fence before the first product") {
    first({.fence = ""}, "wgmma.missing-fence");
  }
  SECTION("no fence after an accumulator has been set") {
    first({.wait = Parts().wait + "xor.b32 %d0, %d0, 1;\n" + product(wgmma) + commit + Parts().wait},
          "wgmma.missing-fence");
  }
  SECTION("no fence between products of two shapes") {
    Case other = wgmma;
    other.n = 8;
    first({.between = product(other)}, "wgmma.missing-fence");
  }
  SECTION("the results are used before the wait") {
    first({.between = use_result}, "wgmma.register-in-flight");
    first({.commit = commit + "mov.b32 %d3, 0;\n"}, "wgmma.register-in-flight");
  }
  SECTION("the wait leaves one group pending") {
    first({.wait = "wgmma.wait_group.sync.aligned 1;\n"}, "wgmma.register-in-flight");
  }
  SECTION("a group that is not committed is not waited for") {
    first({.commit = ""}, "wgmma.register-in-flight");
  }
  SECTION("registers of A are written before the wait") {
    Case from = wgmma;
    from.a_in_registers = true;
    expect_first(multiply(kernel(from, {.commit = commit + "mov.b32 %a1, 0;\n"}), from, options),
                 "wgmma.register-in-flight");
    expect_clean(multiply(kernel(from), from, options));
  }
  SECTION("no proxy fence after the matrices were written") {
    first({.proxy = ""}, "wgmma.missing-proxy-fence");
  }
  SECTION("a proxy fence by the reading threads, after a barrier with the writing ones") {
    const std::string proxy = Parts().proxy;
    clean({.fence = proxy + fence, .proxy = ""});
    SimOptions fast = options;
    fast.races = false;
    expect_clean(multiply(kernel(wgmma, {.fence = proxy + fence, .proxy = ""}), wgmma, fast));
    // The fence is before the barrier, or only one warp executes it.
    first({.proxy = "setp.lt.u32 %p5, %r1, 32;\n@%p5 " + proxy}, "wgmma.missing-proxy-fence");
    first({.fence = "setp.lt.u32 %p5, %r1, 32;\n@%p5 " + proxy + fence, .proxy = ""},
          "wgmma.missing-proxy-fence");
    // A write follows the fence.
    const std::string again = fmt::format("bar.sync 0;\n@%p1 st.shared.u32 [%r5+{}], 0;\n", b_offset + 32);
    first({.proxy = proxy + again}, "wgmma.missing-proxy-fence");
    const std::string copy =
        fmt::format("bar.sync 0;\n@%p1 cp.async.ca.shared.global [%r5+{}], [%rd1], 4;\ncp.async.wait_all;\n",
                    b_offset + 32);
    clean({.fence = proxy + fence, .proxy = copy});
  }
  SECTION("no proxy fence after a cp.async wrote a part of a matrix") {
    const std::string proxy = Parts().proxy;
    const std::string copy =
        fmt::format("bar.sync 0;\n@%p1 cp.async.ca.shared.global [%r5+{}], [%rd1], 4;\ncp.async.wait_all;\n",
                    b_offset + 32);
    first({.proxy = proxy + copy}, "wgmma.copy-not-fenced");
    expect_clean(multiply(kernel(wgmma, {.proxy = proxy + copy + proxy}), wgmma, options));
  }
  SECTION("a matrix is written again before the wait") {
    // Thread 0 of the warpgroup zeroes the first word of B.
    first({.commit = commit + fmt::format("@%p1 st.shared.u32 [%r5+{}], 0;\n", b_offset + 32)},
          "race.shared-read-write");
  }
  SECTION("the CTA ends before the wait") {
    Parts parts{.wait = "ret;\n"};
    first(parts, "exit.wgmma-in-flight");
  }
  SECTION("one warp does not take part") {
    first({.before = "setp.ge.u32 %p5, %r1, 96;\n@%p5 ret;\n"}, "wgmma.warpgroup");
  }
  SECTION("the warps execute different products") {
    first({.before = "setp.ge.u32 %p5, %r1, 64;\n@%p5 bra X;\n",
           .after = "ret;\nX:\n" + fence + product(wgmma) + commit + Parts().wait},
          "wgmma.warpgroup");
  }
  SECTION("a descriptor of memory outside the CTA's shared memory") {
    first({.before = "or.b64 %rd11, %rd11, 0x3000;\n"}, "wgmma.descriptor");
  }
  SECTION("uninitialised memory") {
    first({.before = "add.u64 %rd11, %rd11, 0x7c0;\n"}, "wgmma.descriptor");
  }
}

TEST_CASE("a product is complete for its whole warpgroup when one warp has waited for it") {
  // The first thread releases the matrix, as in CUTLASS's pipelines. The warps run one after the other, in
  // either order.
  const Case wgmma{.n = 16};
  const std::string rounds = GENERATE("sub.u32 %r9, 127, %r1;\n", "mov.u32 %r9, %r1;\n");
  const Parts parts{
      .wait = Parts().wait + fmt::format("@%p1 st.shared.u32 [%r5+{}], 0;\n", b_offset + 32),
      .before = rounds +
                "shr.u32 %r9, %r9, 5;\nmul.lo.u32 %r9, %r9, 50;\nsetp.eq.u32 %p2, %r9, 0;\n"
                "@%p2 bra M;\nN:\nsub.u32 %r9, %r9, 1;\nsetp.ne.u32 %p2, %r9, 0;\n@%p2 bra N;\nM:\n"};
  for (std::uint64_t seed = 1; seed <= 8; ++seed) check(wgmma, parts, {.mode = any_mode(), .seed = seed});
  // Groups that the wait leaves pending are not complete.
  const std::string first_alone = "wgmma.commit_group.sync.aligned;\n" + product(wgmma) + Parts().commit;
  expect_first(
      multiply(kernel(wgmma, {.commit = first_alone,
                              .wait = "wgmma.wait_group.sync.aligned 1;\n" +
                                      fmt::format("@%p1 st.shared.u32 [%r5+{}], 0;\n", b_offset + 32) +
                                      "wgmma.wait_group.sync.aligned 0;\n"}),
               wgmma, {.mode = any_mode()}),
      "race.shared-read-write");
}

TEST_CASE("a product that reads a matrix without a wait for its load is reported") {
  const Case wgmma{.n = 16};
  const std::string load =
      "@%p1 mbarrier.init.shared.b64 [%r5+8192], 1;\n@%p1 fence.mbarrier_init.release.cluster;\n"
      "@%p1 mbarrier.arrive.expect_tx.shared.b64 %rd9, [%r5+8192], 1024;\nadd.u32 %r9, %r5, 32768;\n"
      "add.u32 %r10, %r5, 8192;\n@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
      "[%r9], "
      "[%rd1], 1024, [%r10];\nbar.sync 0;\n";
  const Outcome outcome = multiply(kernel(wgmma, {.before = load}), wgmma);
  expect_first(outcome, "shared.in-flight-read");
  const std::string wait = "W:\nmbarrier.try_wait.parity.shared.b64 %p6, [%r5+8192], 0;\n@!%p6 bra W;\n";
  expect_clean(multiply(kernel(wgmma, {.before = load + wait}), wgmma, {.mode = any_mode()}));
}

}  // namespace wgmma_test
