/// CTAs pass data to each other by flags: races are reported for exactly the words whose accesses are not
/// ordered.
#include "ptx_alone.hpp"
#include "reference/random.hpp"
#include "reference/random_maps.hpp"
#include "sim/support.hpp"

#include <tmajit/codegen.hpp>

#include <algorithm>
#include <iostream>
#include <set>

#include <spdlog/fmt/fmt.h>

namespace handover_test {

using namespace tmajit;

namespace {

constexpr const char* prelude = R"(
using u32 = unsigned;
__device__ void put(u32* at) { asm volatile("st.global.u32 [%0], %1;" ::"l"(at), "r"(1) : "memory"); }
__device__ void get(const u32* at) {
  u32 value;
  asm volatile("ld.global.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
}
__device__ void release0(u32* at) { asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(at), "r"(1) : "memory"); }
__device__ void release1(u32* at) { __threadfence(); *(volatile u32*)at = 1; }
__device__ void release2(u32* at) { __threadfence(); atomicAdd(at, 1); }
__device__ void release3(u32* at) { asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(at) : "memory"); }
__device__ void acquire0(u32* at) {
  u32 value;
  do asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory"); while (value == 0);
}
__device__ void acquire1(u32* at) { while (*(volatile u32*)at == 0) {} __threadfence(); }
)";

/// A step of the only thread of a CTA. The order of the steps in a list is one in which they can be executed:
/// an acquire comes after the release for which it waits.
struct Step {
  enum class Kind : std::uint8_t { put, get, release, acquire };
  Kind kind{};
  std::uint32_t cta = 0;
  std::uint32_t word = 0;  ///< index of a data word or of a flag
  std::uint32_t way = 0;   ///< variant of the release, or of the acquire
};

/// A kernel of CTAs that pass words to each other by flags. At most two steps access a word, and one of them
/// is a write.
struct Handovers {
  std::uint32_t ctas = 0;
  std::uint32_t words = 0;
  std::vector<Step> steps;
};

Handovers random_handovers(reference::Random& random) {
  Handovers handovers;
  handovers.ctas = static_cast<std::uint32_t>(reference::between(random, 2, 6));
  const auto cta = [&] {
    return static_cast<std::uint32_t>(reference::between(random, 0, handovers.ctas - 1));
  };
  const auto way = [&](std::uint64_t n) {
    return static_cast<std::uint32_t>(reference::between(random, 0, n - 1));
  };
  std::uint32_t flags = 0;
  std::vector<std::uint32_t> unread;
  const std::uint64_t count = reference::between(random, 10, 60);
  while (handovers.steps.size() < count) {
    switch (reference::between(random, 0, 3)) {
      case 0:
        unread.push_back(handovers.words);
        handovers.steps.push_back({Step::Kind::put, cta(), handovers.words++, 0});
        break;
      case 1: {
        if (unread.empty()) break;
        const std::size_t which = reference::between(random, 0, unread.size() - 1);
        const auto kind = reference::one_in(random, 4) ? Step::Kind::put : Step::Kind::get;
        handovers.steps.push_back({kind, cta(), unread[which], 0});
        unread.erase(unread.begin() + static_cast<std::ptrdiff_t>(which));
        break;
      }
      case 2: handovers.steps.push_back({Step::Kind::release, cta(), flags++, way(4)}); break;
      default:
        if (flags != 0)
          handovers.steps.push_back({Step::Kind::acquire, cta(),
                                     static_cast<std::uint32_t>(reference::between(random, 0, flags - 1)),
                                     way(2)});
    }
  }
  return handovers;
}

std::string text_of(const Handovers& handovers) {
  std::string text = std::string(prelude) + "extern \"C\" __global__ void k(u32* data, u32* flags) {\n";
  constexpr const char* names[] = {"put", "get", "release", "acquire"};
  for (std::uint32_t cta = 0; cta < handovers.ctas; ++cta) {
    text += fmt::format("if (blockIdx.x == {}) {{\n", cta);
    for (const Step& step : handovers.steps) {
      if (step.cta != cta) continue;
      const bool data = step.kind == Step::Kind::put || step.kind == Step::Kind::get;
      text += fmt::format("  {}{}({} + {});\n", names[static_cast<std::size_t>(step.kind)],
                          data ? "" : std::to_string(step.way), data ? "data" : "flags", step.word);
    }
    text += "}\n";
  }
  return text + "}\n";
}

/// The words whose two accesses no chain of steps and flags orders.
std::set<std::uint32_t> unordered_words(const Handovers& handovers) {
  const std::size_t count = handovers.steps.size();
  std::vector<std::vector<bool>> before(count, std::vector<bool>(count));
  for (std::size_t later = 0; later < count; ++later) {
    for (std::size_t earlier = 0; earlier < later; ++earlier) {
      const Step& a = handovers.steps[earlier];
      const Step& b = handovers.steps[later];
      const bool passes_flag =
          a.kind == Step::Kind::release && b.kind == Step::Kind::acquire && a.word == b.word;
      if (a.cta != b.cta && !passes_flag) continue;
      before[later][earlier] = true;
      for (std::size_t i = 0; i < earlier; ++i) before[later][i] = before[later][i] || before[earlier][i];
    }
  }
  std::set<std::uint32_t> words;
  const auto touches = [](const Step& step) {
    return step.kind == Step::Kind::put || step.kind == Step::Kind::get;
  };
  for (std::size_t later = 0; later < count; ++later) {
    for (std::size_t earlier = 0; earlier < later; ++earlier) {
      if (touches(handovers.steps[earlier]) && touches(handovers.steps[later]) &&
          handovers.steps[earlier].word == handovers.steps[later].word && !before[later][earlier])
        words.insert(handovers.steps[later].word);
    }
  }
  return words;
}

}  // namespace

TEST_CASE("races are reported for exactly the unordered accesses when CTAs randomly pass data") {
  const std::uint64_t cases = reference::from_environment("TMAJIT_CASES", 12);
  const std::uint64_t seed = reference::seed(20261123);
  std::cout << "TMAJIT_SEED=" << seed << ", " << cases << " cases" << std::endl;
  std::size_t races = 0;
  for (std::uint64_t n = 0; n < cases; ++n) {
    reference::Random random(seed + n);
    const Handovers handovers = random_handovers(random);
    const std::string text = text_of(handovers);
    const std::set<std::uint32_t> expected = unordered_words(handovers);
    races += expected.size();
    const Artifact artifact = compile(custom_source(text, "k"), tests::ptx_alone);
    for (const auto mode : {SimOptions::Mode::late, SimOptions::Mode::random}) {
      for (const std::uint32_t threads : {1, 2, 5}) {
        const auto sim = make_sim_device({.mode = mode, .seed = seed + n, .threads = threads});
        const Buffer data(sim, 4096);
        const Buffer flags(sim, 4096);
        for (const Buffer* const each : {&data, &flags})
          sim->memory().fill(each->address(), std::byte{0}, each->bytes(), nullptr);
        std::uint64_t addresses[] = {data.address(), flags.address()};
        void* const parameters[] = {&addresses[0], &addresses[1]};
        sim->kernels().load(artifact)->launch({.grid = {handovers.ctas, 1, 1}}, parameters, nullptr);
        INFO("TMAJIT_SEED=" << seed << ", case " << n << ", mode " << static_cast<int>(mode) << ", "
                            << threads << " threads\n"
                            << text);
        std::set<std::uint32_t> found;
        for (const Report& report : sim->reports()) {
          INFO(report.text());
          CHECK(report.rule.starts_with("race.global-"));
          const std::size_t at = report.found.find("0x");
          REQUIRE(at != std::string::npos);
          found.insert(static_cast<std::uint32_t>(
              (std::stoull(report.found.substr(at), nullptr, 16) - data.address()) / 4));
        }
        CHECK(found == expected);
      }
    }
  }
  CHECK(races > cases);
}

}  // namespace handover_test
