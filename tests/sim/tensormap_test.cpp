/// Tensor maps that a kernel changes: the copies that use them, and the fences that these copies require.
#include "sim/text_kernel.hpp"

#include <catch2/generators/catch_generators_all.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace tensormap_test {

using namespace tmajit;
using namespace tests::text;
using Catch::Matchers::ContainsSubstring;

namespace {

const std::string publish =
    "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%rd6], [%r5], "
    "128;\n";
const std::string acquire = "fence.proxy.tensormap::generic.acquire.gpu [%rd6], 128;\n";
const std::string load =
    "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r5+1024], [%rd6, "
    "{%r8, "
    "%r9}], [%r5+128];\n";

/// The parts of a kernel of one warp. It copies the map to shared memory, changes it there, copies it to
/// global memory after the words, loads a tile at row 4 by it, and writes the tile to the words from 512 on.
struct Parts {
  std::string change = "";
  std::string published = publish;
  std::string acquired = acquire;
  std::string loaded = load;
  std::string bytes = "128";
  std::string after = "";
};

const std::string replace = "@%p1 tensormap.replace.tile.";

std::string kernel(const Parts& parts) {
  return registers +
         "ld.param.u64 %rd5, [p1];\nadd.u64 %rd6, %rd1, 3072;\nmov.u32 %r8, 0;\nmov.u32 %r9, 4;\n"
         "mul.wide.u32 %rd7, %r1, 4;\nadd.u64 %rd8, %rd5, %rd7;\nld.global.u32 %r7, [%rd8];\n"
         "shl.b32 %r10, %r1, 2;\nadd.u32 %r10, %r10, %r5;\nst.shared.u32 [%r10], %r7;\nbar.warp.sync -1;\n" +
         parts.change + "bar.warp.sync -1;\n" + parts.published +
         "@%p1 mbarrier.init.shared.b64 [smem+128], 1;\n@%p1 fence.mbarrier_init.release.cluster;\n"
         "bar.warp.sync -1;\n@!%p1 bra A;\n"
         "mbarrier.arrive.expect_tx.shared.b64 %rd9, [smem+128], " +
         parts.bytes + ";\n" + parts.acquired + parts.loaded +
         "A:\nbar.warp.sync -1;\nW:\nmbarrier.try_wait.parity.shared.b64 %p2, [smem+128], 0;\n@!%p2 bra W;\n"
         "ld.shared.u32 %r11, [%r10+1024];\nadd.u64 %rd3, %rd1, %rd7;\nst.global.u32 [%rd3+2048], %r11;\n" +
         parts.after + "ret;";
}

Outcome change(const Parts& parts, const TensorMapSpec& spec = rows_of(16)) {
  return run(kernel(parts), {.grid = 1, .cluster = 1, .options = {.mode = any_mode()}, .maps = {spec}});
}

/// The instruction that replaces a field of the map in shared memory. `field` may end with an ordinal:
/// "box_dim 1".
std::string replaced(const std::string& field, const std::string& value) {
  const bool wide = field == "global_address" || field.starts_with("global_stride");
  std::string text =
      replace + field.substr(0, field.find(' ')) + ".shared::cta.b1024.b" + (wide ? "64" : "32") + " [%r5], ";
  if (const auto at = field.find(' '); at != std::string::npos) text += field.substr(at + 1) + ", ";
  return text + value + ";\n";
}

}  // namespace

TEST_CASE("a load uses the address that replaced a map's address in shared memory") {
  const Outcome outcome =
      change({.change = "add.u64 %rd10, %rd1, 128;\n" + replaced("global_address", "%rd10")});
  expect_clean(outcome);
  for (std::uint32_t i = 0; i < 32; ++i) CHECK(outcome.words[512 + i] == 32 + 4 * 16 + i);
}

TEST_CASE("every field of a map can be replaced") {
  SECTION("strides and extents") {
    const Outcome outcome = change({.change = "mov.u64 %rd10, 128;\n" + replaced("global_stride 0", "%rd10") +
                                              "mov.u32 %r12, 5;\n" + replaced("global_dim 1", "%r12")});
    expect_clean(outcome);
    for (std::uint32_t i = 0; i < 32; ++i) CHECK(outcome.words[512 + i] == (i < 16 ? 4 * 32 + i : 0));
  }
  SECTION("a box of one row") {
    std::string wider = replaced("box_dim 1", "1");
    const Outcome outcome = change({.change = wider, .bytes = "64", .after = ""});
    // Half of the threads read memory into which nothing was loaded.
    expect_only(outcome, "shared.uninitialised");
    for (std::uint32_t i = 0; i < 16; ++i) CHECK(outcome.words[512 + i] == 64 + i);
  }
  SECTION("element type, fill, swizzle") {
    const Outcome outcome = change({.change = replaced("elemtype", "7") + replaced("fill_mode", "1") +
                                              replaced("swizzle_mode", "2") + "mov.u32 %r12, 5;\n" +
                                              replaced("global_dim 1", "%r12")});
    expect_clean(outcome);
    CHECK(outcome.words[512 + 15] == 4 * 16 + 15);
    // Out of bounds: NaN.
    CHECK(outcome.words[512 + 31] == 0x7ff77ff7);
  }
  SECTION("rank, whose value is one less, before the new dimension") {
    const Outcome outcome =
        change({.change = replaced("rank", "2") + replaced("global_dim 2", "3") + replaced("box_dim 2", "1") +
                          replaced("element_stride 2", "1") + "mov.u64 %rd10, 1024;\n" +
                          replaced("global_stride 1", "%rd10"),
                .loaded = "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                          "[%r5+1024], [%rd6, {%r8, %r9, 1}], [%r5+128];\n"});
    expect_clean(outcome);
    for (std::uint32_t i = 0; i < 32; ++i) CHECK(outcome.words[512 + i] == 256 + 4 * 16 + i);
  }
}

TEST_CASE("a changed map that is illegal is reported with the rule that it breaks") {
  const auto refused = [](const std::string& text, const std::string& rule) {
    const Outcome outcome = change({.change = text});
    expect_only(outcome, "tensormap.changed");
    CHECK_THAT(outcome.reports.at(0).found, ContainsSubstring(rule));
  };
  refused("mov.u64 %rd10, 100;\n" + replaced("global_stride 0", "%rd10"), "strides.multiple");
  refused(replaced("box_dim 0", "300"), "box.range");
  refused("add.u64 %rd10, %rd1, 8;\n" + replaced("global_address", "%rd10"), "address");
  refused(replaced("swizzle_mode", "1"), "swizzle");
  refused(replaced("rank", "2"), "shape");
}

TEST_CASE("a field's value or ordinal out of range is reported") {
  expect_only(change({.change = replaced("rank", "5")}), "tensormap.field");
  expect_only(change({.change = replaced("elemtype", "13")}), "tensormap.field");
  expect_only(change({.change = replaced("swizzle_mode", "4")}), "tensormap.field");
  expect_only(change({.change = replaced("box_dim 5", "1")}), "tensormap.field");
}

TEST_CASE("changing a map of tf32 to another type is reported") {
  TensorMapSpec spec = rows_of(16);
  spec.type = ElementType::tf32;
  const Outcome as_u8 = change({.change = replaced("elemtype", "0")}, spec);
  expect_only(as_u8, "tensormap.field");
  CHECK_THAT(as_u8.reports[0].found, ContainsSubstring("every copy by it is illegal"));
  expect_clean(change({.change = replaced("elemtype", "12")}, spec));
  spec.type = ElementType::f32_ftz;
  expect_clean(change({.change = replaced("elemtype", "7")}, spec));
}

TEST_CASE("a map of tf32 that is changed to f32 still rounds") {
  TensorMapSpec spec = rows_of(16);
  spec.type = GENERATE_COPY(ElementType::tf32, ElementType::tf32_ftz);
  // Two words of a tile of two rows, as an H200 rounded them.
  const std::string words =
      "add.u64 %rd10, %rd1, 256;\n@%p1 st.global.u32 [%rd10], 0x4aa855c7;\n"
      "@%p1 st.global.u32 [%rd10+4], 0x92821435;\n@%p1 fence.proxy.async;\n";
  const Outcome outcome = change({.change = words + replaced("elemtype", GENERATE("7", "8"))}, spec);
  expect_only(outcome, "tensormap.field");
  CHECK_THAT(outcome.reports[0].found, ContainsSubstring("go on rounding"));
  CHECK(outcome.words[512] == 0x4aa86000);
  CHECK(outcome.words[513] ==
        0x92820000 + 0x1435 / 0x2000 * 0x2000 + (0x1435 % 0x2000 > 0x1000 ? 0x2000 : 0));
}

TEST_CASE("using a changed map without the required fences is reported") {
  const std::string address = "add.u64 %rd10, %rd1, 128;\n" + replaced("global_address", "%rd10");
  expect_only(change({.change = address, .acquired = ""}), "tensormap.not-acquired");
  // The map is copied by plain stores, with and without the release fence.
  const std::string copied =
      "ld.shared.u32 %r13, [%r10];\nadd.u64 %rd11, %rd6, %rd7;\nst.global.u32 [%rd11], %r13;\n";
  const std::string released = "fence.proxy.tensormap::generic.release.gpu;\n";
  expect_only(change({.change = address, .published = copied}), "tensormap.not-released");
  expect_clean(change({.change = address, .published = copied + released}));
  // The map is changed in global memory.
  const std::string in_place =
      "@%p1 tensormap.replace.tile.global_address.global.b1024.b64 [%rd6], %rd10;\nbar.warp.sync -1;\n";
  const std::string first = "add.u64 %rd10, %rd1, 128;\n";
  expect_only(change({.change = first, .published = publish + in_place}), "tensormap.not-released");
  expect_clean(change({.change = first, .published = publish + in_place + released}));
  // An unchanged map needs no acquire.
  expect_clean(change({.published = publish, .acquired = ""}));
}

TEST_CASE("an acquire before the change of a map does not replace the acquire after it") {
  expect_only(change({.change = "add.u64 %rd10, %rd1, 128;\n" + replaced("global_address", "%rd10"),
                      .published = acquire + publish,
                      .acquired = ""}),
              "tensormap.not-acquired");
}

TEST_CASE("copies by a map in shared memory, and changes of memory that is no map, are reported") {
  expect_only(
      change({.change = "mov.u64 %rd12, smem;\ncvta.shared.u64 %rd12, %rd12;\n",
              .loaded = "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                        "[%r5+1024], [%rd12, {%r8, %r9}], [%r5+128];\n"}),
      "tensormap.space");
  expect_only(change({.change = "st.shared.u32 [%r10], 3;\nbar.warp.sync -1;\n" + replaced("rank", "0")}),
              "tensormap.invalid");
}

TEST_CASE("a copy by a map at no multiple of 64 is reported") {
  const auto load_at = [](const std::string& offset) {
    return "add.u64 %rd12, %rd6, " + offset +
           ";\ncp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r5+1024], "
           "[%rd12, {%r8, %r9}], [%r5+128];\n";
  };
  expect_only(change({.loaded = load_at("32")}), "tensormap.alignment");
  expect_only(change({.loaded = "add.u64 %rd12, %rd6, 8;\ncp.async.bulk.prefetch.tensor.2d.L2.global.tile "
                                "[%rd12, {%r8, %r9}];\n"}),
              "tensormap.alignment");
  expect_clean(change({.loaded = load_at("0")}));
}

TEST_CASE("replacing every field of 128 zero bytes makes a usable map") {
  const std::string zeros = "st.shared.u32 [%r10], 0;\nbar.warp.sync -1;\n";
  const std::string rank = replaced("rank", "1");
  const std::string rest =
      replaced("global_address", "%rd1") + replaced("global_dim 0", "16") + replaced("global_dim 1", "32") +
      "mov.u64 %rd10, 64;\n" + replaced("global_stride 0", "%rd10") + replaced("box_dim 0", "16") +
      replaced("box_dim 1", "2") + replaced("elemtype", "2") + replaced("interleave_layout", "0") +
      replaced("swizzle_mode", "0") + replaced("fill_mode", "0");
  const std::string steps = replaced("element_stride 0", "1") + replaced("element_stride 1", "1");
  const std::string rank_first = rank + rest + steps;
  const std::string rank_last = rest + steps + rank;
  for (const std::string& order : {rank_first, rank_last}) {
    const Outcome outcome = change({.change = zeros + order});
    expect_clean(outcome);
    for (std::uint32_t i = 0; i < 32; ++i) CHECK(outcome.words[512 + i] == 4 * 16 + i);
  }
  expect_only(change({.change = zeros + rank + rest}), "tensormap.changed");
  expect_only(change({.change = zeros + rest + steps}), "tensormap.rank");
}

TEST_CASE("changing a map while a load uses it is reported") {
  const std::string again =
      "add.u64 %rd10, %rd1, 64;\n" + replaced("global_address", "%rd10") + "bar.warp.sync -1;\n" + publish;
  Parts parts{.change = "add.u64 %rd10, %rd1, 128;\n" + replaced("global_address", "%rd10")};
  std::string text = kernel(parts);
  // The change is after the load was issued and before the wait for it.
  text.insert(text.find("W:\n"), again);
  const auto launch = [&](const std::string& body, SimOptions::Mode mode) {
    return run(body, {.grid = 1, .cluster = 1, .options = {.mode = mode}, .maps = {rows_of(16)}});
  };
  expect_first(launch(text, SimOptions::Mode::late), "tensormap.in-use");
  std::string waited = kernel(parts);
  waited.insert(waited.find("ld.shared.u32 %r11"), "bar.warp.sync -1;\n" + again);
  expect_clean(launch(waited, any_mode()));
}

TEST_CASE("changing a map while a store uses it is reported") {
  // The store writes the loaded tile, eight rows further down.
  const auto launch = [](const std::string& wait) {
    const Parts parts{
        .change = "add.u64 %rd10, %rd1, 128;\n" + replaced("global_address", "%rd10"),
        .after =
            "bar.warp.sync -1;\n@!%p1 bra B;\n"
            "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd6, {%r8, 12}], [%r5+1024];\n"
            "cp.async.bulk.commit_group;\n" +
            wait + "B:\nbar.warp.sync -1;\nadd.u64 %rd10, %rd1, 64;\n" + replaced("global_address", "%rd10") +
            "bar.warp.sync -1;\n" + publish + "@%p1 cp.async.bulk.wait_group.read 0;\n"};
    return run(kernel(parts),
               {.grid = 1, .cluster = 1, .options = {.mode = SimOptions::Mode::late}, .maps = {rows_of(16)}});
  };
  expect_first(launch(""), "tensormap.in-use");
  // The wait for a group's reads includes its reads of the map: PTX ISA, cp.async.bulk.wait_group.
  const Outcome outcome = launch("cp.async.bulk.wait_group.read 0;\n");
  expect_clean(outcome);
  for (std::uint32_t i = 0; i < 32; ++i) CHECK(outcome.words[32 + 12 * 16 + i] == 32 + 4 * 16 + i);
}

}  // namespace tensormap_test
