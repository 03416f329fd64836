/// Launches that continue after a report: SimOptions::keep_going, and allowed rules.
#include "sim/text_kernel.hpp"

#include <catch2/generators/catch_generators_all.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <spdlog/fmt/fmt.h>

namespace keep_going_test {

using namespace tmajit;
using namespace tests::text;
using Catch::Matchers::ContainsSubstring;

namespace {

const Shape one_warp{.grid = 1, .cluster = 1, .block = 32};

/// Runs a launch that continues after any report.
Outcome keep_going(const std::string& body, Shape shape = one_warp) {
  shape.options.keep_going = true;
  return run(body, shape);
}
/// Runs a launch that allows `rule`.
Outcome allowing(const std::string& rule, const std::string& body, Shape shape = one_warp) {
  shape.options.allowed = {rule};
  return run(body, shape);
}

/// Code at a kernel's end: each thread adds 1000 to its word.
const std::string add_1000 =
    "ld.global.u32 %r21, [%rd3];\nadd.u32 %r21, %r21, 1000;\nst.global.u32 [%rd3], %r21;\n";

void expect_1000_added(const Outcome& outcome) {
  INFO(reports_text(outcome));
  for (std::uint32_t i = 0; i < 32; ++i) CHECK(outcome.words[i] == 1000 + i);
}

}  // namespace

TEST_CASE("with keep_going a launch continues after an illegal access") {
  // Thread 0 breaks the rule.
  struct Mistake {
    const char* rule;
    const char* text;
  };
  const Mistake mistake =
      GENERATE(Mistake{"address.misaligned", "@%p1 st.global.u32 [%rd1+4001], %r1;\n"},
               Mistake{"global.out-of-bounds", "@%p1 st.global.u32 [%rd1+4096], %r1;\n"},
               Mistake{"global.out-of-bounds", "@%p1 atom.global.add.u32 %r22, [%rd1+4096], %r1;\n"},
               Mistake{"shared.out-of-bounds", "@%p1 st.shared.u32 [%r5+4096], %r1;\n"},
               Mistake{"bank.out-of-bounds", "mov.u64 %rd9, 4096;\n@%p1 ld.param.u32 %r22, [%rd9];\n"},
               Mistake{"barrier.operand", "bar.sync 16;\n"},
               Mistake{"mbarrier.uninitialised", "@%p1 mbarrier.arrive.shared.b64 _, [%r5];\n"},
               Mistake{"mbarrier.count", "@%p1 mbarrier.init.shared.b64 [%r5], 0;\n"},
               Mistake{"copy.global-alignment",
                       "add.u64 %rd9, %rd1, 4;\n"
                       "@%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd9], [%r5], 16;\n"},
               Mistake{"setmaxnreg.value", "setmaxnreg.dec.sync.aligned.u32 12;\n"},
               Mistake{"cluster-barrier.not-arrived", "barrier.cluster.wait.aligned;\n"});
  const std::string body = registers + element + mistake.text + add_1000 + "ret;";
  CAPTURE(mistake.text);
  const Outcome stops = run(body, one_warp);
  expect_only(stops, mistake.rule);
  CHECK(stops.words[5] == 5);
  const Outcome goes_on = keep_going(body);
  expect_only(goes_on, mistake.rule);
  expect_1000_added(goes_on);
  const Outcome allowed = allowing(mistake.rule, body);
  expect_clean(allowed);
  expect_1000_added(allowed);
}

TEST_CASE("if some lanes of an instruction break a rule, the other lanes complete it") {
  // Lane i loads word 64 i, which is past the buffer's end for the upper half of the lanes.
  const std::string body = registers + element +
                           "mul.wide.u32 %rd9, %r1, 256;\nadd.u64 %rd9, %rd9, %rd1;\n"
                           "ld.global.u32 %r22, [%rd9];\nst.global.u32 [%rd3], %r22;\nret;";
  const Outcome outcome = keep_going(body);
  expect_only(outcome, "global.out-of-bounds");
  for (std::uint32_t i = 0; i < 32; ++i) CHECK(outcome.words[i] == (i < 16 ? 64 * i : 0));
}

TEST_CASE("a launch with keep_going ends after a limited number of reports") {
  // Each lane of every CTA makes ten million stores past the buffer's end.
  std::string body = registers + element + "mov.u32 %r21, 0;\nL:\n";
  for (int i = 0; i < 10; ++i) body += fmt::format("st.global.u32 [%rd3+{}], %r1;\n", 8192 + 4 * i);
  body += "add.u32 %r21, %r21, 1;\nsetp.lt.u32 %p2, %r21, 1000000;\n@%p2 bra L;\n" + add_1000 + "ret;";
  const Outcome outcome = keep_going(body, {.grid = 4, .cluster = 1, .block = 64, .options = {.threads = 2}});
  REQUIRE(outcome.reports.size() == 11);
  CHECK(outcome.reports.back().rule == "report-limit");
  CHECK_THAT(outcome.reports.back().found, ContainsSubstring("this is report 10000 of the launch"));
  std::uint64_t count = 0;
  for (const Report& report : outcome.reports)
    count += report.rule == "global.out-of-bounds" ? report.count : 0;
  CHECK(count >= 10'000);
  CHECK(count < 10'010);
  // Reports of rules that are allowed do not count.
  const std::string turns = "1000;\n@%p2 bra L;";
  std::string few = body;
  few.replace(few.find("1000000;\n@%p2 bra L;"), 20, turns);
  Shape allowing_all = one_warp;
  allowing_all.options.keep_going = true;
  allowing_all.options.allowed = {"global.out-of-bounds"};
  const Outcome allowed = run(few, allowing_all);
  expect_clean(allowed);
  expect_1000_added(allowed);
}

TEST_CASE("with keep_going a launch continues after bytes that an mbarrier does not expect") {
  const std::string body =
      registers + element +
      "@!%p1 bra N;\nmbarrier.init.shared.b64 [smem], 1;\nfence.mbarrier_init.release.cluster;\n"
      "mbarrier.arrive.expect_tx.shared.b64 _, [smem], 128;\n"
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r5+1024], [%rd1+2048], 128, "
      "[%r5];\n"
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r5+2048], [%rd1+2048], 128, "
      "[%r5];\n"
      "W:\nmbarrier.try_wait.parity.shared::cta.b64 %p2, [smem], 0;\n@!%p2 bra W;\nN:\n" +
      add_1000 + "ret;";
  expect_first(run(body, one_warp), "mbarrier.expected-bytes");
  const Outcome outcome = keep_going(body);
  expect_first(outcome, "mbarrier.expected-bytes");
  expect_1000_added(outcome);
}

TEST_CASE("mistakes after which a launch cannot continue end it, and the report says so if allowed") {
  struct End {
    const char* rule;
    const char* text;
  };
  const End end =
      GENERATE(End{"deadlock", "@%p1 bar.sync 1, 64;\n"}, End{"trap", "trap;\n"},
               End{"instruction-limit", "L:\nbra L;\n"},
               End{"mbarrier.expected-bytes",
                   "@!%p1 bra N;\nmbarrier.init.shared.b64 [smem], 1;\n"
                   "mbarrier.arrive.expect_tx.shared.b64 _, [smem], 64;\nW:\n"
                   "mbarrier.try_wait.parity.shared::cta.b64 %p2, [smem], 0;\n@!%p2 bra W;\nN:\n"});
  const std::string body = registers + element + end.text + add_1000 + "ret;";
  Shape shape = one_warp;
  shape.options.instruction_limit = 10'000;
  CAPTURE(end.rule);
  expect_only(keep_going(body, shape), end.rule);
  CHECK_THAT(run(body, shape).reports[0].found, !ContainsSubstring("allowed"));
  const Outcome allowed = allowing(end.rule, body, shape);
  expect_only(allowed, end.rule);
  CHECK_THAT(allowed.reports[0].found,
             ContainsSubstring("the rule is allowed, but the launch cannot go on after this"));
}

}  // namespace keep_going_test
