/// Lint finds the parameter that holds a tensor map, however the kernel computes the map's address.
#include "lint/support.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators_all.hpp>

using namespace tmajit;
using namespace tests;
using Rules = std::vector<std::string>;

namespace {

const std::string declarations =
    ".reg .pred %p<8>;\n.reg .b32 %r<24>;\n.reg .b64 %rd<16>;\n.shared .align 1024 .b8 tile[8192];\n"
    ".shared .align 8 .b64 full;\n";
const std::string map_parameters =
    ".param .align 64 .b8 first[128], .param .align 64 .b8 pair[256], .param .u64 out";

/// Lints a kernel that loads 1024 bytes through the map at %rd2. The code `address` computes %rd2.
LintResult load_through(const std::string& address, std::vector<MapFacts> maps) {
  const std::string body = declarations + address +
                           "mbarrier.init.shared::cta.b64 [full], 1;\nfence.mbarrier_init.release.cluster;\n"
                           "mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 1024;\n"
                           "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                           "[tile], [%rd2, {0, 0}], "
                           "[full];\n"
                           "W:\nmbarrier.try_wait.parity.shared::cta.b64 %p1, [full], 0;\n@!%p1 bra W;\nret;";
  return lint_ptx(entry(body, map_parameters), {.maps = std::move(maps)});
}

MapFacts box_of(const std::string& parameter, std::uint64_t bytes, std::uint64_t offset = 0) {
  return {.parameter = parameter, .box_bytes = bytes, .rank = 2, .offset = offset};
}

}  // namespace

TEST_CASE("a tensor map is found through 64-bit and 32-bit addresses of its parameter") {
  struct Way {
    const char* text;
    const char* parameter;
    std::uint64_t offset;
  };
  const Way way = GENERATE(
      Way{"mov.b64 %rd2, first;\n", "first", 0}, Way{"mov.b32 %r1, first;\ncvt.u64.u32 %rd2, %r1;\n", "0", 0},
      Way{"mov.b32 %r1, first;\ncvt.s64.s32 %rd1, %r1;\ncvta.param.u64 %rd2, %rd1;\n", "0", 0},
      Way{"mov.b32 %r1, pair;\nadd.s32 %r2, %r1, 128;\ncvt.u64.u32 %rd1, %r2;\ncvta.param.u64 %rd2, %rd1;\n",
          "pair", 128},
      Way{"mov.b32 %r1, pair;\nor.b32 %r2, %r1, 32;\nadd.s32 %r2, %r2, 96;\ncvt.u64.u32 %rd2, %r2;\n", "1",
          128},
      Way{"mov.b64 %rd1, pair;\ncvt.u32.u64 %r1, %rd1;\ncvt.u64.u32 %rd1, %r1;\nadd.s64 %rd2, %rd1, 128;\n",
          "1", 128});
  CAPTURE(way.text);
  const LintResult right = load_through(way.text, {box_of(way.parameter, 1024, way.offset)});
  INFO(right.report);
  CHECK(right.findings.empty());
  CHECK(right.unused_maps.empty());
  const LintResult wrong = load_through(way.text, {box_of(way.parameter, 512, way.offset)});
  CHECK(rules(wrong) == Rules{"mbarrier.expected-bytes"});
}

TEST_CASE("a tensor map must be at a multiple of 64, in a parameter or variable that is declared so") {
  // The findings of a kernel that loads by a map at `address`. `before` declares variables.
  const auto rules_at = [](const std::string& address, const std::string& parameters,
                           const std::string& before = "") {
    const std::string body =
        declarations + address +
        "mbarrier.init.shared::cta.b64 [full], 1;\nfence.mbarrier_init.release.cluster;\n"
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 1024;\n"
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [tile], [%rd2, {0, "
        "0}], [full];\n"
        "W:\nmbarrier.try_wait.parity.shared::cta.b64 %p1, [full], 0;\n@!%p1 bra W;\nret;";
    return rules(lint_ptx(entry(body, parameters, before)));
  };
  const Rules misaligned{"tensormap.alignment"};
  const std::string map = "mov.b64 %rd2, map;\n";
  for (const char* alignment : {"64", "128"})
    CHECK(rules_at(map, std::string(".param .align ") + alignment + " .b8 map[128]").empty());
  for (const char* alignment : {"1", "8", "16", "32"})
    CHECK(rules_at(map, std::string(".param .align ") + alignment + " .b8 map[128]") == misaligned);
  CHECK(rules_at(map, ".param .b8 map[128]") == misaligned);
  // A map in a struct.
  const std::string aligned_struct = ".param .align 64 .b8 all[256]";
  CHECK(rules_at("mov.b64 %rd2, all;\nadd.u64 %rd2, %rd2, 64;\n", aligned_struct).empty());
  CHECK(rules_at("mov.b64 %rd2, all;\nadd.u64 %rd2, %rd2, 8;\n", aligned_struct) == misaligned);
  CHECK(rules_at("mov.b64 %rd2, all;\nadd.u64 %rd2, %rd2, 96;\n", aligned_struct) == misaligned);
  CHECK(rules_at("mov.b64 %rd2, all;\nadd.u64 %rd2, %rd2, 8;\n", ".param .align 8 .b8 all[256]") ==
        misaligned);
  // One of several maps.
  const std::string indexed =
      "mov.u32 %r1, %ctaid.x;\nmul.wide.u32 %rd3, %r1, 128;\nmov.b64 %rd2, all;\nadd.u64 %rd2, %rd2, %rd3;\n";
  CHECK(rules_at(indexed, aligned_struct).empty());
  CHECK(rules_at(indexed, ".param .align 32 .b8 all[256]") == misaligned);
  // Maps in global and constant memory.
  for (const std::string space : {"global", "const"}) {
    const auto in_space = [&](const std::string& declaration) {
      return rules_at("cvta." + space + ".u64 %rd2, map;\n", "", declaration + "\n");
    };
    CHECK(in_space("." + space + " .align 64 .b8 map[128];").empty());
    CHECK(in_space("." + space + " .align 16 .b8 map[128];") == misaligned);
    // Another module declares its alignment.
    CHECK(in_space(".extern ." + space + " .align 16 .b8 map[128];").empty());
  }
  // The address is loaded, or rounded up to a multiple of 64.
  CHECK(rules_at("ld.param.u64 %rd2, [pointer];\n", ".param .u64 pointer").empty());
  CHECK(rules_at("ld.param.u64 %rd2, [pointer];\nand.b64 %rd2, %rd2, -64;\nadd.u64 %rd2, %rd2, 32;\n",
                 ".param .u64 pointer") == misaligned);
  CHECK(rules_at("cvta.global.u64 %rd2, map;\nadd.u64 %rd2, %rd2, 63;\nand.b64 %rd2, %rd2, -64;\n", "",
                 ".global .align 8 .b8 map[192];\n")
            .empty());
}

TEST_CASE("loads of a parameter through 32-bit and 64-bit addresses give the same value") {
  // The store is guarded by a value loaded through a 32-bit address, its wait by the same value loaded
  // directly.
  const std::string body =
      declarations +
      "mov.b32 %r1, out;\nld.param.u32 %r2, [%r1];\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 bra END;\n"
      "cp.async.bulk.prefetch.L2.global [%rd1], 64;\nEND:\nld.param.u32 %r3, [out];\nsetp.ne.u32 %p2, %r3, "
      "0;\n"
      "mov.u64 %rd1, 0;\n@%p1 bra DONE;\ncp.async.bulk.global.shared::cta.bulk_group [%rd1], [tile], "
      "64;\nDONE:\n"
      "@%p2 cp.async.bulk.commit_group;\n@%p2 cp.async.bulk.wait_group 0;\nret;";
  const LintResult result = lint_ptx(entry(body, map_parameters));
  INFO(result.report);
  for (const std::string& rule : rules(result)) CHECK(rule != "exit.store-unread");
}

TEST_CASE("facts about parameters that no kernel uses as a tensor map are reported as unused") {
  const auto unused = [](const std::string& address, std::vector<MapFacts> maps) {
    return load_through(address, std::move(maps)).unused_maps;
  };
  const std::string first = "mov.b64 %rd2, first;\n";
  using Indices = std::vector<std::size_t>;
  CHECK(unused(first, {box_of("first", 1024)}).empty());
  CHECK(unused(first, {box_of("out", 1024), box_of("0", 1024), box_of("1", 1024), box_of("0", 1024, 64)}) ==
        Indices{0, 2, 3});
  CHECK(unused(first, {box_of("7", 1024)}) == Indices{0});
  CHECK(unused(first + "prefetch.tensormap [pair];\n", {box_of("pair", 1024)}).empty());
  // A map whose address is loaded or computed may be any map.
  CHECK(unused("mov.b64 %rd3, pair;\nld.param.u64 %rd2, [%rd3];\n", {box_of("pair", 1024)}).empty());
  CHECK(
      unused("mov.b64 %rd3, pair;\nmov.u32 %r1, %ctaid.x;\nmul.wide.u32 %rd4, %r1, 128;\nadd.u64 %rd2, %rd3, "
             "%rd4;\n",
             {box_of("pair", 1024, 128)})
          .empty());
}
