/// Random pipelines, each with one mistake or none. The first report must name the mistake, in all modes and
/// with several seeds. A pipeline without a mistake must have no reports.
#include "seed.hpp"
#include "sim/text_kernel.hpp"

#include <numeric>
#include <random>

#include <catch2/generators/catch_generators_all.hpp>
#include <spdlog/fmt/fmt.h>

namespace pipelines_test {

using namespace tmajit;
using namespace tests::text;

namespace {

/// Thread 0, the producer, loads stages. Each thread of the other warps, the consumers, reads a word of each
/// stage. Loads complete on the stage's mbarrier "full", and consumers arrive at its mbarrier "empty".
struct Pipeline {
  std::uint32_t stages = 1;
  std::uint32_t consumers = 1;  ///< number of warps that read
  std::uint32_t turns = 3;
  bool leaders = false;  ///< one lane of each warp releases a stage for its warp
  bool output = false;   ///< warps store their words by bulk copies
};

struct Mistake {
  std::string name;
  std::vector<std::string> rules;  ///< the first report must be of one of them
  std::string words;               ///< text that the first report must contain
};

const std::vector<std::string> overwritten{"shared.overwritten-before-store-read", "race.shared-read-write"};

const Mistake mistakes[] = {
    // A load may overlap a read before the arrivals exceed the count, which shows that it is too small.
    {"empty counts too few", {"mbarrier.arrivals", "shared.in-flight-read"}, ""},
    {"empty counts too many", {"deadlock"}, "lacks 1 of"},
    {"full counts too many", {"deadlock"}, "lacks 1 of 2 arrivals"},
    {"consumer's parity never flips", {"mbarrier.parity"}, "the mbarrier at shared address 0x4"},
    {"producer's parity never flips", {"mbarrier.parity"}, "thread (0, 0, 0)"},
    // The consumer's wait ends at once, possibly before the load is issued.
    {"consumer begins with the other parity", {"mbarrier.parity", "shared.uninitialised"}, ""},
    {"producer begins with the other parity", {"deadlock"}, "the first wait for a free stage takes parity 1"},
    {"half the bytes", {"mbarrier.expected-bytes"}, "bytes in excess"},
    {"twice the bytes", {"mbarrier.expected-bytes"}, "bytes missing"},
    {"no bytes expected", {"mbarrier.expected-bytes"}, "has expected no bytes"},
    {"no arrival at full", {"mbarrier.expected-bytes"}, "no thread arrives at it"},
    {"no arrival at empty", {"deadlock"}, "no thread has ever arrived at it"},
    {"two arrivals at empty", {"mbarrier.arrivals"}, "arrive"},
    {"no wait for full", {"mbarrier.arrivals", "shared.in-flight-read", "race.shared-write-read"}, ""},
    {"no wait for empty", {"mbarrier.arrivals", "race.shared-write-write", "race.shared-read-write"}, ""},
    {"consumer waits for empty", {"deadlock"}, "and no thread waits for the mbarrier at shared address 0x4"},
    {"consumer arrives at full",
     {"mbarrier.arrivals"},
     "on which loads complete, and no thread arrives at the mbarrier at shared address 0x4"},
    {"producer waits for full",
     {"deadlock", "race.shared-read-write"},
     "on which its own load completes, before it loads again"},
    {"released before it is read", {"race.shared-read-write"}, "hands the stage back before the read"},
    {"no __syncwarp before a leader releases",
     {"race.shared-read-write"},
     "hands the stage back before the read"},
    {"no fence of inits", {"mbarrier.init-not-fenced"}, ""},
    {"no barrier after the inits", {"mbarrier.uninitialised", "race.mbarrier"}, ""},
    {"no fence before the store", {"store.missing-proxy-fence"}, ""},
    {"no barrier before the store", {"store.missing-barrier", "race.shared-write-read"}, "nothing orders"},
    {"no commit", overwritten, ""},
    {"no wait for the store's reads", overwritten, ""},
    {"no barrier after the wait for the store's reads",
     {"race.shared-read-write"},
     "no barrier stands between the wait for a bulk store and this write"},
};

constexpr std::uint32_t base = 1024;  ///< offset of the stages in shared memory

std::string text_of(const Pipeline& pipe, const std::string& mistake) {
  const auto is = [&](const char* name) { return mistake == name; };
  // `text`, or nothing if the mistake is `name`.
  const auto unless = [&](const char* name, const std::string& text) {
    return is(name) ? std::string() : text;
  };
  const std::uint32_t words = 32 * pipe.consumers;
  const std::uint32_t bytes = 4 * words;
  const std::uint32_t arrivals = (pipe.leaders ? pipe.consumers : words) -
                                 (is("empty counts too few") ? 1 : 0) + (is("empty counts too many") ? 1 : 0);
  std::string text = registers + ".reg .b32 %x<16>;\n@!%p1 bra I;\n";
  for (std::uint32_t stage = 0; stage < pipe.stages; ++stage) {
    text += fmt::format("mbarrier.init.shared.b64 [smem+{}], {};\nmbarrier.init.shared.b64 [smem+{}], {};\n",
                        8 * stage, is("full counts too many") ? 2 : 1, 64 + 8 * stage, arrivals);
  }
  text += unless("no fence of inits", "fence.mbarrier_init.release.cluster;\n") + "I:\n" +
          unless("no barrier after the inits", "bar.sync 0;\n");
  // %x0 is the stage, %x1 the producer's parity, %x2 the consumer's; %r13 is the address of the stage's
  // mbarrier, %r14 that of its memory.
  const std::string stage = fmt::format(
      "shl.b32 %r13, %x0, 3;\nadd.u32 %r13, %r13, %r5;\nmul.lo.u32 %r14, %x0, {};\nadd.u32 %r14, %r14, "
      "%r5;\nadd.u32 %r14, %r14, {};\n",
      bytes, base);
  const auto advance = [&](const std::string& parity, const char* parity_mistake) {
    return fmt::format("add.u32 %x0, %x0, 1;\nsetp.eq.u32 %p4, %x0, {};\n@%p4 mov.u32 %x0, 0;\n",
                       pipe.stages) +
           unless(parity_mistake, fmt::format("@%p4 xor.b32 {0}, {0}, 1;\n", parity)) +
           fmt::format("add.u32 %r10, %r10, 1;\nsetp.lt.u32 %p4, %r10, {};\n", pipe.turns);
  };
  const auto wait = [](const std::string& label, bool empty, const std::string& parity) {
    return fmt::format(
        "{0}:\nmbarrier.try_wait.parity.shared::cta.b64 %p2, [%r13{1}], {2};\n@!%p2 bra {0};\n", label,
        empty ? "+64" : "", parity);
  };
  text += fmt::format("mov.u32 %r10, 0;\nmov.u32 %x0, 0;\nmov.u32 %x1, {};\nmov.u32 %x2, {};\n",
                      is("producer begins with the other parity") ? 0 : 1,
                      is("consumer begins with the other parity") ? 1 : 0);
  text += "setp.ge.u32 %p3, %r1, 32;\n@%p3 bra L;\n@!%p1 bra E;\nP:\n" + stage +
          unless("no wait for empty", wait("WE", !is("producer waits for full"), "%x1"));
  const std::uint32_t expected = is("half the bytes") ? bytes / 2 : is("twice the bytes") ? 2 * bytes : bytes;
  text += is("no bytes expected")
              ? "mbarrier.arrive.shared.b64 _, [%r13];\n"
              : unless("no arrival at full",
                       fmt::format("mbarrier.arrive.expect_tx.shared.b64 _, [%r13], {};\n", expected));
  text += fmt::format(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r14], [%rd1], {}, [%r13];\n",
      bytes);
  text += advance("%x1", "producer's parity never flips") + "@%p4 bra P;\nbra E;\n";
  // %p5 is true in the warp's first lane. %x4 is the address of the thread's word in a stage, %x7 that of the
  // warp's output in shared memory, %x8 that of the thread's word in this output; %rd3 and %rd4 are the
  // global addresses of the output and of the word.
  text += fmt::format(
      "L:\nsub.u32 %x3, %r1, 32;\nshl.b32 %x4, %x3, 2;\nand.b32 %x5, %r1, 31;\nsetp.eq.u32 %p5, %x5, 0;\n"
      "shr.u32 %x6, %x3, 5;\nshl.b32 %x6, %x6, 7;\nadd.u32 %x7, %x6, %r5;\nadd.u32 %x7, %x7, {};\n"
      "shl.b32 %x8, %x5, 2;\nadd.u32 %x8, %x8, %x7;\ncvt.u64.u32 %rd3, %x6;\nadd.u64 %rd3, %rd3, %rd1;\n"
      "add.u64 %rd3, %rd3, 4096;\ncvt.u64.u32 %rd4, %x4;\nadd.u64 %rd4, %rd4, %rd1;\nK:\n",
      base + pipe.stages * bytes);
  text += stage + unless("no wait for full", wait("WF", is("consumer waits for empty"), "%x2"));
  std::string release =
      fmt::format("mbarrier.arrive.shared.b64 _, [%r13{}];\n", is("consumer arrives at full") ? "" : "+64");
  if (pipe.leaders) {
    release =
        unless("no __syncwarp before a leader releases", "bar.warp.sync 0xffffffff;\n") + "@%p5 " + release;
  }
  if (is("no arrival at empty")) release = {};
  if (is("two arrivals at empty")) release += release;
  const std::string read = "add.u32 %x9, %r14, %x4;\nld.shared.u32 %x10, [%x9];\n";
  text += is("released before it is read") ? release + read : read + release;
  if (pipe.output) {
    text += "st.shared.u32 [%x8], %x10;\n" +
            unless("no fence before the store", "fence.proxy.async.shared::cta;\n") +
            unless("no barrier before the store", "bar.warp.sync 0xffffffff;\n") +
            "@!%p5 bra N;\ncp.async.bulk.global.shared::cta.bulk_group [%rd3], [%x7], 128;\n" +
            unless("no commit", "cp.async.bulk.commit_group;\n") +
            unless("no wait for the store's reads", "cp.async.bulk.wait_group.read 0;\n") + "N:\n" +
            unless("no barrier after the wait for the store's reads", "bar.warp.sync 0xffffffff;\n") +
            fmt::format("add.u64 %rd3, %rd3, {};\n", bytes);
  } else {
    text += "st.global.u32 [%rd4+4096], %x10;\n";
  }
  text += advance("%x2", "consumer's parity never flips") + "@%p4 bra K;\n";
  if (pipe.output) text += "@%p5 cp.async.bulk.wait_group 0;\n";
  return text + "E:\nbar.sync 0;\nret;";
}

/// Whether a pipeline can have the mistake.
bool can_have(const Pipeline& pipe, const std::string& mistake) {
  // If a leader releases stages, the warp's barrier before the release orders what the missing barrier would.
  if (mistake.starts_with("no barrier after the wait")) return pipe.output && !pipe.leaders;
  if (mistake.find("the store") != std::string::npos || mistake == "no commit") return pipe.output;
  if (mistake.find("leader") != std::string::npos) return pipe.leaders;
  return mistake != "empty counts too few" || !pipe.leaders || pipe.consumers > 1;
}

Pipeline draw(std::mt19937& random, const std::string& mistake) {
  const auto below = [&](std::uint32_t count) { return static_cast<std::uint32_t>(random() % count); };
  for (;;) {
    Pipeline pipe{.stages = 1 + below(6), .consumers = 1 + below(3)};
    pipe.turns = 2 * pipe.stages + 1 + below(pipe.stages + 1);
    pipe.leaders = below(2) != 0;
    pipe.output = below(2) != 0;
    if (can_have(pipe, mistake)) return pipe;
  }
}

/// Calls visit(outcome) for a run of the pipeline in each mode with each of five seeds.
template <typename Visit>
void in_all_modes(const Pipeline& pipe, const std::string& mistake, const Visit& visit) {
  const std::string body = text_of(pipe, mistake);
  std::vector<std::uint32_t> words(4096);
  std::iota(words.begin(), words.end(), 0U);
  for (const auto mode : {SimOptions::Mode::late, SimOptions::Mode::early, SimOptions::Mode::random}) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      const Outcome outcome = run(body, {.grid = 1,
                                         .cluster = 1,
                                         .block = 32 * (1 + pipe.consumers),
                                         .options = {.mode = mode, .seed = seed},
                                         .words = words});
      INFO(fmt::format("{}: {} stages, {} consumers, {} turns, leaders {}, output {}; mode {}, seed {}\n",
                       mistake, pipe.stages, pipe.consumers, pipe.turns, pipe.leaders, pipe.output,
                       static_cast<int>(mode), seed)
           << reports_text(outcome));
      visit(outcome);
    }
  }
}

}  // namespace

TEST_CASE("random pipelines without a mistake have no reports") {
  std::mt19937 random(static_cast<std::mt19937::result_type>(tests::seed(20261126)));
  for (int i = 0; i < 6; ++i) {
    const Pipeline pipe = draw(random, "");
    in_all_modes(pipe, "", [&](const Outcome& outcome) {
      CHECK(outcome.reports.empty());
      const std::uint32_t words = 32 * pipe.consumers;
      const std::uint32_t last = 1024 + (pipe.output ? (pipe.turns - 1) * words : 0);
      for (std::uint32_t word = 0; word < words; ++word) CHECK(outcome.words[last + word] == word);
    });
  }
}

TEST_CASE("the first report of a random pipeline with a mistake is of this mistake") {
  std::mt19937 random(static_cast<std::mt19937::result_type>(tests::seed(20261127)));
  for (const Mistake& mistake : mistakes) {
    for (int i = 0; i < 2; ++i) {
      in_all_modes(draw(random, mistake.name), mistake.name, [&](const Outcome& outcome) {
        REQUIRE_FALSE(outcome.reports.empty());
        const Report& first = outcome.reports.front();
        CAPTURE(mistake.rules, mistake.words);
        CHECK(std::ranges::find(mistake.rules, first.rule) != mistake.rules.end());
        CHECK(first.found.find(mistake.words) != std::string::npos);
      });
    }
  }
}

}  // namespace pipelines_test
