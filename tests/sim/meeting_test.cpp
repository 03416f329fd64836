/// Reports of copies and accesses that overlap in memory name the lines and the address ranges of both.
#include "sim/text_kernel.hpp"

#include <catch2/matchers/catch_matchers_string.hpp>

namespace meeting_test {

using namespace tmajit;
using namespace tests::text;
using Catch::Matchers::ContainsSubstring;

namespace {

constexpr const char* load = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes ";
constexpr const char* store = "cp.async.bulk.global.shared::cta.bulk_group ";
const std::string wait = "W:\nmbarrier.try_wait.parity.shared.b64 %p2, [smem], 0;\n@!%p2 bra W;\n";

/// Runs one thread, with an mbarrier that expects `bytes`.
Outcome one_thread(const std::string& body, std::uint32_t bytes) {
  return run(registers +
                 "mbarrier.init.shared.b64 [smem], 1;\nfence.mbarrier_init.release.cluster;\n"
                 "mbarrier.arrive.expect_tx.shared.b64 _, [smem], " +
                 std::to_string(bytes) + ";\n" + body + "ret;",
             {.grid = 1, .cluster = 1, .block = 1});
}

/// The number of PTX lines before `body`.
constexpr std::uint32_t first_line = 19;
std::string line(std::uint32_t of_body) {
  return "PTX line " + std::to_string(first_line + of_body);
}

}  // namespace

TEST_CASE("the report of two loads to overlapping memory names both lines and ranges") {
  const auto loads = [](const std::string& second) {
    return one_thread(load + std::string("[%r5+256], [%rd1], 256, [%r5];\n") + load + second +
                          ", [%rd1], 128, [%r5];\n" + wait,
                      384);
  };
  expect_clean(loads("[%r5+512]"));
  expect_clean(loads("[%r5+128]"));
  const Outcome outcome = loads("[%r5+480]");
  expect_first(outcome, "load.overlap");
  CHECK(outcome.reports[0].ptx_line == first_line + 2);
  CHECK_THAT(outcome.reports[0].found,
             ContainsSubstring("into 0x5e0 to 0x65f begins") &&
                 ContainsSubstring("the one at " + line(1) + " into 0x500 to 0x5ff"));
}

TEST_CASE("the report of a load into the unread source of a store names both lines and ranges") {
  const auto stored = [](const std::string& between) {
    return one_thread("st.shared.v4.u32 [smem+256], {%r1, %r1, %r1, %r1};\nfence.proxy.async.shared::cta;\n" +
                          std::string(store) + "[%rd1], [%r5+256], 16;\ncp.async.bulk.commit_group;\n" +
                          between + load +
                          "[%r5+256], [%rd1+512], 128, [%r5];\ncp.async.bulk.wait_group 0;\n" + wait,
                      128);
  };
  expect_clean(stored("cp.async.bulk.wait_group.read 0;\n"));
  const Outcome outcome = stored("");
  expect_first(outcome, "load.before-store-read");
  CHECK_THAT(outcome.reports[0].found,
             ContainsSubstring("into 0x500 to 0x57f begins") &&
                 ContainsSubstring("the one at " + line(3) + " from 0x500 to 0x50f"));
}

TEST_CASE("reports of threads' accesses during a copy name both lines and ranges") {
  const std::string loaded = load + std::string("[%r5+256], [%rd1], 256, [%r5];\n");
  const auto found = [&](const std::string& access, const std::string& rule) {
    expect_clean(one_thread(loaded + wait + access, 256));
    const Outcome outcome = one_thread(loaded + access + wait, 256);
    expect_first(outcome, rule);
    return outcome.reports[0].found;
  };
  CHECK_THAT(found("ld.shared.u32 %r6, [smem+300];\n", "shared.in-flight-read"),
             ContainsSubstring("at 0x52c that") &&
                 ContainsSubstring("the one at " + line(1) + " into 0x500 to 0x5ff"));
  CHECK_THAT(found("st.shared.u32 [smem+300], %r1;\n", "shared.in-flight-write"),
             ContainsSubstring("the one at " + line(1) + " into 0x500 to 0x5ff"));
  CHECK_THAT(found(std::string(store) + "[%rd1+1024], [%r5+256], 64;\ncp.async.bulk.commit_group;\n"
                                        "cp.async.bulk.wait_group 0;\n",
                   "store.in-flight-read"),
             ContainsSubstring("from 0x500 to 0x53f") &&
                 ContainsSubstring("the one at " + line(1) + " into 0x500 to 0x5ff"));
  CHECK_THAT(found("cp.async.ca.shared.global [%r5+272], [%rd1], 16;\ncp.async.wait_all;\n", "load.overlap"),
             ContainsSubstring("a cp.async into 0x510 to 0x51f") &&
                 ContainsSubstring("the one at " + line(1) + " into 0x500 to 0x5ff"));
}

TEST_CASE("the report of an access before a cp.async is complete names both lines and ranges") {
  const auto read = [](const std::string& between) {
    return run(registers + "cp.async.ca.shared.global [%r5+272], [%rd1], 16;\n" + between +
                   "ld.shared.u32 %r6, [smem+280];\ncp.async.wait_all;\nret;",
               {.grid = 1, .cluster = 1, .block = 1});
  };
  expect_clean(read("cp.async.wait_all;\n"));
  const Outcome outcome = read("");
  expect_first(outcome, "shared.in-flight-read");
  CHECK_THAT(outcome.reports[0].found, ContainsSubstring("the cp.async at PTX line 17 into 0x510 to 0x51f"));
}

}  // namespace meeting_test
