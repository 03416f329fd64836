/// Tests the device's reports of incorrect kernels, and its errors for unsupported PTX.
#include "sim/support.hpp"

#include <array>

#include <catch2/matchers/catch_matchers_string.hpp>
#include <spdlog/fmt/fmt.h>

namespace reports_test {

using namespace tmajit;
using Catch::Matchers::ContainsSubstring;

namespace {

struct Outcome {
  std::vector<Report> reports;
  std::string error;  ///< error of synchronize()
};

/// Runs a kernel that takes the address of 4096 bytes.
Outcome run(const std::string& body, std::uint32_t threads = 32, const std::string& before = "",
            SimOptions options = {}, std::uint32_t shared_bytes = 1024) {
  options.threads = 1;
  const auto sim = make_sim_device(options);
  const auto kernel = sim->kernels().load(tests::module_of(body, 1, before));
  const Buffer buffer(sim, 4096);
  std::uint64_t address = buffer.address();
  void* const parameters[] = {&address};
  kernel->launch({.grid = {1, 1, 1}, .block = {threads, 1, 1}, .shared_bytes = shared_bytes}, parameters,
                 nullptr);
  Outcome outcome{sim->reports(), {}};
  try {
    sim->streams().synchronize(nullptr);
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::device_failed);
    outcome.error = error.what();
  }
  // synchronize() throws the error only once.
  CHECK_NOTHROW(sim->streams().synchronize(nullptr));
  return outcome;
}

const std::string registers =
    ".reg .pred %p<5>;\n.reg .b32 %r<10>;\n.reg .b64 %rd<10>;\nld.param.u64 %rd1, [p0];\nmov.u32 %r1, "
    "%tid.x;\n";
const std::string shared = ".extern .shared .align 16 .b8 smem[];\n";

void expect_rule(const Outcome& outcome, const std::string& rule, std::uint32_t line) {
  INFO(outcome.error);
  REQUIRE(outcome.reports.size() == 1);
  CHECK(outcome.reports[0].rule == rule);
  CHECK(outcome.reports[0].ptx_line == line);
  CHECK(outcome.reports[0].kernel == "k");
  CHECK_THAT(outcome.error, ContainsSubstring(rule) && ContainsSubstring("PTX line " + std::to_string(line)));
}

}  // namespace

TEST_CASE("illegal addresses of plain accesses are reported") {
  SECTION("global, past the end") {
    const Outcome outcome = run(registers +
                                "mul.wide.u32 %rd2, %r1, 4;\nadd.u64 %rd1, %rd1, %rd2;\n"
                                "ld.global.u32 %r2, [%rd1+4000];\nret;");
    expect_rule(outcome, "global.out-of-bounds", 13);
    // Lanes 0 to 23 are inside.
    CHECK(outcome.reports[0].thread == std::array<std::uint32_t, 3>{24, 0, 0});
    CHECK_THAT(outcome.reports[0].found, ContainsSubstring("4096 bytes"));
  }
  SECTION("global, at an address without memory") {
    expect_rule(run(registers + "mov.u64 %rd2, 64;\nst.global.u32 [%rd2], %r1;\nret;"),
                "global.out-of-bounds", 12);
  }
  SECTION("misaligned") {
    expect_rule(run(registers + "ld.global.u32 %r2, [%rd1+2];\nret;"), "address.misaligned", 11);
  }
  SECTION("shared, past the end") {
    expect_rule(run(registers + "mov.u32 %r2, smem;\nst.shared.u32 [%r2+1024], %r1;\nret;", 32, shared),
                "shared.out-of-bounds", 13);
  }
  SECTION("shared, past an end between two multiples of 16") {
    const std::string past = registers + "mov.u32 %r2, odd;\nst.shared.u32 [%r2+252], %r1;\nret;";
    const std::string inside = registers + "mov.u32 %r2, odd;\nst.shared.u32 [%r2+248], %r1;\nret;";
    const std::string odd = ".shared .align 4 .b8 odd[252];\n";
    expect_rule(run(past, 1, odd, {}, 0), "shared.out-of-bounds", 13);
    CHECK(run(inside, 1, odd, {}, 0).reports.empty());
    const std::string dynamic = ".extern .shared .align 4 .b8 odd[];\n";
    expect_rule(run(past, 1, dynamic, {}, 252), "shared.out-of-bounds", 13);
    CHECK(run(past, 1, dynamic, {}, 256).reports.empty());
  }
  SECTION("a parameter cannot be written") {
    expect_rule(run(registers + "mov.u64 %rd2, p0;\ncvta.param.u64 %rd2, %rd2;\nst.u32 [%rd2], %r1;\nret;"),
                "address.read-only", 13);
  }
}

TEST_CASE("accesses of shared memory in the wrong state are reported") {
  SECTION("read before any thread has written") {
    const Outcome outcome =
        run(registers + "ld.shared.u32 %r2, [smem];\nst.global.u32 [%rd1], %r2;\nret;", 32, shared);
    expect_rule(outcome, "shared.uninitialised", 12);
    CHECK(outcome.reports[0].count == 32);
  }
  SECTION("a plain load of an mbarrier") {
    expect_rule(
        run(registers + "mbarrier.init.shared.b64 [smem], 1;\nld.shared.u32 %r2, [smem];\nret;", 1, shared),
        "mbarrier.plain-access", 13);
  }
  SECTION("a plain store onto an mbarrier") {
    expect_rule(
        run(registers + "mbarrier.init.shared.b64 [smem], 1;\nst.shared.u32 [smem+4], %r1;\nret;", 1, shared),
        "mbarrier.plain-access", 13);
  }
  SECTION("an mbarrier used again after inval is memory") {
    CHECK(run(registers + "mbarrier.init.shared.b64 [smem], 1;\nmbarrier.inval.shared.b64 [smem];\n"
                          "st.shared.u32 [smem+4], %r1;\nret;",
              1, shared)
              .reports.empty());
  }
  SECTION("one arrival too many") {
    expect_rule(run(registers + "mbarrier.init.shared.b64 [smem], 2;\nbar.sync 0;\n"
                                "mbarrier.arrive.shared.b64 %rd2, [smem], 3;\nret;",
                    1, shared),
                "mbarrier.arrivals", 14);
  }
}

TEST_CASE("bulk copies with illegal operands, and without a wait, are reported") {
  const std::string init = "mbarrier.init.shared.b64 [smem], 1; fence.mbarrier_init.release.cluster;\n";
  const auto load = [](const std::string& destination, const std::string& source, const std::string& bytes) {
    return "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [" + destination + "], [" +
           source + "], " + bytes + ", [smem];\nret;";
  };
  expect_rule(run(registers + init + load("smem+24", "%rd1", "16"), 1, shared), "copy.shared-alignment", 13);
  expect_rule(run(registers + init + load("smem+32", "%rd1+8", "16"), 1, shared), "copy.global-alignment",
              13);
  expect_rule(run(registers + init + load("smem+32", "%rd1", "24"), 1, shared), "copy.global-alignment", 13);
  expect_rule(run(registers + init + load("smem+32", "%rd1", "2048"), 1, shared), "shared.out-of-bounds", 13);
  expect_rule(run(registers + init + load("smem", "%rd1", "16"), 1, shared), "load.onto-mbarrier", 13);
  expect_rule(run(registers + load("smem+32", "%rd1", "16"), 1, shared), "mbarrier.uninitialised", 12);
  // No thread waits for the load.
  expect_rule(run(registers + init + load("smem+32", "%rd1", "16"), 1, shared), "exit.load-in-flight", 13);
}

TEST_CASE("a deadlock names the waiting threads and their barriers") {
  SECTION("on an mbarrier") {
    const Outcome outcome =
        run(registers +
                "mbarrier.init.shared.b64 [smem], 3;\n"
                "mbarrier.arrive.expect_tx.shared.b64 %rd2, [smem], 4096;\n"
                "L:\nmbarrier.try_wait.parity.shared.b64 %p1, [smem], 0;\n@!%p1 bra L;\nret;",
            1, shared);
    expect_rule(outcome, "deadlock", 15);
    CHECK_THAT(outcome.error,
               ContainsSubstring("thread 0 at PTX line 15") && ContainsSubstring("shared address 0x400") &&
                   ContainsSubstring("parity 0") && ContainsSubstring("phase 0") &&
                   ContainsSubstring("2 of 3 arrivals pending") && ContainsSubstring("4096 bytes missing"));
  }
  SECTION("at a CTA barrier that counts too many threads") {
    const Outcome outcome = run(registers + "bar.sync 3, 128;\nret;", 64);
    expect_rule(outcome, "deadlock", 11);
    CHECK_THAT(outcome.error, ContainsSubstring("barrier 3: 64 of 128 threads"));
  }
  SECTION("in a warp whose other lanes wait at another instruction") {
    const Outcome outcome =
        run(registers + "setp.lt.u32 %p1, %r1, 16;\n@%p1 bra A;\nbar.sync 1;\nret;\nA:\nbar.sync 2;\nret;");
    REQUIRE(outcome.reports.size() == 1);
    CHECK(outcome.reports[0].rule == "warp.diverged");
    CHECK_THAT(outcome.error, ContainsSubstring("PTX line 13") && ContainsSubstring("PTX line 16"));
  }
}

TEST_CASE("lanes of a warp that spin until another lane writes do not prevent it from running") {
  // Lane 0 writes only after the other lanes have begun to spin.
  const Outcome outcome =
      run(registers +
          "st.global.u32 [%rd1], 0;\nbar.warp.sync 0xffffffff;\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra W;\n"
          "S:\nld.volatile.global.u32 %r2, [%rd1];\nsetp.eq.u32 %p2, %r2, 0;\n@%p2 bra S;\nbra E;\n"
          "W:\nst.volatile.global.u32 [%rd1], 1;\nE:\nret;");
  CHECK(outcome.error.empty());
}

TEST_CASE("the copy engine makes progress while a thread spins on test_wait") {
  for (const auto mode : {SimOptions::Mode::late, SimOptions::Mode::early, SimOptions::Mode::random}) {
    const Outcome outcome =
        run(registers +
                "mbarrier.init.shared.b64 [smem], 1;\nfence.mbarrier_init.release.cluster;\n"
                "mbarrier.arrive.expect_tx.shared.b64 %rd2, [smem], 64;\n"
                "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                "[smem+64], [%rd1], 64, [smem];\n"
                "L:\nmbarrier.test_wait.shared.b64 %p1, [smem], %rd2;\n@!%p1 bra L;\n"
                "ld.shared.u32 %r2, [smem+64];\nst.global.u32 [%rd1+128], %r2;\nret;",
            1, shared, {.mode = mode});
    CHECK(outcome.error.empty());
  }
}

TEST_CASE("a try_wait without a loop can end too early, which is reported") {
  const auto outcome = [](const std::string& wait, SimOptions::Mode mode) {
    return run(registers +
                   "mbarrier.init.shared.b64 [smem], 1;\nfence.mbarrier_init.release.cluster;\n"
                   "mbarrier.arrive.expect_tx.shared.b64 %rd2, [smem], 64;\n"
                   "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                   "[smem+64], [%rd1], 64, [smem];\n" +
                   wait + "ld.shared.u32 %r2, [smem+64];\nst.global.u32 [%rd1+128], %r2;\nret;",
               1, shared, {.mode = mode});
  };
  const std::string wait = "mbarrier.try_wait.shared.b64 %p1, [smem], %rd2;\n";
  for (const auto mode : {SimOptions::Mode::late, SimOptions::Mode::early, SimOptions::Mode::random})
    CHECK(outcome("L:\n" + wait + "@!%p1 bra L;\n", mode).error.empty());
  CHECK_FALSE(outcome(wait, SimOptions::Mode::late).reports.empty());
}

TEST_CASE("a lane that executes a warp instruction whose mask does not contain it is reported") {
  for (const std::string instruction :
       {"bar.warp.sync 0xfffffff7;", "elect.sync %r2|%p1, 0xfffffff7;",
        "shfl.sync.idx.b32 %r2, %r1, 0, 31, 0xfffffff7;", "vote.sync.ballot.b32 %r2, %p1, 0xfffffff7;",
        "match.any.sync.b32 %r2, %r1, 0xfffffff7;", "redux.sync.add.u32 %r2, %r1, 0xfffffff7;"}) {
    INFO(instruction);
    const std::string setp = registers + "setp.eq.u32 %p1, %r1, 7; ";
    expect_rule(run(fmt::format("{}{}\nret;", setp, instruction)), "warp.member-mask", 11);
    CHECK(run(fmt::format("{}setp.ne.u32 %p2, %r1, 3; @%p2 {}\nret;", setp, instruction)).reports.empty());
  }
}

TEST_CASE("an endless kernel is ended by the limit of instructions") {
  const Outcome outcome = run(registers + "L:\nbra L;\nret;", 32, "", {.instruction_limit = 100'000});
  expect_rule(outcome, "instruction-limit", 12);
}

TEST_CASE("trap is reported") {
  expect_rule(run(registers + "setp.eq.u32 %p1, %r1, 7;\n@%p1 trap;\nret;"), "trap", 12);
}

TEST_CASE("the report callback gets every report") {
  std::vector<std::string> seen;
  SimOptions options;
  options.sink = [&](const Report& report) { seen.push_back(report.rule); };
  (void)run(registers + "trap;\nret;", 32, "", options);
  CHECK(seen == std::vector<std::string>{"trap"});
}

TEST_CASE("unsupported PTX is refused when it is loaded") {
  const auto sim = make_sim_device();
  const auto refuse = [&](const Artifact& artifact, ErrorCode code, const std::string& text) {
    try {
      (void)sim->kernels().load(artifact);
      FAIL("was loaded");
    } catch (const Error& error) {
      CHECK(error.code() == code);
      CHECK_THAT(error.what(), ContainsSubstring(text));
    }
  };
  refuse(tests::module_of(".frobnicate.b32 %r1;", 1), ErrorCode::invalid_argument, "frobnicate");
  refuse(tests::module_of(".reg .b32 %r<5>;\nmov.u32 %r1, nothing;", 1), ErrorCode::invalid_argument,
         "nothing");
  Artifact other = tests::module_of("ret;", 1);
  other.entry = "another";
  refuse(other, ErrorCode::invalid_argument, "another");
}

TEST_CASE("illegal launches are refused") {
  const auto sim = make_sim_device();
  const auto kernel = sim->kernels().load(tests::module_of("ret;", 1));
  std::uint64_t value = 0;
  void* const parameters[] = {&value};
  CHECK_THROWS_AS(kernel->launch({.block = {1025, 1, 1}}, parameters, nullptr), Error);
  CHECK_THROWS_AS(kernel->launch({.grid = {0, 1, 1}}, parameters, nullptr), Error);
  CHECK_THROWS_AS(kernel->launch({.shared_bytes = 50'000}, parameters, nullptr), Error);
  CHECK_THROWS_AS(kernel->launch({}, {}, nullptr), Error);
  kernel->allow_shared_bytes(50'000);
  CHECK_NOTHROW(kernel->launch({.shared_bytes = 50'000}, parameters, nullptr));
  CHECK_THROWS_AS(kernel->allow_shared_bytes(1 << 20), Error);
  CHECK(kernel->ctas_per_sm(1024, 0) == 2);
  CHECK(kernel->ctas_per_sm(32, 100'000) == 2);
}

TEST_CASE("the device's memory can be allocated, filled and copied, and illegal uses are refused") {
  const auto sim = make_sim_device({.memory_bytes = 1 << 20});
  const DevicePtr a = sim->memory().allocate(1000);
  CHECK(a % 256 == 0);
  CHECK_THROWS_AS(sim->memory().allocate(1 << 20), Error);
  sim->memory().fill(a, std::byte{7}, 1000, nullptr);
  std::array<std::byte, 4> bytes{};
  sim->memory().copy_out(bytes, a + 996, nullptr);
  CHECK(bytes[3] == std::byte{7});
  CHECK_THROWS_AS(sim->memory().copy_out(bytes, a + 997, nullptr), Error);
  sim->memory().free(a);
  CHECK_THROWS_AS(sim->memory().copy_out(bytes, a, nullptr), Error);
}

}  // namespace reports_test
