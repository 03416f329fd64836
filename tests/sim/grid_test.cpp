/// CTAs that wait for words that other CTAs of the grid write, or at a barrier of the whole grid.
#include "sim/text_kernel.hpp"

#include <tmajit/error.hpp>

#include <catch2/generators/catch_generators_all.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <spdlog/fmt/fmt.h>

namespace grid_test {

using namespace tmajit;
using namespace tests::text;
using Catch::Matchers::ContainsSubstring;

namespace {

/// Thread 0 of every CTA increments word 0, and then waits until all CTAs have done so.
std::string meet_by_count() {
  return registers +
         "@!%p1 bra MET;\nmov.u32 %r10, %nctaid.x;\natom.acq_rel.gpu.global.add.u32 %r11, [%rd1], 1;\n"
         "AGAIN:\nld.acquire.gpu.global.u32 %r11, [%rd1];\nsetp.lt.u32 %p2, %r11, %r10;\n@%p2 bra AGAIN;\n"
         "MET:\nbar.sync 0;\n";
}

Shape grid_of(std::uint32_t ctas, SimOptions::Mode mode, std::uint32_t host_threads) {
  return {.grid = ctas,
          .cluster = 1,
          .block = 32,
          .options = {.mode = mode, .threads = host_threads},
          .words = std::vector<std::uint32_t>(256)};
}

}  // namespace

TEST_CASE("CTAs that spin until later CTAs have run do not prevent those from running") {
  const auto mode = any_mode();
  const std::uint32_t host_threads = GENERATE(1U, 2U);
  // After all increments, each CTA adds the final count.
  const Outcome outcome = run(meet_by_count() +
                                  "ld.relaxed.gpu.global.u32 %r12, [%rd1];\nmul.wide.u32 %rd2, %r4, 4;\n"
                                  "add.u64 %rd3, %rd1, %rd2;\n@%p1 st.global.u32 [%rd3+64], %r12;\nret;",
                              grid_of(37, mode, host_threads));
  expect_clean(outcome);
  for (std::uint32_t i = 0; i < 37; ++i) CHECK(outcome.words[16 + i] == 37);
}

TEST_CASE("in a cooperative launch all CTAs run at the same time, with a workspace for the grid's barrier") {
  Shape shape = grid_of(64, SimOptions::Mode::late, 1);
  shape.cooperative = true;
  const std::string workspace =
      "mov.u32 %r13, %envreg1;\nmov.u32 %r14, %envreg2;\nmov.b64 %rd5, {%r14, %r13};\n";
  const Outcome outcome = run(meet_by_count() + workspace +
                                  "@%p1 red.relaxed.gpu.global.add.u32 [%rd5+4], 1;\n"
                                  "@%p1 ld.relaxed.gpu.global.u32 %r15, [%rd5];\n"
                                  "@%p1 st.global.u32 [%rd1+64], %r15;\nret;",
                              shape);
  // Each CTA stores the same zero to word 16.
  CHECK(outcome.words[0] == 64);
  CHECK(outcome.words[16] == 0);

  shape.grid = 132 * 32 + 1;  // of an H200
  CHECK_THROWS_WITH(run(registers + "ret;", shape), ContainsSubstring("4224 are on the chip at once"));
}

TEST_CASE("there are no reports of allowed rules") {
  Shape shape = grid_of(2, SimOptions::Mode::late, 1);
  const std::string body = registers + "st.global.u32 [%rd1], %r1;\nret;";
  expect_only(run(body, shape), "race.global-write-write");
  shape.options.allowed = {"race.global-write-write"};
  expect_clean(run(body, shape));
  // The kernel cannot continue after this report.
  shape.options.allowed = {"trap"};
  expect_only(run(registers + "trap;\nret;", shape), "trap");
  // The report of an allowed rule is dropped if another report stops the kernel.
  shape.options.allowed = {"race.global-write-write"};
  expect_only(run(registers + "st.global.u32 [%rd1], %r1;\nst.global.u32 [%rd1+1], %r1;\nret;", shape),
              "address.misaligned");
  shape.options.allowed = {"race.global-write-writ"};
  CHECK_THROWS_WITH(run(body, shape), ContainsSubstring("did you mean race.global-write-write"));
}

TEST_CASE("an access of the grid's workspace without a cooperative launch is reported") {
  const Outcome outcome =
      run(registers +
              "mov.u32 %r13, %envreg1;\nmov.u32 %r14, %envreg2;\nor.b32 %r13, %r13, %r14;\n"
              "@%p1 st.global.u32 [%rd1], %r13;\nret;",
          grid_of(1, SimOptions::Mode::late, 1));
  expect_clean(outcome);
  CHECK(outcome.words[0] == 0);
}

namespace {

/// Calls of the grid's barrier as in relocatable code and in Numba's code.
const std::string device_runtime =
    ".extern .func (.param .b64 result) cudaCGGetIntrinsicHandle(.param .b32 scope);\n"
    ".extern .func (.param .b32 result) cudaCGSynchronize(.param .b64 handle, .param .b32 flags);\n";
const std::string get_handle =
    "{ .param .b32 a; .param .b64 b; st.param.b32 [a], 1; call.uni (b), cudaCGGetIntrinsicHandle, (a);\n"
    "ld.param.b64 %rd9, [b]; }\n";
const std::string meet_the_grid =
    "{ .param .b64 a; .param .b32 b; .param .b32 c; st.param.b64 [a], %rd9; st.param.b32 [b], 0;\n"
    "call.uni (c), cudaCGSynchronize, (a, b); ld.param.b32 %r13, [c]; }\n";

}  // namespace

TEST_CASE("the device runtime's functions for the grid's barrier work if a module declares them") {
  Shape shape = grid_of(12, any_mode(), GENERATE(1U, 2U));
  shape.cooperative = true;
  // Each thread writes a word, and then reads the word of the opposite thread of the grid. This is done
  // twice.
  std::string body = registers + element + get_handle + "mov.u32 %r14, 383;\nsub.u32 %r14, %r14, %r20;\n" +
                     "mul.wide.u32 %rd4, %r14, 4;\nadd.u64 %rd4, %rd1, %rd4;\n";
  for (int turn = 0; turn < 2; ++turn) {
    body += fmt::format(
        "{0}ld.global.u32 %r15, [%rd4];\nadd.u32 %r15, %r15, %r13;\n{0}st.global.u32 [%rd3], %r15;\n",
        meet_the_grid);
  }
  shape.words.resize(384);
  for (std::uint32_t i = 0; i < 384; ++i) shape.words[i] = 3 * i;
  const Outcome outcome = run(body + "ret;", shape, device_runtime);
  expect_clean(outcome);
  for (std::uint32_t i = 0; i < 384; ++i) CHECK(outcome.words[i] == 3 * i);

  // One CTA never reaches the barrier.
  shape.options.instruction_limit = 100'000;
  const Outcome stuck =
      run(registers + get_handle + "setp.eq.u32 %p2, %r4, 3;\n@%p2 bra OUT;\n" + meet_the_grid + "OUT:\nret;",
          shape, device_runtime);
  REQUIRE_FALSE(stuck.reports.empty());
  CHECK(stuck.reports[0].rule == "instruction-limit");

  shape.cooperative = false;
  expect_first(run(registers + get_handle + meet_the_grid + "ret;", shape, device_runtime), "trap");
}

}  // namespace grid_test
