/// If a phase of an mbarrier receives fewer or more bytes than it expects, there is one report, which names
/// the bytes.
#include "sim/text_kernel.hpp"

#include <catch2/matchers/catch_matchers_string.hpp>

namespace expected_bytes_test {

using namespace tmajit;
using namespace tests::text;
using Catch::Matchers::ContainsSubstring;

namespace {

const std::string load = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes ";

/// In each of `turns` turns thread 0 loads two tiles of 256 bytes into one of two stages, and warp 1 reads
/// and releases the stage. `expect` is the code before the loads, `second` the bytes of the second load, and
/// `after` the code after the loads.
std::string pipeline(const std::string& expect, const std::string& second = "256",
                     const std::string& after = "", const std::string& turns = "5") {
  return registers +
         "mov.u32 %r10, 0;\n"
         "@!%p1 bra M;\n"
         "mbarrier.init.shared.b64 [smem], 1;\nmbarrier.init.shared.b64 [smem+8], 1;\n"
         "mbarrier.init.shared.b64 [smem+16], 32;\nmbarrier.init.shared.b64 [smem+24], 32;\n"
         "fence.mbarrier_init.release.cluster;\n"
         "M:\nbar.sync 0;\n"
         "setp.ge.u32 %p2, %r1, 32;\n@%p2 bra C;\n@!%p1 bra E;\n"
         // The producer: stage and parity of the turn.
         "P:\nand.b32 %r11, %r10, 1;\nshr.u32 %r12, %r10, 1;\nand.b32 %r12, %r12, 1;\n"
         "shl.b32 %r13, %r11, 3;\nadd.u32 %r13, %r13, %r5;\nshl.b32 %r14, %r11, 9;\nadd.u32 %r14, %r14, "
         "%r5;\n"
         "xor.b32 %r15, %r12, 1;\n"
         "F:\nmbarrier.try_wait.parity.shared.b64 %p3, [%r13+16], %r15;\n@!%p3 bra F;\n" +
         expect + load + "[%r14+1024], [%rd1], 256, [%r13];\n" + load + "[%r14+1280], [%rd1+256], " + second +
         ", [%r13];\n" + after + "add.u32 %r10, %r10, 1;\nsetp.lt.u32 %p4, %r10, " + turns +
         ";\n@%p4 bra P;\nbra E;\n"
         // The consumers.
         "C:\nand.b32 %r11, %r10, 1;\nshr.u32 %r12, %r10, 1;\nand.b32 %r12, %r12, 1;\n"
         "shl.b32 %r13, %r11, 3;\nadd.u32 %r13, %r13, %r5;\nshl.b32 %r14, %r11, 9;\nadd.u32 %r14, %r14, "
         "%r5;\n"
         "W:\nmbarrier.try_wait.parity.shared.b64 %p3, [%r13], %r12;\n@!%p3 bra W;\n"
         "shl.b32 %r16, %r1, 2;\nadd.u32 %r16, %r16, %r14;\n"
         "ld.shared.u32 %r17, [%r16+896];\nld.shared.u32 %r18, [%r16+1152];\n"
         "mbarrier.arrive.shared.b64 _, [%r13+16];\n"
         "add.u32 %r10, %r10, 1;\nsetp.lt.u32 %p4, %r10, " +
         turns + ";\n@%p4 bra C;\nE:\nret;";
}

std::string expects(const std::string& bytes) {
  return "mbarrier.arrive.expect_tx.shared.b64 _, [%r13], " + bytes + ";\n";
}

/// Returns the outcomes in every mode with several seeds.
std::vector<Outcome> all_orders(const std::string& body) {
  std::vector<Outcome> outcomes;
  for (const auto mode : {SimOptions::Mode::late, SimOptions::Mode::early, SimOptions::Mode::random}) {
    for (const std::uint64_t seed : {1UL, 2UL, 3UL, 4UL, 5UL})
      outcomes.push_back(
          run(body, {.grid = 2, .cluster = 1, .block = 64, .options = {.mode = mode, .seed = seed}}));
  }
  return outcomes;
}

/// The number of the line with `text` in the module around `body`.
std::uint32_t line_of(const std::string& body, const std::string& text) {
  const std::string ptx = tests::module_of(body, 1, ".extern .shared .align 1024 .b8 smem[];\n").ptx;
  return static_cast<std::uint32_t>(
      1 + std::count(ptx.begin(), ptx.begin() + static_cast<long>(ptx.find(text)), '\n'));
}

}  // namespace

TEST_CASE("there is no report if a phase expects exactly its loads' bytes, in any order of execution") {
  for (const std::string& body :
       {pipeline(expects("512")), pipeline("", "256", expects("512")),
        pipeline("mbarrier.expect_tx.relaxed.cta.shared.b64 [%r13], 256;\n", "256", expects("256")),
        pipeline(expects("496"), "240")}) {
    for (const Outcome& outcome : all_orders(body)) expect_clean(outcome);
  }
}

TEST_CASE("if the bytes of one load are not expected, one report names them") {
  const std::string body = pipeline(expects("256"));
  const std::uint32_t line = line_of(body, "mbarrier.arrive.expect_tx");
  const std::uint32_t second = line_of(body, "[%r14+1280], [%rd1+256]");
  for (const Outcome& outcome : all_orders(body)) {
    expect_only(outcome, "mbarrier.expected-bytes");
    const Report& report = outcome.reports[0];
    CHECK(report.ptx_line == line);
    CHECK_THAT(report.found,
               ContainsSubstring("phase 0 of the mbarrier at shared address 0x40") &&
                   ContainsSubstring("256 bytes are expected (PTX line " + std::to_string(line)) &&
                   ContainsSubstring("256 came (PTX line "));
    CHECK_THAT(report.found, ContainsSubstring("PTX line " + std::to_string(second)) ||
                                 ContainsSubstring("PTX line " + std::to_string(second - 1)));
    CHECK_THAT(report.expected, ContainsSubstring("512 bytes"));
  }
}

TEST_CASE("expected bytes that differ from the loads' by less or more than one load are reported") {
  for (const auto& [body, words] : {std::pair(pipeline(expects("496")), "which leaves 16 bytes in excess"),
                                    std::pair(pipeline(expects("528")), "which leaves 16 bytes missing"),
                                    std::pair(pipeline(expects("768")), "768 bytes are expected (PTX line"),
                                    std::pair(pipeline(expects("480"), "240"), "496 came (PTX lines"),
                                    std::pair(pipeline(expects("512"), "240"), "496 came (PTX lines")}) {
    for (const Outcome& outcome : all_orders(body)) {
      expect_only(outcome, "mbarrier.expected-bytes");
      CHECK_THAT(outcome.reports[0].found, ContainsSubstring(words) && ContainsSubstring("is never over"));
    }
  }
}

TEST_CASE("loads on a phase that expects no bytes, and so ends before them, are reported") {
  // No arrival expects bytes, so the report can only name the load.
  const std::string body =
      registers +
      "@!%p1 bra M;\nmbarrier.init.shared.b64 [smem], 1;\nfence.mbarrier_init.release.cluster;\n" + load +
      "[smem+1024], [%rd1], 256, [smem];\nmbarrier.arrive.shared.b64 _, [smem];\n" +
      "M:\nbar.sync 0;\nW:\nmbarrier.try_wait.parity.shared.b64 %p2, [smem], 0;\n@!%p2 bra W;\nret;";
  const Outcome outcome = run(body, {.grid = 1, .cluster = 1, .block = 32});
  expect_only(outcome, "mbarrier.expected-bytes");
  CHECK(outcome.reports[0].ptx_line == line_of(body, load));
}

TEST_CASE("expected bytes are not reported as missing if the thread that would load them is blocked") {
  // Thread 0 has announced bytes. Before it loads them it waits at a barrier that no other thread reaches.
  const Outcome outcome =
      run(registers +
              "@%p1 mbarrier.init.shared.b64 [smem], 1;\nbar.sync 0;\n@!%p1 bra W;\n"
              "mbarrier.arrive.expect_tx.shared.b64 _, [smem], 256;\nbar.sync 1, 64;\n"
              "W:\nmbarrier.try_wait.parity.shared.b64 %p2, [smem], 0;\n@!%p2 bra W;\nret;",
          {.grid = 1, .cluster = 1, .block = 64});
  expect_only(outcome, "deadlock");
  CHECK_THAT(outcome.reports[0].found, ContainsSubstring("256 bytes missing"));
}

}  // namespace expected_bytes_test
