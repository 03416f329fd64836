/// The first report must name the mistake itself, not one of its consequences, in all modes and with several
/// seeds.
#include "sim/text_kernel.hpp"

#include <catch2/matchers/catch_matchers_string.hpp>
#include <spdlog/fmt/fmt.h>

namespace causes_test {

using namespace tmajit;
using namespace tests::text;
using Catch::Matchers::ContainsSubstring;

namespace {

/// A kernel with a ring of two stages of 64 words. Thread 0, the producer, loads them; each thread of the
/// second and third warp, the consumers, reads a word. Loads complete on the stage's full barrier, and
/// consumers arrive at its empty barrier. Tests replace parts of the code by mistakes.
struct Ring {
  std::string full_count = "1";
  std::string empty_count = "64";
  std::string first_parity = "1";  ///< first parity that the producer waits for
  std::string producer_flip = "xor.b32 %r11, %r11, %r12;\n";
  std::string consumer_flip = "xor.b32 %r15, %r15, %r12;\n";
  std::string wait_empty =
      "WE:\nmbarrier.try_wait.parity.shared::cta.b64 %p2, [%r13+16], %r11;\n@!%p2 bra WE;\n";
  std::string wait_full = "WF:\nmbarrier.try_wait.parity.shared::cta.b64 %p2, [%r13], %r15;\n@!%p2 bra WF;\n";
  std::string first_consumer_parity = "0";
  std::string expect = "mbarrier.arrive.expect_tx.shared.b64 _, [%r13], 256;\n";
  std::string before_read = "";
  std::string after_read = "mbarrier.arrive.shared.b64 _, [%r13+16];\n";
  std::string at_exit = "bar.sync 0;\n";

  [[nodiscard]] std::string text() const {
    return registers + ".reg .b32 %x<6>;\n@!%p1 bra I;\nmbarrier.init.shared.b64 [smem], " + full_count +
           ";\nmbarrier.init.shared.b64 [smem+8], " + full_count + ";\nmbarrier.init.shared.b64 [smem+16], " +
           empty_count + ";\nmbarrier.init.shared.b64 [smem+24], " + empty_count +
           ";\nfence.mbarrier_init.release.cluster;\nI:\nbar.sync 0;\nmov.u32 %r10, 0;\nmov.u32 %r15, " +
           first_consumer_parity + ";\nmov.u32 %r11, " + first_parity +
           ";\nsetp.ge.u32 %p3, %r1, 32;\n@%p3 bra L;\n@!%p1 bra E;\nP:\n" + stage + wait_empty + expect +
           "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r14+256], [%rd1], 256, "
           "[%r13];\n" +
           producer_flip +
           "add.u64 %rd1, %rd1, 256;\nadd.u32 %r10, %r10, 1;\nsetp.lt.u32 %p4, %r10, 6;\n@%p4 bra P;\nbra "
           "E;\nL:\n" +
           stage + wait_full + before_read +
           "sub.u32 %x1, %r1, 32;\nshl.b32 %x1, %x1, 2;\nadd.u32 %x1, %x1, %r14;\nld.shared.u32 %x2, "
           "[%x1+256];\n" +
           after_read + consumer_flip +
           "shl.b32 %x3, %r10, 8;\nadd.u32 %x3, %x3, %x1;\nsub.u32 %x3, %x3, %r14;\ncvt.u64.u32 %rd3, %x3;\n"
           "add.u64 %rd3, %rd3, %rd1;\nst.global.u32 [%rd3+2048], %x2;\n"
           "add.u32 %r10, %r10, 1;\nsetp.lt.u32 %p4, %r10, 6;\n@%p4 bra L;\nE:\n" +
           at_exit + "ret;";
  }

  /// Computes the stage of turn %r10: its number in %r12, the addresses of its mbarrier in %r13 and its
  /// memory in %r14.
  static inline const std::string stage =
      "and.b32 %r12, %r10, 1;\nshl.b32 %r13, %r12, 3;\nadd.u32 %r13, %r13, %r5;\nshl.b32 %r14, %r12, 8;\n"
      "add.u32 %r14, %r14, %r5;\n";
};

/// Calls visit(outcome) for a run in each mode with each seed.
template <typename Visit>
void in_all_modes(const std::string& body, std::uint32_t threads, const Visit& visit) {
  for (const auto mode : {SimOptions::Mode::late, SimOptions::Mode::early, SimOptions::Mode::random}) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      const Outcome outcome =
          run(body, {.grid = 1, .cluster = 1, .block = threads, .options = {.mode = mode, .seed = seed}});
      INFO("mode " << static_cast<int>(mode) << ", seed " << seed << "\n" << reports_text(outcome));
      visit(outcome);
    }
  }
}

/// Checks that the first report of every run is of one of the rules, and that its text contains `words`.
void expect_cause(const std::string& body, const std::vector<std::string>& rules, const std::string& words,
                  std::uint32_t threads = 96) {
  in_all_modes(body, threads, [&](const Outcome& outcome) {
    REQUIRE_FALSE(outcome.reports.empty());
    const Report& first = outcome.reports.front();
    CHECK(std::ranges::find(rules, first.rule) != rules.end());
    CHECK_THAT(first.found, ContainsSubstring(words));
  });
}

void expect_no_reports(const std::string& body, std::uint32_t threads = 96) {
  in_all_modes(body, threads, [](const Outcome& outcome) { CHECK(outcome.reports.empty()); });
}

}  // namespace

TEST_CASE("correct rings have no reports") {
  expect_no_reports(Ring{}.text());
  Ring leaders;
  leaders.empty_count = "2";
  leaders.after_read =
      "bar.warp.sync 0xffffffff;\nand.b32 %x4, %r1, 31;\nsetp.eq.u32 %p5, %x4, 0;\n"
      "@%p5 mbarrier.arrive.shared.b64 _, [%r13+16];\n";
  expect_no_reports(leaders.text());
  Ring tests_first;
  tests_first.before_read = "mbarrier.test_wait.parity.shared::cta.b64 %p2, [%r13], %r15;\n";
  expect_no_reports(tests_first.text());
}

TEST_CASE("if an empty barrier counts too few arrivals, the first report names it, not the full barrier") {
  for (const std::string count : {"32", "16", "1"}) {
    Ring ring;
    ring.empty_count = count;
    INFO(count);
    expect_cause(ring.text(), {"mbarrier.arrivals"}, "for " + count + " arrival");
  }
}

TEST_CASE("if a parity never flips, the first report is at its wait") {
  Ring producer;
  producer.producer_flip = "";
  expect_cause(producer.text(), {"mbarrier.parity"}, "shared address 0x410");
  Ring consumer;
  consumer.consumer_flip = "";
  // Either a read reveals the mistake, or the arrivals of a thread that is a turn ahead.
  in_all_modes(consumer.text(), 96, [](const Outcome& outcome) {
    REQUIRE_FALSE(outcome.reports.empty());
    const Report& first = outcome.reports.front();
    CHECK(first.rule == "mbarrier.parity");
    CHECK(first.instruction.find("[%r13], %r15") != std::string::npos);
    const std::string named = first.found.substr(first.found.find("shared address "));
    CHECK((named.starts_with("shared address 0x400 ") || named.starts_with("shared address 0x408 ")));
  });
  Ring first;
  first.first_consumer_parity = "1";
  expect_cause(first.text(), {"mbarrier.parity", "shared.uninitialised"}, "shared");
}

TEST_CASE("the first report names a load whose mbarrier expects no bytes or has no waiting thread") {
  Ring plain;
  plain.expect = "mbarrier.arrive.shared.b64 _, [%r13];\n";
  expect_cause(plain.text(), {"mbarrier.expected-bytes"}, "is over, and has expected no bytes");
  Ring none;
  none.expect = "";
  expect_cause(none.text(), {"mbarrier.expected-bytes"}, "which expects none, and no thread arrives at it");
  Ring swapped;
  swapped.wait_full = "WF:\nmbarrier.try_wait.parity.shared::cta.b64 %p2, [%r13+16], %r15;\n@!%p2 bra WF;\n";
  expect_cause(swapped.text(), {"deadlock"}, "and no thread waits for the mbarrier at shared address 0x4");
}

TEST_CASE("if a producer's first wait has the wrong parity, the first report names the right one") {
  Ring ring;
  ring.first_parity = "0";
  expect_cause(ring.text(), {"deadlock"}, "the first wait for a free stage takes parity 1");
}

TEST_CASE("if a producer waits for its full barrier, the first report is of this wait") {
  for (const std::string parity : {"0", "1"}) {
    Ring ring;
    ring.first_parity = parity;
    ring.wait_empty = "WE:\nmbarrier.try_wait.parity.shared::cta.b64 %p2, [%r13], %r11;\n@!%p2 bra WE;\n";
    INFO(parity);
    expect_cause(ring.text(), {"deadlock", "race.shared-read-write"},
                 "on which its own load completes, before it loads");
    if (parity == "0") continue;
    expect_cause(ring.text(), {"deadlock", "race.shared-read-write"},
                 "no thread waits for the mbarrier at shared address 0x41");
  }
}

TEST_CASE("if a consumer arrives at the full barrier, the first report is at this arrival") {
  Ring ring;
  ring.after_read = "mbarrier.arrive.shared.b64 _, [%r13];\n";
  in_all_modes(ring.text(), 96, [](const Outcome& outcome) {
    REQUIRE_FALSE(outcome.reports.empty());
    const Report& first = outcome.reports.front();
    CHECK(first.rule == "mbarrier.arrivals");
    CHECK(first.instruction == "mbarrier.arrive.shared.b64 _, [%r13];");
    CHECK_THAT(first.found, ContainsSubstring("no thread arrives at the mbarrier at shared address 0x41"));
  });
}

TEST_CASE("the report of a deadlock begins with the barrier that lacks arrivals") {
  Ring full;
  full.full_count = "2";
  expect_cause(full.text(), {"deadlock"}, "the mbarrier at shared address 0x400 (mbarrier.init at PTX line");
  expect_cause(full.text(), {"deadlock"}, "lacks 1 of 2 arrivals");
  Ring empty;
  empty.empty_count = "65";
  expect_cause(empty.text(), {"deadlock"}, "lacks 1 of 65 arrivals");
  Ring never;
  never.after_read = "";
  expect_cause(never.text(), {"deadlock"}, "lacks 64 of 64 arrivals: no thread has ever arrived at it");
  in_all_modes(full.text(), 96, [](const Outcome& outcome) {
    // The list of waits begins with this barrier, before the warps that wait at the exit.
    const std::string& found = outcome.reports.front().found;
    CHECK(found.find("at shared address 0x400 for") < found.find("wait at barrier 0"));
  });
}

TEST_CASE("the report of a deadlock names the CTA barrier at which only the consumers wait, not their load") {
  Ring ring;
  ring.before_read = "bar.sync 0;\n";
  expect_cause(ring.text(), {"deadlock"}, "wait at barrier 0: 64 of 96 threads have arrived");
  in_all_modes(ring.text(), 96, [](const Outcome& outcome) {
    CHECK(outcome.reports.front().found.find("no thread waits for the mbarrier") == std::string::npos);
  });
}

TEST_CASE("if a stage is released before it is read, the first report is at the arrival") {
  Ring ring;
  ring.before_read = ring.after_read;
  ring.after_read = "";
  in_all_modes(ring.text(), 96, [](const Outcome& outcome) {
    REQUIRE_FALSE(outcome.reports.empty());
    CHECK(outcome.reports.front().rule == "race.shared-read-write");
    CHECK(outcome.reports.front().instruction.starts_with("mbarrier.arrive"));
    CHECK_THAT(outcome.reports.front().found, ContainsSubstring("hands the stage back before the read"));
  });
}

TEST_CASE("if a stage is released twice in a turn, the first report is at the arrival") {
  Ring ring;
  ring.after_read += ring.after_read;
  expect_cause(ring.text(), {"mbarrier.arrivals"}, "arrives twice in a phase");
  Ring without;
  without.wait_full = "";
  expect_cause(without.text(), {"mbarrier.arrivals"}, "it has not waited for any mbarrier");
}

TEST_CASE("if a barrier has too small or too large a count, the first report is of the count") {
  const auto body = [](const std::string& count) {
    // Each of four warps writes its words, and reads those of the next warp.
    return registers +
           "shl.b32 %r10, %r1, 2;\nadd.u32 %r10, %r10, %r5;\nst.shared.u32 [%r10], %r1;\nbar.sync 1, " +
           count +
           ";\nadd.u32 %r11, %r1, 32;\nand.b32 %r11, %r11, 127;\nshl.b32 %r11, %r11, 2;\nadd.u32 %r11, %r11, "
           "%r5;\n"
           "ld.shared.u32 %r12, [%r11];\nmul.wide.u32 %rd3, %r1, 4;\nadd.u64 %rd3, %rd3, %rd1;\n"
           "st.global.u32 [%rd3], %r12;\nbar.sync 0;\nret;";
  };
  expect_no_reports(body("128"), 128);
  expect_cause(body("96"), {"deadlock"}, "is for 96 threads, and 128 threads arrive at it", 128);
  expect_cause(body("160"), {"deadlock"}, "is for 160 threads, and 128 threads arrive at it", 128);
}

TEST_CASE("if a barrier is missing, the first report is a race, even if the read precedes the write") {
  const auto body = [](const std::string& barrier) {
    return registers + "shl.b32 %r10, %r1, 2;\nadd.u32 %r10, %r10, %r5;\nst.shared.u32 [%r10], %r1;\n" +
           barrier +
           "xor.b32 %r11, %r1, 32;\nshl.b32 %r11, %r11, 2;\nadd.u32 %r11, %r11, %r5;\nld.shared.u32 %r12, "
           "[%r11];\n"
           "mul.wide.u32 %rd3, %r1, 4;\nadd.u64 %rd3, %rd3, %rd1;\nst.global.u32 [%rd3], %r12;\nret;";
  };
  expect_no_reports(body("bar.sync 0;\n"), 64);
  in_all_modes(body(""), 64, [](const Outcome& outcome) {
    REQUIRE_FALSE(outcome.reports.empty());
    CHECK(outcome.reports.front().rule.starts_with("race.shared-"));
    for (const Report& report : outcome.reports) CHECK(report.rule != "shared.uninitialised");
  });
}

TEST_CASE("if the barrier before a bulk store is missing, this is the only report") {
  // Both warps write ten times; a thread of the second stores what both have written.
  const auto body = [](const std::string& barrier) {
    std::string text =
        registers + "shl.b32 %r10, %r1, 2;\nadd.u32 %r10, %r10, %r5;\nsetp.eq.u32 %p3, %r1, 32;\n";
    for (int i = 0; i < 10; ++i) text += fmt::format("st.shared.u32 [%r10+{}], %r1;\n", 256 * i);
    return text + "fence.proxy.async.shared::cta;\n" + barrier +
           "@!%p3 bra E;\ncp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r5], 2560;\n"
           "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\nE:\nret;";
  };
  expect_no_reports(body("bar.sync 0;\n"), 64);
  in_all_modes(body(""), 64, [](const Outcome& outcome) {
    CHECK(outcome.reports.size() == 1);
    const Report& first = outcome.reports.front();
    CHECK((first.rule == "store.missing-barrier" || first.rule == "race.shared-write-read"));
    CHECK(first.instruction.starts_with("cp.async.bulk"));
  });
}

TEST_CASE("if a wait or a barrier after a bulk store is missing, ten writes make one report of it") {
  // A thread stores. Both warps then write again, with or without a barrier and a wait in between.
  const auto body = [](const std::string& wait, const std::string& barrier) {
    const auto writes = [](const std::string& value) {
      std::string text;
      for (int i = 0; i < 10; ++i) text += fmt::format("st.shared.u32 [%r10+{}], {};\n", 256 * i, value);
      return text;
    };
    return registers + "shl.b32 %r10, %r1, 2;\nadd.u32 %r10, %r10, %r5;\nsetp.eq.u32 %p3, %r1, 32;\n" +
           writes("%r1") +
           "fence.proxy.async.shared::cta;\nbar.sync 0;\n@!%p3 bra S;\n"
           "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r5], 2560;\ncp.async.bulk.commit_group;\n" +
           wait + "S:\n" + barrier + writes("%r10") + "@!%p3 bra E;\ncp.async.bulk.wait_group 0;\nE:\nret;";
  };
  const std::string wait = "cp.async.bulk.wait_group.read 0;\n";
  expect_no_reports(body(wait, "bar.sync 0;\n"), 64);
  in_all_modes(body("", "bar.sync 0;\n"), 64, [](const Outcome& outcome) {
    REQUIRE(outcome.reports.size() == 1);
    const Report& first = outcome.reports.front();
    CHECK((first.rule == "shared.overwritten-before-store-read" || first.rule == "race.shared-read-write"));
    CHECK_THAT(first.found, ContainsSubstring("9 more instructions (PTX lines"));
    CHECK(first.also_lines.size() == 9);
    CHECK(first.expected.find("wait_group") != std::string::npos);
  });
  in_all_modes(body(wait, ""), 64, [](const Outcome& outcome) {
    REQUIRE_FALSE(outcome.reports.empty());
    const Report& first = outcome.reports.front();
    CHECK(first.rule.starts_with("race.shared-"));
    CHECK_THAT(first.expected, ContainsSubstring("barrier"));
    // The other warp's writes and the store are not ordered, so there may be a second report.
    CHECK(outcome.reports.size() <= 2);
  });
}

TEST_CASE("if the barrier after a store's wait is missing, it is reported despite one before the wait") {
  // All threads write a tile in each turn, and thread 32 stores it.
  const auto body = [](const std::string& between, const std::string& wait, const std::string& after) {
    return registers +
           "shl.b32 %r10, %r1, 2;\nadd.u32 %r10, %r10, %r5;\nsetp.eq.u32 %p3, %r1, 32;\nmov.u32 %r11, 0;\n"
           "L:\nst.shared.u32 [%r10], %r11;\nfence.proxy.async.shared::cta;\nbar.sync 1;\n@!%p3 bra S;\n"
           "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r5], "
           "256;\ncp.async.bulk.commit_group;\nS:\n" +
           between + "@!%p3 bra W;\n" + wait + "W:\n" + after +
           "add.u64 %rd1, %rd1, 256;\nadd.u32 %r11, %r11, 1;\nsetp.lt.u32 %p4, %r11, 4;\n@%p4 bra L;\n@!%p3 "
           "bra E;\n"
           "cp.async.bulk.wait_group 0;\nE:\nret;";
  };
  const std::string wait = "cp.async.bulk.wait_group.read 0;\n";
  const std::string meet = "bar.sync 2;\n";
  const std::string missing = "no barrier stands between the wait for a bulk store and this write";
  expect_no_reports(body("", wait, "bar.sync 3;\n"), 64);
  expect_no_reports(body(meet, wait, "bar.sync 3;\n"), 64);
  expect_cause(body(meet, wait, ""), {"race.shared-read-write"}, missing, 64);
  // A warp that has run ahead writes the next tile before the store is issued.
  expect_cause(body("", wait, ""), {"race.shared-read-write"}, missing, 64);
  // The wait is missing, and there is a barrier before and after its place.
  in_all_modes(body(meet, "", "bar.sync 3;\n"), 64, [&](const Outcome& outcome) {
    REQUIRE_FALSE(outcome.reports.empty());
    CHECK(outcome.reports.front().found.find(missing) == std::string::npos);
  });
}

TEST_CASE("a missing wait for a copy is reported even if the engine completes the copy at once") {
  const auto copied = [](const std::string& wait) {
    return registers +
           "shl.b32 %r10, %r1, 2;\nadd.u32 %r10, %r10, %r5;\ncvt.u64.u32 %rd3, %r1;\nshl.b64 %rd3, "
           "%rd3, 2;\nadd.u64 %rd3, %rd3, %rd1;\ncp.async.ca.shared.global [%r10], [%rd3], 4;\n"
           "cp.async.commit_group;\n" +
           wait + "ld.shared.u32 %r11, [%r10];\nst.global.u32 [%rd3+2048], %r11;\nret;";
  };
  expect_no_reports(copied("cp.async.wait_group 0;\n"), 64);
  expect_cause(copied(""), {"shared.in-flight-read"}, "has not delivered yet", 64);
  const auto stored = [](const std::string& wait) {
    return registers +
           "st.shared.u32 [%r5], %r1;\nst.shared.u32 [%r5+4], %r1;\nst.shared.u32 [%r5+8], %r1;\n"
           "st.shared.u32 [%r5+12], %r1;\nfence.proxy.async.shared::cta;\n"
           "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r5], 16;\ncp.async.bulk.commit_group;\n" +
           wait + "ret;";
  };
  expect_no_reports(stored("cp.async.bulk.wait_group.read 0;\n"), 1);
  expect_cause(stored(""), {"exit.store-unread"}, "before a bulk store has read", 1);
}

TEST_CASE("an atomic does not hide the plain store of its thread") {
  for (const std::string store : {"st.global.u32", "st.relaxed.gpu.global.u32"}) {
    const std::string body = fmt::format(
        "{}mov.u32 %r10, %ctaid.x;\nsetp.eq.u32 %p3, %r10, 0;\n@%p3 {} [%rd1], 0;\n"
        "red.global.add.u32 [%rd1], 1;\nret;",
        registers, store);
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      const Outcome outcome = run(body, {.grid = 2, .cluster = 1, .block = 1, .options = {.seed = seed}});
      INFO(store << ", seed " << seed << "\n" << reports_text(outcome));
      CHECK(outcome.reports.empty() == (store != "st.global.u32"));
    }
  }
  // The plain store is ordered before the atomics of all threads.
  expect_no_reports(registers +
                        "@%p1 st.shared.u32 [%r5], 0;\nbar.sync 0;\nred.shared.add.u32 [%r5], 1;\nbar.sync "
                        "0;\nld.shared.u32 %r10, [%r5];\nst.global.u32 [%rd1], %r10;\nret;",
                    1);
  expect_no_reports(registers +
                    "@%p1 st.shared.u32 [%r5], 0;\nbar.sync 0;\nred.shared.add.u32 [%r5], 1;\nret;");
}

TEST_CASE("if no barrier follows the inits of many mbarriers, there is only one report") {
  std::string text = registers + "@!%p1 bra I;\n";
  for (int i = 0; i < 62; ++i) text += fmt::format("mbarrier.init.shared.b64 [smem+{}], 1;\n", 8 * i);
  text += "I:\nsetp.ne.u32 %p3, %r1, 32;\n@%p3 bra E;\n";
  for (int i = 0; i < 62; ++i) text += fmt::format("mbarrier.arrive.shared.b64 _, [smem+{}];\n", 8 * i);
  for (const std::string barrier : {"bar.sync 0;\n", ""}) {
    std::string body = text;
    body.insert(body.find("I:\n") + 3, barrier);
    in_all_modes(body + "E:\nret;", 64,
                 [&](const Outcome& outcome) { CHECK(outcome.reports.size() == (barrier.empty() ? 1 : 0)); });
  }
}

}  // namespace causes_test
