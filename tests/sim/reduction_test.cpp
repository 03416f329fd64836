/// Bulk reductions: into global memory, through a tensor map, and into a peer's shared memory.
#include "sim/text_kernel.hpp"

#include <tmajit/error.hpp>

#include <bit>
#include <limits>

#include <catch2/generators/catch_generators_all.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace reduction_test {

using namespace tmajit;
using namespace tests::text;
using Catch::Matchers::ContainsSubstring;

namespace {

/// Each CTA writes `value` to 128 bytes of shared memory, and its first thread reduces these bytes into the
/// first 128 bytes of the words.
std::string reduce_words(const std::string& operation, const std::string& value,
                         const std::string& fence = "fence.proxy.async.shared::cta;\n",
                         const std::string& wait = "cp.async.bulk.wait_group 0;\n") {
  return registers + "shl.b32 %r6, %r1, 2;\nadd.u32 %r6, %r6, %r5;\nmov.b32 %r7, " + value +
         ";\nst.shared.u32 [%r6], %r7;\n" + fence +
         "bar.sync 0;\n@!%p1 bra E;\ncp.reduce.async.bulk.global.shared::cta.bulk_group." + operation +
         " [%rd1], [%r5], 128;\ncp.async.bulk.commit_group;\n" + wait + "E:\nret;";
}

Outcome reduce(const std::string& operation, const std::string& value, std::uint32_t start,
               std::uint32_t grid = 4) {
  return run(reduce_words(operation, value), {.grid = grid,
                                              .cluster = 1,
                                              .options = {.mode = any_mode()},
                                              .words = std::vector<std::uint32_t>(32, start)});
}

std::uint32_t bits(float value) {
  return std::bit_cast<std::uint32_t>(value);
}

TensorMapSpec map_of(ElementType type, std::uint64_t rows, std::uint64_t columns) {
  const auto bytes = size_of(type);
  TensorMapSpec spec;
  spec.type = type;
  spec.rank = 2;
  spec.shape = {rows, columns};
  spec.strides = {columns * bytes, bytes};
  spec.box = {4, 32 / bytes};
  spec.element_strides = {1, 1};
  return spec;
}

std::string reduce_tile(const std::string& operation, const std::string& origin) {
  return registers +
         "ld.param.u64 %rd5, [p1];\nshl.b32 %r6, %r1, 2;\nadd.u32 %r6, %r6, %r5;\nadd.u32 %r7, %r1, 1;\n"
         "st.shared.u32 [%r6], %r7;\nfence.proxy.async.shared::cta;\nbar.sync 0;\n@!%p1 bra E;\n"
         "cp.reduce.async.bulk.tensor.2d.global.shared::cta." +
         operation + ".tile.bulk_group [%rd5, " + origin +
         "], [%r5];\ncp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\nE:\nret;";
}

}  // namespace

TEST_CASE("bulk reductions by four CTAs into global memory are right for every operation and type") {
  struct Case {
    const char* operation;
    const char* value;
    std::uint32_t start;
    std::uint32_t result;
  };
  const Case each = GENERATE_COPY(values<Case>({
      {"add.u32", "7", 5, 33},
      {"add.s32", "-7", 5, static_cast<std::uint32_t>(-23)},
      {"add.u64", "1", 0xffffffff, 3},  // the low word; the carry goes to the high word
      {"min.u32", "7", 9, 7},
      {"min.s32", "-7", 9, static_cast<std::uint32_t>(-7)},
      {"max.s32", "-7", 9, 9},
      {"max.u32", "-7", 9, static_cast<std::uint32_t>(-7)},
      {"max.s64", "-1", 9, 9},
      {"inc.u32", "6", 4, 1},
      {"dec.u32", "6", 2, 5},
      {"and.b32", "12", 10, 8},
      {"or.b64", "12", 3, 15},
      {"xor.b32", "12", 10, 10},
      {"add.f32", "0f3F000000", bits(1.0F), bits(3.0F)},
      {"add.noftz.f16", "0x38003C00", 0x3c003c00, 0x42004500},
      {"add.noftz.bf16", "0x3F003F80", 0x3f803f80, 0x404040a0},
      {"min.f16", "0xBC003C00", 0x38004000, 0xbc003c00},
      {"max.bf16", "0xBF803F80", 0x3f004000, 0x3f004000},
  }));
  CAPTURE(each.operation);
  const Outcome outcome = reduce(each.operation, each.value, each.start);
  expect_clean(outcome);
  CHECK(outcome.words[0] == each.result);
  CHECK(outcome.words[30] == each.result);
}

TEST_CASE("bulk sums of f64 are right, and those of f32 keep subnormal numbers") {
  // The f64 1.0 consists of the words 0 and 0x3ff00000.
  const std::string pairs =
      "and.b32 %r8, %r1, 1;\nsetp.eq.u32 %p2, %r8, 1;\nselp.b32 %r7, 0x3ff00000, 0, %p2;\n";
  std::string body = reduce_words("add.f64", "0");
  body.replace(body.find("st.shared"), 0, pairs);
  std::vector<std::uint32_t> ones(32);
  for (std::size_t i = 1; i < 32; i += 2) ones[i] = 0x3ff00000;
  const Outcome doubles = run(body, {.grid = 1, .cluster = 1, .words = ones});
  expect_clean(doubles);
  CHECK(doubles.words[1] == 0x40000000);
  CHECK(reduce("add.f32", "0x00000001", 0x00000001, 1).words[0] == 2);
  CHECK(reduce("add.f32", "0x80000001", 0x80000000, 1).words[0] == 0x80000001);
}

TEST_CASE("if the source of a bulk sum of f64 is NaN, the result is this NaN") {
  // Both words of an element are this number: it makes a signalling NaN, or -5.5e-44, which is no NaN.
  CHECK(reduce("add.f64", "0x7ff01234", 0xfff0abcd, 1).words[0] == 0x7ff01234);
  CHECK(reduce("add.f64", "0xb7000000", 0xfff0abcd, 1).words[0] == 0xfff0abcd);
  CHECK(reduce("add.f64", "0x7ff01234", 0xb7000000, 1).words[0] == 0x7ff01234);
}

TEST_CASE("a reduction that the engine does not have is rejected at its line") {
  for (const char* operation :
       {"add.s64", "inc.s32", "min.f32", "max.f64", "and.f16", "add.f16", "dec.u64"}) {
    CAPTURE(operation);
    CHECK_THROWS_AS(run(reduce_words(operation, "0")), Error);
  }
}

TEST_CASE("tensor reductions use the map's type, and skip elements that are out of bounds") {
  // A tile of 4 x 8 words, whose last row is outside a tensor of 7 rows.
  const std::vector<std::uint32_t> words(7ULL * 16, 1000);
  const Outcome outcome = run(reduce_tile("add", "{8, 4}"), {.grid = 3,
                                                             .cluster = 1,
                                                             .options = {.mode = any_mode()},
                                                             .maps = {map_of(ElementType::u32, 7, 16)},
                                                             .words = words});
  expect_clean(outcome);
  for (std::uint32_t row = 0; row < 7; ++row) {
    for (std::uint32_t column = 0; column < 16; ++column) {
      const bool inside = row >= 4 && column >= 8;
      CHECK(outcome.words[row * 16 + column] == 1000 + (inside ? 3 * ((row - 4) * 8 + column - 8 + 1) : 0));
    }
  }
}

TEST_CASE("elements of a tile that a tensor reduction skips need not be initialised") {
  // The box has 4 rows of 8 words, the tensor 2; the first 16 threads write its 16 words.
  const auto written_by = [](const std::string& threads) {
    std::string body = reduce_tile("add", "{0, 0}");
    const std::string store = "st.shared.u32 [%r6], %r7;\n";
    body.replace(body.find(store), store.size(), "setp.lt.u32 %p2, %r1, " + threads + ";\n@%p2 " + store);
    return run(body, {.grid = 1, .cluster = 1, .maps = {map_of(ElementType::u32, 2, 8)}});
  };
  expect_clean(written_by("16"));
  expect_only(written_by("15"), "store.uninitialised");
}

TEST_CASE("a tensor reduction by an operation that the map's type does not have is reported") {
  const auto reduced = [](ElementType type, const std::string& operation) {
    return run(reduce_tile(operation, "{0, 0}"), {.grid = 1, .cluster = 1, .maps = {map_of(type, 8, 16)}});
  };
  expect_only(reduced(ElementType::f32, "min"), "reduce.type");
  expect_only(reduced(ElementType::u8, "add"), "reduce.type");
  expect_only(reduced(ElementType::f64, "add"), "reduce.type");
  expect_only(reduced(ElementType::i32, "inc"), "reduce.type");
  expect_only(reduced(ElementType::i64, "add"), "reduce.type");
  expect_only(reduced(ElementType::i64, "xor"), "reduce.type");
  CHECK_THAT(reduced(ElementType::i64, "or").reports.at(0).expected, ContainsSubstring("a map of u64"));
  expect_clean(reduced(ElementType::i64, "min"));
  expect_clean(reduced(ElementType::u64, "xor"));
}

TEST_CASE("mistakes with bulk reductions are reported by the rules for bulk stores") {
  const Shape shape{.cluster = 1, .options = {.mode = any_mode()}};
  expect_first(run(reduce_words("add.u32", "1", ""), shape), "store.missing-proxy-fence");
  if (shape.options.mode == SimOptions::Mode::early) return;
  expect_first(run(reduce_words("add.u32", "1", "fence.proxy.async.shared::cta;\n", ""), shape),
               "exit.store-unread");
}

TEST_CASE("reductions of several CTAs race with plain accesses, but not with each other") {
  expect_clean(run(reduce_words("add.u32", "1"), {.cluster = 1}));
  // An atomic of a thread does not race either.
  const std::string atomic = "red.global.add.u32 [%rd1], 1;\nbar.sync 0;\n@!%p1";
  std::string body = reduce_words("add.u32", "1");
  body.replace(body.find("bar.sync 0;\n@!%p1"), 17, atomic);
  const Outcome sum = run(body, {.cluster = 1, .words = std::vector<std::uint32_t>(32, 0)});
  expect_clean(sum);
  CHECK(sum.words[0] == 4 + 4 * 32);
  std::string plain = reduce_words("add.u32", "1");
  plain.replace(plain.find("E:\n"), 3, "E:\n@%p1 st.global.u32 [%rd1+64], 0;\n");
  expect_first(run(plain, {.cluster = 1, .options = {.mode = any_mode()}}), "race.global-write-write");
  std::string read = reduce_words("add.u32", "1");
  read.replace(read.find("E:\n"), 3, "E:\n@%p1 ld.global.u32 %r9, [%rd1+64];\n");
  expect_first(run(read, {.cluster = 1, .options = {.mode = any_mode()}}), "race.global-read-write");
}

namespace {

/// Each CTA reduces 32 of its words into words of the next CTA, which waits for the 128 bytes.
std::string reduce_to_peer(const std::string& operation, const std::string& init) {
  return registers + next + element +
         "@%p1 mbarrier.init.shared.b64 [smem], 1;\n@%p1 fence.mbarrier_init.release.cluster;\n"
         "ld.global.u32 %r7, [%rd3];\nshl.b32 %r10, %r1, 2;\nadd.u32 %r10, %r10, %r5;\n"
         "st.shared.u32 [%r10+128], %r7;\n" +
         init +
         "fence.proxy.async.shared::cta;\n"
         "@%p1 mbarrier.arrive.expect_tx.shared.b64 %rd9, [smem], 128;\n" +
         meet +
         "mapa.shared::cluster.u32 %r9, %r5, %r6;\n@!%p1 bra W;\n"
         "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes." +
         operation +
         " [%r9+256], [%r5+128], 128, [%r9];\n"
         "W:\nmbarrier.try_wait.parity.shared.b64 %p2, [smem], 0;\n@!%p2 bra W;\n"
         "ld.shared.u32 %r11, [%r10+256];\nst.global.u32 [%rd3], %r11;\n" +
         meet + "ret;";
}

}  // namespace

TEST_CASE("bulk reductions into a peer CTA's shared memory are right, and mistakes are reported") {
  const Outcome outcome = run(reduce_to_peer("add.u32", "st.shared.u32 [%r10+256], 1000;\n"),
                              {.options = {.mode = any_mode(), .seed = 3}});
  expect_clean(outcome);
  for (std::uint32_t i = 0; i < 128; ++i) CHECK(outcome.words[i] == 1000 + (i + 96) % 128);
  expect_first(run(reduce_to_peer("add.u32", "")), "shared.uninitialised");
  CHECK_THROWS_WITH(run(reduce_to_peer("min.u64", "")), ContainsSubstring("does not run"));
}

}  // namespace reduction_test
