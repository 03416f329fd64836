/// Warp instructions that lanes execute at different places in the code: which of them can be executed
/// together, and the reports for those that cannot (PTX ISA: shfl.sync, vote.sync, match.sync, redux.sync,
/// elect.sync, bar.warp.sync).
#include "sim/text_kernel.hpp"

#include <bit>
#include <functional>

#include <catch2/generators/catch_generators_all.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <spdlog/fmt/fmt.h>

namespace warp_meeting_test {

using namespace tmajit;
using namespace tests::text;
using Catch::Matchers::ContainsSubstring;

namespace {

Shape one_warp(std::uint32_t block = 32) {
  return {
      .grid = 1, .cluster = 1, .block = block, .options = {.mode = any_mode(), .seed = GENERATE(1U, 2U, 3U)}};
}

/// Even lanes execute `even`, and odd lanes `odd`. Each computes %r13, which is stored to [%rd3]. %r1 is the
/// lane, %r21 is larger by 100, %p4 is whether the lane is below 10, and %p5 is the opposite.
std::string in_two_branches(const std::string& even, const std::string& odd) {
  return registers + element +
         "and.b32 %r10, %r1, 1;\nsetp.ne.u32 %p2, %r10, 0;\nadd.u32 %r21, %r1, 100;\nmov.u32 %r13, 7;\n"
         "setp.lt.u32 %p4, %r1, 10;\nnot.pred %p5, %p4;\nand.b32 %r22, %r1, 6;\nshl.b32 %r23, %r22, 0;\n"
         "@%p2 bra B;\n" +
         even + "bra C;\nB:\n" + odd + "C:\nst.global.u32 [%rd3], %r13;\nret;";
}

/// Code for the even and the odd lanes that they must be able to execute together.
struct Meeting {
  const char* even;
  const char* odd;
  std::function<std::uint32_t(std::uint32_t)> expected_word;
};

const std::uint32_t even_lanes = 0x55555555;

const Meeting meetings[] = {
    {"shfl.sync.bfly.b32 %r13, %r1, 1, 31, -1;\n",
     "shfl.sync.bfly.b32 %r14, %r21, 1, 31, -1;\nmov.u32 %r13, %r14;\n",
     [](std::uint32_t i) { return (i ^ 1) + (i % 2 == 0 ? 100 : 0); }},
    // The two instructions have different distances, bounds and predicates.
    {"shfl.sync.down.b32 %r13|%p6, %r1, 1, 31, -1;\n@!%p6 mov.u32 %r13, 1000;\n",
     "shfl.sync.down.b32 %r13|%p7, %r21, 3, 31, -1;\n@!%p7 mov.u32 %r13, 1001;\n",
     [](std::uint32_t i) {
       if (i % 2 == 0) return i + 1 + 100;
       return i + 3 > 31 ? 1001 : i + 3;
     }},
    {"shfl.sync.up.b32 %r13, %r1, 2, 0, -1;\n", "shfl.sync.up.b32 %r13, %r21, 1, 0, -1;\n",
     [](std::uint32_t i) { return i % 2 == 1 ? i - 1
                                  : i < 2    ? i
                                             : i - 2; }},
    {"shfl.sync.idx.b32 %r13, %r1, 5, 31, -1;\n", "shfl.sync.idx.b32 %r13, %r21, 4, 31, -1;\n",
     [](std::uint32_t i) { return i % 2 == 0 ? 105U : 4U; }},
    {"vote.sync.ballot.b32 %r13, %p4, -1;\n", "vote.sync.ballot.b32 %r13, !%p4, -1;\n",
     [](std::uint32_t) { return (0x3ffU & even_lanes) | (~0x3ffU & ~even_lanes); }},
    {"vote.sync.all.pred %p6, %p4, -1;\nselp.u32 %r13, 1, 0, %p6;\n",
     "vote.sync.all.pred %p7, %p4, -1;\nselp.u32 %r13, 3, 2, %p7;\n",
     [](std::uint32_t i) { return i % 2 == 0 ? 0U : 2U; }},
    {"vote.sync.any.pred %p6, %p4, -1;\nselp.u32 %r13, 1, 0, %p6;\n",
     "vote.sync.any.pred %p7, %p5, -1;\nselp.u32 %r13, 3, 2, %p7;\n",
     [](std::uint32_t i) { return i % 2 == 0 ? 1U : 3U; }},
    {"match.any.sync.b32 %r13, %r22, -1;\n", "match.any.sync.b32 %r13, %r23, -1;\n",
     [](std::uint32_t i) { return 0x03030303U << (i & 6); }},
    {"match.all.sync.b32 %r13, 5, -1;\n", "match.all.sync.b32 %r13|%p6, 5, -1;\n@!%p6 mov.u32 %r13, 9;\n",
     [](std::uint32_t) { return ~0U; }},
    {"match.all.sync.b32 %r13, 5, -1;\n", "match.all.sync.b32 %r13|%p6, 6, -1;\n@!%p6 mov.u32 %r13, 9;\n",
     [](std::uint32_t i) { return i % 2 == 0 ? 0U : 9U; }},
    {"redux.sync.add.u32 %r13, %r1, -1;\n", "redux.sync.add.u32 %r13, %r21, -1;\n",
     [](std::uint32_t) { return 31U * 16 + 1600; }},
    {"redux.sync.max.s32 %r13, %r1, -1;\n", "redux.sync.max.s32 %r14, %r21, -1;\nadd.u32 %r13, %r14, 1;\n",
     [](std::uint32_t i) { return i % 2 == 0 ? 131U : 132U; }},
    {"elect.sync %r13|%p6, -1;\nselp.u32 %r13, 1, 0, %p6;\nredux.sync.add.u32 %r13, %r13, -1;\n",
     "elect.sync %r14|%p7, -1;\nselp.u32 %r14, 1, 0, %p7;\nredux.sync.add.u32 %r13, %r14, -1;\n",
     [](std::uint32_t) { return 1U; }},
    {"bar.warp.sync -1;\nmov.u32 %r13, 1;\n", "bar.warp.sync -1;\nmov.u32 %r13, 2;\n",
     [](std::uint32_t i) { return 1 + i % 2; }},
    // First the even and the odd lanes execute separate instructions, then all lanes a common one.
    {"redux.sync.add.u32 %r14, %r1, 0x55555555;\nshfl.sync.bfly.b32 %r13, %r14, 1, 31, -1;\n",
     "redux.sync.min.u32 %r14, %r1, 0xaaaaaaaa;\nshfl.sync.bfly.b32 %r13, %r14, 1, 31, -1;\n",
     [](std::uint32_t i) { return i % 2 == 0 ? 1U : 240U; }},
};

}  // namespace

TEST_CASE("lanes can execute a warp instruction together at different places with the same opcode") {
  const Shape shape = one_warp();
  for (const Meeting& each : meetings) {
    INFO(each.even << each.odd);
    const Outcome outcome = run(in_two_branches(each.even, each.odd), shape);
    expect_clean(outcome);
    for (std::uint32_t i = 0; i < 32; ++i) CHECK(outcome.words[i] == each.expected_word(i));
  }
}

TEST_CASE("lanes can execute a warp instruction together at more than two places, also in a loop") {
  // Lane 4 i + k reaches place k after i iterations.
  std::string body =
      registers + element +
      "shr.u32 %r10, %r1, 2;\nand.b32 %r11, %r1, 3;\nW:\nsetp.eq.u32 %p2, %r10, 0;\n@%p2 bra D;\n"
      "sub.u32 %r10, %r10, 1;\nbra W;\nD:\n";
  for (int i = 1; i < 4; ++i) body += fmt::format("setp.eq.u32 %p3, %r11, {0};\n@%p3 bra P{0};\n", i);
  for (int i = 0; i < 4; ++i)
    body += fmt::format("P{}:\nshfl.sync.idx.b32 %r13, %r1, {}, 31, -1;\nbra E;\n", i, 8 * i + i);
  const Outcome outcome = run(body + "E:\nst.global.u32 [%rd3], %r13;\nret;", one_warp());
  expect_clean(outcome);
  for (std::uint32_t i = 0; i < 32; ++i) CHECK(outcome.words[i] == i % 4 * 9);
}

TEST_CASE("warp instructions at different places do not wait for lanes that have exited") {
  const Outcome outcome =
      run(in_two_branches("setp.gt.u32 %p6, %r1, 15;\n@%p6 ret;\nredux.sync.add.u32 %r13, %r1, -1;\n",
                          "redux.sync.add.u32 %r13, %r1, -1;\n"),
          one_warp());
  expect_clean(outcome);
  for (std::uint32_t i = 0; i < 32; ++i)
    CHECK(outcome.words[i] == (i % 2 == 0 && i > 15 ? i : 8 * 7 + 16 * 16));
}

TEST_CASE("an uninitialised value is undefined in the lane that gets it at another place") {
  const Shape shape = one_warp();
  const std::string even = "shfl.sync.bfly.b32 %r13, %r25, 1, 31, -1;\n";
  const std::string odd = "shfl.sync.bfly.b32 %r13, %r1, 1, 31, -1;\n";
  const Outcome outcome = run(in_two_branches(even, odd), shape);
  expect_only(outcome, "register.uninitialised");
  CHECK_THAT(outcome.reports[0].found, ContainsSubstring("%r25"));
  CHECK(outcome.reports[0].thread[0] % 2 == 1);
}

TEST_CASE("lanes that wait for each other at incompatible instructions are reported as a deadlock") {
  const Shape shape = one_warp();
  const std::string ballot = "vote.sync.ballot.b32 %r13, %p4, -1;\n";
  const auto [even, odd] = GENERATE_COPY(table<std::string, std::string>({
      {ballot, "vote.sync.any.pred %p6, %p4, -1;\n"},
      {ballot, "shfl.sync.bfly.b32 %r13, %r1, 1, 31, -1;\n"},
      {ballot, "bar.warp.sync -1;\n"},
      {"shfl.sync.bfly.b32 %r13, %r1, 1, 31, -1;\n", "shfl.sync.down.b32 %r13, %r1, 1, 31, -1;\n"},
      {"redux.sync.add.u32 %r13, %r1, -1;\n", "redux.sync.min.u32 %r13, %r1, -1;\n"},
      {"redux.sync.add.u32 %r13, %r1, -1;\n", "redux.sync.add.s32 %r13, %r1, -1;\n"},
      {"match.any.sync.b32 %r13, %r1, -1;\n", "match.all.sync.b32 %r13, %r1, -1;\n"},
      // The two member masks differ and have lanes in common.
      {ballot, "vote.sync.ballot.b32 %r13, %p4, 0xabababab;\n"},
      {"bar.warp.sync -1;\n", "bar.warp.sync 0xabababab;\n"},
      {"elect.sync %r13|%p6, -1;\n", "elect.sync %r13|%p6, 0xabababab;\n"},
      // All lanes of the warp must execute the same instruction, or the same barrier.
      {"bar.sync 0;\n", ballot},
      {"barrier.sync 0;\n", ballot},
      {"bar.sync 0;\n", "bar.sync 0;\n"},
      {"barrier.sync 0;\n", "barrier.sync 1;\n"},
      {"barrier.cluster.arrive.aligned;\n", "barrier.cluster.arrive.aligned;\n"},
  }));
  INFO(even << odd);
  const Outcome outcome = run(in_two_branches(even, odd), shape);
  expect_only(outcome, "warp.diverged");
  CHECK_THAT(outcome.reports[0].found, ContainsSubstring("none of them can continue"));
}

TEST_CASE("three groups of lanes that wait for each other in a cycle are reported") {
  // Groups are lanes 0 to 9, 10 to 19 and 20 to 31. Each waits for itself and the next group.
  const Outcome outcome =
      run(registers +
              "setp.lt.u32 %p2, %r1, 10;\n@%p2 bra A;\nsetp.lt.u32 %p3, %r1, 20;\n@%p3 bra B;\n"
              "bar.warp.sync 0xfff003ff;\nret;\nA:\nbar.warp.sync 0x000fffff;\nret;\nB:\n"
              "bar.warp.sync 0xfffffc00;\nret;",
          one_warp());
  expect_only(outcome, "warp.diverged");
}

}  // namespace warp_meeting_test
