/// Compares wmma loads, products and stores of fragments of every type, shape and layout with products on the
/// CPU.
#include "sim/arithmetic/numeric.hpp"
#include "sim/text_kernel.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <random>

#include <catch2/generators/catch_generators_all.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <spdlog/fmt/fmt.h>

namespace wmma_test {

using namespace tmajit;
using namespace tests::text;
using Catch::Matchers::ContainsSubstring;

namespace {

struct Type {
  std::string name;
  std::uint32_t bits;
  char kind;  ///< kind of its registers: w for %w (32 bits), f for %f (f32), d for %fd (f64)
  int least;  ///< smallest number in the matrices; the type represents it exactly
  int most;
};
const Type f16{"f16", 16, 'w', -8, 8};
const Type bf16{"bf16", 16, 'w', -8, 8};
const Type tf32{"tf32", 32, 'w', -8, 8};
const Type f32{"f32", 32, 'f', -8, 8};
const Type f64{"f64", 64, 'd', -8, 8};
const Type s32{"s32", 32, 'w', -100, 100};
const Type u8{"u8", 8, 'w', 0, 255};
const Type s8{"s8", 8, 'w', -128, 127};
const Type u4{"u4", 4, 'w', 0, 15};
const Type s4{"s4", 4, 'w', -8, 7};
const Type b1{"b1", 1, 'w', 0, 1};

std::uint64_t encode(const Type& type, int value) {
  const auto number = static_cast<float>(value);
  if (type.name == "f16") return sim::encode_small<sim::f16_format>(number, false);
  if (type.name == "bf16") return sim::encode_small<sim::bf16_format>(number, false);
  // The lower bits of tf32 are ignored.
  if (type.name == "tf32") return std::bit_cast<std::uint32_t>(number) | (value != 0 ? 0x1fff : 0);
  if (type.name == "f32") return std::bit_cast<std::uint32_t>(number);
  if (type.name == "f64") return std::bit_cast<std::uint64_t>(static_cast<double>(value));
  return static_cast<std::uint64_t>(value) & ((std::uint64_t{1} << type.bits) - 1);
}

/// A matrix in memory. `stride` is the distance between its rows, or its columns if `by_column`, in elements.
struct Matrix {
  Type type;
  std::uint32_t rows;
  std::uint32_t columns;
  bool by_column;
  std::uint32_t stride;
  std::vector<int> values{};

  [[nodiscard]] int& at(std::uint32_t row, std::uint32_t column) { return values[row * columns + column]; }
  [[nodiscard]] std::uint32_t place(std::uint32_t row, std::uint32_t column) const {
    return by_column ? column * stride + row : row * stride + column;
  }
  void fill(std::mt19937& random) {
    for (std::uint32_t i = 0; i < rows * columns; ++i)
      values.push_back(type.least +
                       static_cast<int>(random() % static_cast<std::uint32_t>(type.most - type.least + 1)));
  }
  void put(std::uint8_t* memory) {
    for (std::uint32_t row = 0; row < rows; ++row) {
      for (std::uint32_t column = 0; column < columns; ++column) {
        const std::uint64_t bits = encode(type, at(row, column));
        const std::uint32_t first = place(row, column) * type.bits;
        if (type.bits < 8)
          memory[first / 8] |= static_cast<std::uint8_t>(bits << first % 8);
        else
          std::memcpy(memory + first / 8, &bits, type.bits / 8);
      }
    }
  }
  [[nodiscard]] std::string layout() const { return by_column ? "col" : "row"; }
};

struct Product {
  Type ab;
  Type c;
  Type d;
  std::uint32_t m;
  std::uint32_t n;
  std::uint32_t k;
  bool a_by_column = false;
  bool b_by_column = false;
  bool c_by_column = false;
  std::string modifier = "";  ///< modifier of the product, after its types; for b1 before .sync
  std::uint32_t padding = 0;  ///< additional units of 16 bytes between the lines of each matrix
  bool shared = false;        ///< a and b are loaded from shared memory

  [[nodiscard]] std::string shape() const { return fmt::format("m{}n{}k{}", m, n, k); }
};

/// A list of `count` registers from number `first` on, such as "{%r10, %r11}".
std::string list(const Type& type, std::uint32_t first, std::uint32_t count) {
  std::string text = "{";
  for (std::uint32_t i = 0; i < count; ++i)
    text += fmt::format("{}%{}{}", i == 0 ? "" : ", ", type.kind == 'd' ? "fd" : std::string(1, type.kind),
                        first + i);
  return text + "}";
}

std::uint32_t registers_of(const Type& type, std::uint32_t elements, bool accumulator) {
  if (type.name == "f16" && !accumulator) return 8;
  return elements * type.bits / 32 / (type.bits == 64 ? 64 : 32);
}

constexpr std::uint32_t bytes_of_matrix = 8192;

/// The kernel's body. a, b, c and d are 8 KiB apart in memory.
std::string body_of(const Product& product, const Matrix& a, const Matrix& b, const Matrix& c,
                    const Matrix& d) {
  const std::string as = list(product.ab, 10, registers_of(product.ab, product.m * product.k, false));
  const std::string bs = list(product.ab, 20, registers_of(product.ab, product.k * product.n, false));
  const std::string cs = list(product.c, 30, registers_of(product.c, product.m * product.n, true));
  const std::string ds =
      list(product.d, 30, registers_of(product.d, product.m * product.n, true));  // the same registers as c's
  const bool bits = product.ab.name == "b1";
  const std::string types = product.ab.name == "f16" ? product.d.name + "." + product.c.name
                                                     : product.d.name + "." + product.ab.name + "." +
                                                           product.ab.name + "." + product.c.name;
  const auto load = [&](const char* which, const Matrix& matrix, const std::string& to, std::uint32_t at,
                        bool shared) {
    return fmt::format("wmma.load.{}.sync.aligned.{}.{}{}.{} {}, [{}+{}], {};\n", which, matrix.layout(),
                       product.shape(), shared ? ".shared" : "", matrix.type.name, to,
                       shared ? "%r5" : "%rd1", at * bytes_of_matrix, matrix.stride);
  };
  std::string text = registers + ".reg .b32 %w<50>;\n.reg .f32 %f<50>;\n.reg .f64 %fd<50>;\n";
  if (product.shared) {
    text += fmt::format(
        "mov.u32 %r6, 0;\nL:\nmad.lo.u32 %r7, %r6, 128, 0;\nmad.lo.u32 %r7, %r1, 4, %r7;\ncvt.u64.u32 %rd3, "
        "%r7;\n"
        "add.u64 %rd3, %rd3, %rd1;\nld.global.u32 %r8, [%rd3];\nadd.u32 %r7, %r7, %r5;\nst.shared.u32 [%r7], "
        "%r8;\n"
        "add.u32 %r6, %r6, 1;\nsetp.lt.u32 %p2, %r6, {};\n@%p2 bra L;\nbar.sync 0;\n",
        2 * bytes_of_matrix / 128);
  }
  text +=
      load("a", a, as, 0, product.shared) + load("b", b, bs, 1, product.shared) + load("c", c, cs, 2, false);
  text += fmt::format("wmma.mma{}.sync.aligned.{}.{}.{}.{}{} {}, {}, {}, {};\n", bits ? product.modifier : "",
                      a.layout(), b.layout(), product.shape(), types, bits ? "" : product.modifier, ds, as,
                      bs, cs);
  return text + fmt::format("wmma.store.d.sync.aligned.{}.{}.global.{} [%rd1+{}], {}, {};\nret;", d.layout(),
                            product.shape(), product.d.name, 3 * bytes_of_matrix, ds, d.stride);
}

int expected(const Product& product, Matrix& a, Matrix& b, Matrix& c, std::uint32_t row,
             std::uint32_t column) {
  int sum = c.at(row, column);
  for (std::uint32_t i = 0; i < product.k; ++i) {
    const int left = a.at(row, i);
    const int right = b.at(i, column);
    sum += product.modifier == ".xor.popc" ? left ^ right : left * right;
  }
  return sum;
}

void check(const Product& product) {
  std::mt19937 random(11);
  const auto matrix = [&](const Type& type, std::uint32_t rows, std::uint32_t columns, bool by_column) {
    return Matrix{type, rows, columns, by_column,
                  (by_column ? rows : columns) + product.padding * 128 / type.bits};
  };
  Matrix a = matrix(product.ab, product.m, product.k, product.a_by_column);
  Matrix b = matrix(product.ab, product.k, product.n, product.b_by_column);
  Matrix c = matrix(product.c, product.m, product.n, product.c_by_column);
  Matrix d = matrix(product.d, product.m, product.n, !product.c_by_column);
  std::vector<std::uint32_t> words(bytes_of_matrix);
  std::uint32_t begin = 0;
  for (Matrix* const each : {&a, &b, &c}) {
    each->fill(random);
    each->put(reinterpret_cast<std::uint8_t*>(words.data()) + begin);
    begin += bytes_of_matrix;
  }
  const std::string body = body_of(product, a, b, c, d);
  INFO(body);
  const Outcome outcome = run(body, {.grid = 1,
                                     .cluster = 1,
                                     .options = {.mode = any_mode()},
                                     .shared_bytes = 2 * bytes_of_matrix,
                                     .words = words});
  expect_clean(outcome);
  std::uint32_t wrong = 0;
  for (std::uint32_t row = 0; row < product.m; ++row) {
    for (std::uint32_t column = 0; column < product.n; ++column) {
      std::uint64_t got = 0;
      const std::uint32_t at = d.place(row, column) * product.d.bits / 8;
      std::memcpy(&got, reinterpret_cast<const std::uint8_t*>(outcome.words.data()) + begin + at,
                  product.d.bits / 8);
      wrong += got != encode(product.d, expected(product, a, b, c, row, column)) ? 1 : 0;
    }
  }
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE(
    "wmma of 16-bit and 8-bit types is right in every shape and layout, from global and shared memory") {
  struct Shape {
    std::uint32_t m, n;
  };
  const auto [m, n] = GENERATE(Shape{16, 16}, Shape{8, 32}, Shape{32, 8});
  const std::uint32_t layouts = GENERATE(range(0U, 8U));
  const auto with = [&, m = m, n = n](const Type& ab, const Type& c, const Type& d,
                                      const std::string& modifier = "") {
    check({.ab = ab,
           .c = c,
           .d = d,
           .m = m,
           .n = n,
           .k = 16,
           .a_by_column = (layouts & 1) != 0,
           .b_by_column = (layouts & 2) != 0,
           .c_by_column = (layouts & 4) != 0,
           .modifier = modifier,
           .padding = layouts % 3,
           .shared = layouts % 2 == 0});
  };
  with(f16, f32, f32);
  with(f16, f16, f16);
  with(f16, f32, f16);
  with(f16, f16, f32);
  with(bf16, f32, f32);
  with(u8, s32, s32);
  with(s8, s32, s32, ".satfinite");
}

TEST_CASE("wmma of tf32 and f64 is right in every layout") {
  const bool by_column = GENERATE(false, true);
  const std::uint32_t padding = GENERATE(0U, 1U);
  for (const bool other : {false, true}) {
    check({.ab = tf32,
           .c = f32,
           .d = f32,
           .m = 16,
           .n = 16,
           .k = 8,
           .a_by_column = by_column,
           .b_by_column = other,
           .c_by_column = other,
           .padding = padding,
           .shared = other});
    for (const char* const rounding : {"", ".rn", ".rz", ".rm", ".rp"}) {
      Product product{.ab = f64,
                      .c = f64,
                      .d = f64,
                      .m = 8,
                      .n = 8,
                      .k = 4,
                      .a_by_column = by_column,
                      .b_by_column = other,
                      .c_by_column = !other,
                      .modifier = rounding,
                      .padding = padding,
                      .shared = other};
      check(product);
    }
  }
}

TEST_CASE("wmma of 4-bit and 1-bit types is right") {
  const std::uint32_t padding = GENERATE(0U, 1U);
  const auto with = [&](const Type& ab, std::uint32_t k, const std::string& modifier = "") {
    for (const bool by_column : {false, true})
      check({.ab = ab,
             .c = s32,
             .d = s32,
             .m = 8,
             .n = 8,
             .k = k,
             .b_by_column = true,
             .c_by_column = by_column,
             .modifier = modifier,
             .padding = padding,
             .shared = by_column});
  };
  with(u4, 32);
  with(s4, 32, ".satfinite");
  with(b1, 128, ".and.popc");
  with(b1, 128, ".xor.popc");
}

TEST_CASE("wmma is right with saturation, and with the default stride") {
  // The first elements of a and b are 3, and that of c is a number close to the largest one.
  const auto first = [](const std::string& type, const std::string& mma, std::uint32_t c) {
    const std::string body = registers + ".reg .b32 %w<50>;\nst.global.u32 [%rd1], " + type +
                             ";\nbar.sync 0;\nmov.b32 %w30, " + std::to_string(c) + ";\n" + mma + "ret;";
    std::vector<std::uint32_t> words(2048);
    const Outcome outcome = run(body, {.grid = 1, .cluster = 1, .words = words});
    expect_clean(outcome);
    return outcome.words[1024];
  };
  const std::string loads =
      "wmma.load.a.sync.aligned.row.m16n16k16.global.s8 {%w10, %w11}, [%rd1];\n"
      "wmma.load.b.sync.aligned.col.m16n16k16.global.s8 {%w12, %w13}, [%rd1], 16;\n";
  const auto product = [](const std::string& saturates) {
    return "wmma.mma.sync.aligned.row.col.m16n16k16.s32.s8.s8.s32" + saturates +
           " {%w31, %w32, %w33, %w34, %w35, %w36, %w37, %w38}, {%w10, %w11}, {%w12, %w13}, {%w30, %w30, "
           "%w30, %w30, "
           "%w30, %w30, %w30, %w30};\nwmma.store.d.sync.aligned.row.m16n16k16.global.s32 [%rd1+4096], {%w31, "
           "%w32, "
           "%w33, %w34, %w35, %w36, %w37, %w38};\n";
  };
  CHECK(first("3", loads + product(""), 0x7ffffffc) == 0x80000005);
  CHECK(first("3", loads + product(".satfinite"), 0x7ffffffc) == 0x7fffffff);
}

TEST_CASE("loads and stores of fragments are checked like other accesses, for the whole warp") {
  const std::string load =
      "wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {%r10, %r11, %r12, %r13, %r14, %r15, "
      "%r16, %r17}, [%r6], 16;\nst.global.u32 [%rd1], %r10;\n";
  const std::string store =
      "wmma.store.d.sync.aligned.row.m16n16k16.shared.s32 [%r5], {%r1, %r1, %r1, %r1, %r1, %r1, "
      "%r1, %r1}, 16;\n";
  const auto with = [](const std::string& body, std::uint32_t block = 32) {
    return run(registers + "mov.u32 %r6, %r5;\n" + body + "ret;", {.grid = 1, .cluster = 1, .block = block});
  };
  expect_first(with(load), "shared.uninitialised");
  expect_clean(with(store + load));
  expect_first(with("add.u32 %r6, %r5, 4;\n" + store + load), "address.misaligned");
  expect_first(with(store + "mad.lo.u32 %r6, %r1, 16, %r5;\n" + load), "wmma.operands");
  // There are two warps; the second reads what the first writes.
  const std::string second = "setp.lt.u32 %p2, %r1, 32;\n@%p2 bra A;\n" + load + "A:\n";
  expect_first(with("setp.ge.u32 %p2, %r1, 32;\n@%p2 bra B;\n" + store + "B:\n" + second, 64),
               "shared.uninitialised");
  expect_clean(with("setp.ge.u32 %p2, %r1, 32;\n@%p2 bra B;\n" + store + "B:\nbar.sync 0;\n" + second, 64));
}

TEST_CASE("shapes, types and layouts that no wmma has are refused") {
  for (const std::string instruction :
       {"wmma.load.a.sync.aligned.row.m16n16k8.f16 {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, [%rd1]",
        "wmma.load.a.sync.aligned.col.m8n8k32.s4 {%r1}, [%rd1]",
        "wmma.load.c.sync.aligned.row.m16n16k8.f16 {%r1}, [%rd1]",
        "wmma.load.a.sync.aligned.row.m16n16k16.bf16 {%r1, %r2}, [%rd1]",
        "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32.satfinite {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, "
        "{%r1, %r2, "
        "%r3, %r4, %r5, %r6, %r7, %r8}, {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, {%r1, %r2, %r3, %r4, %r5, "
        "%r6, %r7, "
        "%r8}",
        "wmma.mma.sync.aligned.row.row.m8n8k32.s32.s4.s4.s32 {%r1, %r2}, {%r1}, {%r1}, {%r1, %r2}"}) {
    CHECK_THAT(tests::refusal(
                   tests::module_of(".reg .b32 %r<9>;\n.reg .b64 %rd<3>;\n" + instruction + ";\nret;", 1)),
               ContainsSubstring("does not run"));
  }
}

}  // namespace wmma_test
