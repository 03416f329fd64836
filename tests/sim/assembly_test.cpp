/// Barriers without .aligned: the lanes of a warp may reach them at different times. The warp arrives when
/// its last lane does.
#include "sim/text_kernel.hpp"

#include <catch2/generators/catch_generators_all.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace assembly_test {

using namespace tmajit;
using namespace tests::text;
using Catch::Matchers::ContainsSubstring;

namespace {

Shape warps(std::uint32_t count) {
  return {.grid = 1,
          .cluster = 1,
          .block = 32 * count,
          .options = {.mode = any_mode(), .seed = GENERATE(1U, 2U, 3U)}};
}

/// PTX that sets %p2 to whether the lane is odd, %r11 to the address of the thread's word of shared memory,
/// %r12 to that of the word of a lane of the other parity in the other warp, and %rd3 to the address of the
/// thread's word of global memory.
const std::string begin = registers + element +
                          "and.b32 %r10, %r1, 1;\nsetp.ne.u32 %p2, %r10, 0;\nshl.b32 %r11, %r1, 2;\n"
                          "add.u32 %r11, %r11, %r5;\nxor.b32 %r12, %r1, 33;\nshl.b32 %r12, %r12, 2;\n"
                          "add.u32 %r12, %r12, %r5;\n";
const std::string exchange = "ld.shared.u32 %r13, [%r12];\nst.global.u32 [%rd3], %r13;\n";

void expect_exchanged(const Outcome& outcome) {
  expect_clean(outcome);
  for (std::uint32_t i = 0; i < 64; ++i) CHECK(outcome.words[i] == (i ^ 33));
}

/// Even lanes reach the barrier first; odd lanes reach it later, by other code.
std::string odd_lanes_later(const std::string& barrier) {
  return begin + "@%p2 bra B;\nA:\nst.shared.u32 [%r11], %r1;\n" + barrier + exchange + "ret;\nB:\nbra A;";
}

/// Even and odd lanes execute different barrier instructions.
std::string in_two_branches(const std::string& even, const std::string& odd,
                            const std::string& after_join = exchange) {
  return begin + "st.shared.u32 [%r11], %r1;\n@%p2 bra B;\n" + even + "bra C;\nB:\n" + odd + "C:\n" +
         after_join + "ret;";
}

}  // namespace

TEST_CASE("a warp arrives at a barrier without .aligned when its last lane does") {
  const std::string form = GENERATE("barrier.sync 1, 64;\n", "barrier.cta.sync 1, 64;\n", "barrier.sync 0;\n",
                                    "mov.u32 %r14, 3;\nbarrier.sync %r14, 64;\n");
  const Shape two = warps(2);
  expect_exchanged(run(odd_lanes_later(form), two));
  expect_exchanged(run(in_two_branches(form, form), two));
}

TEST_CASE("a warp arrives without waiting for other warps, but only with all of its lanes") {
  // The lanes of the first warp arrive by two instructions after their writes; the lanes of the second warp
  // wait.
  const std::string wait = "setp.ge.u32 %p3, %r1, 32;\n@%p3 bra W;\n";
  const auto pass_on = [&](const std::string& first, const std::string& second) {
    return begin + "st.shared.u32 [%r11], %r1;\n" + wait + "@%p2 bra B;\n" + first + "ret;\nB:\n" + second +
           "ret;\nW:\n@%p2 bra V;\nbarrier.sync 2, 64;\nbra C;\nV:\nbarrier.sync 2, 64;\nC:\n" + exchange +
           "ret;";
  };
  const Shape two = warps(2);
  const Outcome outcome = run(pass_on("barrier.arrive 2, 64;\n", "barrier.arrive 2, 64;\n"), two);
  expect_clean(outcome);
  for (std::uint32_t i = 32; i < 64; ++i) CHECK(outcome.words[i] == (i ^ 33));
  expect_clean(run(pass_on("barrier.arrive 2, 64;\n", "barrier.sync 2, 64;\n"), two));
  // A lane that never reaches the barrier prevents its warp from arriving.
  const Outcome stuck =
      run(pass_on("barrier.arrive 2, 64;\n", "Z: bra Z;\n"),
          {.grid = 1, .cluster = 1, .block = 64, .options = {.instruction_limit = 100'000}});
  expect_first(stuck, "instruction-limit");
}

TEST_CASE("a reduction at a barrier without .aligned includes lanes at different instructions") {
  const auto popc = [](const std::string& predicate) {
    return "barrier.red.popc.u32 %r13, 1, 64, " + predicate + ";\n";
  };
  const std::string body = begin + "setp.lt.u32 %p4, %r1, 40;\n@%p2 bra B;\n" + popc("%p4") + "bra C;\nB:\n" +
                           popc("!%p4") + "C:\nst.global.u32 [%rd3], %r13;\nret;";
  const Outcome outcome = run(body, warps(2));
  expect_clean(outcome);
  // The predicate is true for even threads below 40, and for odd threads from 40 on.
  for (std::uint32_t i = 0; i < 64; ++i) CHECK(outcome.words[i] == 20 + 12);
}

TEST_CASE("barriers do not wait for lanes that have exited") {
  const std::string body = begin +
                           "@%p2 bra B;\nA:\nst.shared.u32 [%r11], %r1;\nbarrier.sync 1, 64;\n"
                           "ld.shared.u32 %r13, [%r11];\nst.global.u32 [%rd3], %r13;\nret;\nB:\nret;";
  const Outcome outcome = run(body, warps(2));
  expect_clean(outcome);
  CHECK(outcome.words[62] == 62);
  // The last thread that the barrier waits for exits after the other threads have arrived.
  expect_clean(
      run(begin + "setp.eq.u32 %p4, %r1, 0;\n@%p4 bra B;\nbarrier.sync 1, 64;\nret;\nB:\nret;", warps(2)));
}

TEST_CASE("a warp can arrive at a barrier repeatedly, in a loop") {
  // A loop of three iterations, in each of which all threads write, synchronise at a barrier, read another
  // thread's word, and synchronise again.
  const std::string loop = begin +
                           "mov.u32 %r14, 0;\nmov.u32 %r15, 0;\nL:\nadd.u32 %r16, %r1, %r14;\n"
                           "st.shared.u32 [%r11], %r16;\n@%p2 bra B;\nbarrier.sync 1, 64;\nbra C;\nB:\n"
                           "barrier.sync 1, 64;\nC:\nld.shared.u32 %r13, [%r12];\nadd.u32 %r15, %r15, %r13;\n"
                           "@%p2 bra D;\nbarrier.sync 2, 64;\nbra E;\nD:\nbarrier.sync 2, 64;\nE:\n"
                           "add.u32 %r14, %r14, 1;\nsetp.lt.u32 %p5, %r14, 3;\n@%p5 bra L;\n"
                           "st.global.u32 [%rd3], %r15;\nret;";
  const Outcome outcome = run(loop, warps(2));
  expect_clean(outcome);
  for (std::uint32_t i = 0; i < 64; ++i) CHECK(outcome.words[i] == 3 * (i ^ 33) + 3);
}

TEST_CASE("lanes of a warp that wait at different barriers are a deadlock") {
  const Shape two{.grid = 1, .cluster = 1, .block = 64};
  const Outcome outcome = run(in_two_branches("barrier.sync 1, 64;\n", "barrier.sync 2, 64;\n", ""), two);
  expect_only(outcome, "warp.diverged");
  CHECK_THAT(outcome.reports[0].found, ContainsSubstring("wait here for lanes 0x55555555") &&
                                           ContainsSubstring("\"barrier.sync 1, 64;\""));
  expect_first(run(in_two_branches("barrier.sync 1, 64;\n", "barrier.sync 1, 32;\n", ""), two),
               "barrier.count");
  // With .aligned all lanes must execute the same instruction; bar is an abbreviation for barrier with
  // .aligned.
  const std::string aligned = GENERATE("barrier.sync.aligned 1, 64;\n", "bar.sync 1, 64;\n");
  expect_only(run(in_two_branches(aligned, aligned, ""), two), "warp.diverged");
  expect_first(run(in_two_branches("barrier.sync 16, 64;\n", "barrier.sync 16, 64;\n", ""), two),
               "barrier.operand");
}

TEST_CASE("the cluster's barrier without .aligned accepts a warp's lanes at different instructions") {
  const std::string arrive = GENERATE("barrier.cluster.arrive;\n", "barrier.cluster.arrive.release;\n");
  const std::string wait = GENERATE("barrier.cluster.wait;\n", "barrier.cluster.wait.acquire;\n");
  const std::string publish =
      begin + next + "st.shared.u32 [%r11], %r1;\nmapa.shared::cluster.u32 %r12, %r12, %r6;\n";
  const std::string read = "ld.shared::cluster.u32 %r13, [%r12];\nst.global.u32 [%rd3], %r13;\n";
  const auto meet_diverged = [&](const std::string& label, const std::string& what) {
    return "@%p2 bra B" + label + ";\n" + what + "bra C" + label + ";\nB" + label + ":\n" + what + "C" +
           label + ":\n";
  };
  Shape shape = warps(2);
  shape.grid = shape.cluster = 2;
  const Outcome outcome = run(publish + meet_diverged("1", arrive) + meet_diverged("2", wait) + read +
                                  meet_diverged("3", arrive + wait) + "ret;",
                              shape);
  expect_clean(outcome);
  for (std::uint32_t i = 0; i < 128; ++i) CHECK(outcome.words[i] == (i % 64 ^ 33));
  const Shape plain{.grid = 2, .cluster = 2, .block = 64};
  expect_first(run(publish + meet_diverged("1", arrive + arrive) + "ret;", plain),
               "cluster-barrier.arrived-twice");
  expect_first(run(publish + meet_diverged("1", wait) + "ret;", plain), "cluster-barrier.not-arrived");
  expect_only(run(publish + meet_diverged("1", "barrier.cluster.arrive.aligned;\n") + "ret;", plain),
              "warp.diverged");
}

}  // namespace assembly_test
