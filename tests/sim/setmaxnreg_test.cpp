/// Registers that warpgroups release and request, and the number of registers with which a kernel begins.
#include "sim/text_kernel.hpp"

#include <catch2/generators/catch_generators_all.hpp>
#include <spdlog/fmt/fmt.h>

namespace setmaxnreg_test {

using namespace tmajit;
using namespace tests::text;

namespace {

/// A kernel whose first warpgroup executes `first`, and whose other warpgroups execute `second`.
std::string setmaxnreg(const std::string& first, const std::string& second) {
  return registers + "setp.ge.u32 %p2, %r1, 128;\n@%p2 bra B;\n" + first + "ret;\nB:\n" + second + "ret;";
}
std::string dec(std::uint32_t count) {
  return fmt::format("setmaxnreg.dec.sync.aligned.u32 {};\n", count);
}
std::string inc(std::uint32_t count) {
  return fmt::format("setmaxnreg.inc.sync.aligned.u32 {};\n", count);
}
Outcome set_registers(const std::string& first, const std::string& second, const SimOptions& options = {},
                      const std::string& directives = ".maxntid 384\n.minnctapersm 1",
                      std::uint32_t block = 384) {
  return run(setmaxnreg(first, second),
             {.grid = 1, .cluster = 1, .block = block, .options = options, .directives = directives});
}

}  // namespace

TEST_CASE("setmaxnreg moves registers from one warpgroup to others") {
  // 384 threads have 168 registers each. One warpgroup releases registers, and the other two get them.
  const SimOptions options{.mode = any_mode(), .seed = 2};
  expect_clean(set_registers(dec(40), inc(232), options));
  expect_clean(set_registers(inc(168), dec(168), options));
  expect_first(set_registers(dec(40), inc(240), options), "setmaxnreg.total");
  expect_first(set_registers("", inc(176), options), "setmaxnreg.total");
  expect_first(set_registers(dec(16), "", options), "setmaxnreg.value");
  expect_first(set_registers(dec(44), "", options), "setmaxnreg.value");
  expect_first(set_registers(inc(160), inc(200), options), "setmaxnreg.value");
  expect_first(set_registers(dec(176), "", options), "setmaxnreg.value");
  const std::string half = "setp.ge.u32 %p3, %r1, 64;\n";
  expect_first(set_registers(half + "@%p3 bra C;\n" + dec(40) + "C:\n", "", options), "setmaxnreg.warpgroup");
  expect_first(set_registers(half + "@%p3 bra C;\n" + dec(40) + "ret;\nC:\n" + dec(48), "", options),
               "setmaxnreg.warpgroup");
}

TEST_CASE("a kernel begins with the registers that ptxas gives it") {
  const SimOptions options{.mode = any_mode(), .seed = 2};
  // Two warpgroups could have 256 registers each, but ptxas gives them only what setmaxnreg.inc requests.
  const std::string two = ".maxntid 256\n.minnctapersm 1";
  expect_clean(set_registers(dec(40), inc(248), options, two, 256));
  expect_clean(set_registers(dec(24), inc(240), options, two, 256));
  expect_first(set_registers(dec(248), inc(240), options, two, 256), "setmaxnreg.value");
  // The number depends on .maxntid, not on the launch's block, and also on .reqntid, .maxnreg and
  // .minnctapersm.
  expect_clean(set_registers(dec(168), "", options, ".maxntid 384\n.minnctapersm 1", 256));
  expect_first(set_registers(dec(176), "", options, ".maxntid 384\n.minnctapersm 1", 256),
               "setmaxnreg.value");
  expect_first(set_registers(dec(176), "", options, ".reqntid 384\n.minnctapersm 1"), "setmaxnreg.value");
  expect_first(set_registers(dec(88), "", options, ".maxntid 384\n.minnctapersm 2"), "setmaxnreg.value");
  expect_first(set_registers(dec(136), "", options, ".maxntid 384\n.minnctapersm 1\n.maxnreg 128"),
               "setmaxnreg.value");
  expect_first(set_registers(dec(40), inc(240), options, ".maxnreg 168"), "setmaxnreg.total");
  expect_clean(set_registers(dec(40), inc(232), options, ".maxnreg 168"));
  // Two CTAs of five warps have up to three warps in a partition of the SM.
  expect_first(set_registers(dec(176), "", options, ".maxntid 160\n.minnctapersm 2", 160),
               "setmaxnreg.value");
  expect_clean(set_registers(dec(168), "", options, ".maxntid 160\n.minnctapersm 2", 160));
}

TEST_CASE("setmaxnreg has no effect if ptxas does not know how many registers there are") {
  const std::string directives =
      GENERATE("", ".maxntid 384", ".minnctapersm 1", ".maxntid 1024\n.minnctapersm 3");
  expect_clean(set_registers(dec(40), inc(240), {}, directives));
  expect_clean(set_registers(inc(24), dec(256), {}, directives));
  expect_first(set_registers(dec(44), "", {}, directives), "setmaxnreg.value");
}

}  // namespace setmaxnreg_test
