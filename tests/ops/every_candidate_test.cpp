/// Random permutations by every candidate of the planner, on the simulated device, which reports mistakes of
/// kernels.
#include "ops/every_candidate.hpp"

#include "ptx_alone.hpp"
#include "reference/random_maps.hpp"

#include <tmajit/error.hpp>
#include <tmajit/sim.hpp>

#include <algorithm>
#include <iostream>
#include <map>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;

namespace {

/// Whether the candidate's tensor maps have fewer dimensions than the nest, so that some nest dimensions
/// share the map's outermost one.
bool shares_dimension(const Candidate& candidate, const Problem& problem) {
  const std::vector<Parameter> parameters = make_kernel_plan(candidate, problem).parameters();
  return std::ranges::any_of(
      parameters, [&](const Parameter& one) { return one.map && one.map->rank < problem.nest.rank; });
}

}  // namespace

TEST_CASE("a nest with more dimensions than a tensor map has shares the map's outermost one") {
  Runtime runtime({.device = make_sim_device({.threads = 1}),
                   .cache_directory = tests::shared_kernels(),
                   .compile = tests::ptx_without_lines});
  // Axes (4, 2, 0, 3, 1, 5) of 3x2x5x4x3x32: no dimensions merge.
  tests::EveryCandidate move(
      runtime, tests::move_operand(ElementType::f32, {3, 5, 3, 4, 2, 32}, {3840, 768, 256, 64, 32, 1}),
      {tests::move_operand(ElementType::f32, {3, 5, 3, 4, 2, 32}, {32, 384, 3840, 96, 1920, 1})});
  std::uint32_t shared = 0;
  for (const Candidate& candidate : move.candidates()) {
    CHECK(move.run(candidate) == "");
    if (shares_dimension(candidate, move.problem())) ++shared;
  }
  CHECK(shared > 0);
}

TEST_CASE(
    "transposes of bytes have candidates with vectors of 4 bytes, none of which is chosen without a "
    "measurement") {
  Runtime runtime({.device = make_sim_device({.threads = 1}),
                   .cache_directory = tests::shared_kernels(),
                   .compile = tests::ptx_without_lines});
  // Axes (1, 0) of 100x68 and of 128x64, and (2, 1, 0) of 36x3x20.
  const tests::RandomPermutation moves[] = {{tests::move_operand(ElementType::u8, {68, 100}, {100, 1}),
                                             tests::move_operand(ElementType::u8, {68, 100}, {1, 68})},
                                            {tests::move_operand(ElementType::u8, {64, 128}, {128, 1}),
                                             tests::move_operand(ElementType::u8, {64, 128}, {1, 64})},
                                            {tests::move_operand(ElementType::u8, {20, 3, 36}, {108, 36, 1}),
                                             tests::move_operand(ElementType::u8, {20, 3, 36}, {1, 20, 60})}};
  for (const auto& [destination, source] : moves) {
    tests::EveryCandidate move(runtime, destination, {source});
    std::uint32_t by_words = 0;
    for (const Candidate& candidate : move.candidates()) {
      if (!tests::is_of_family(candidate, "direct_transpose") && !tests::is_of_family(candidate, "transpose"))
        continue;
      if (candidate.family->choice(candidate).number("vector_bytes") != 4) continue;
      INFO(tests::choice_text(candidate));
      CHECK(tests::choice_text(candidate).find(" by 4, ") != std::string::npos);
      CHECK_FALSE(candidate.common);
      CHECK(move.run(candidate) == "");
      ++by_words;
    }
    CHECK(by_words > 0);
  }
}

TEST_CASE("every candidate of random permutations moves every element, and nothing is reported") {
  const std::uint64_t cases = reference::from_environment("TMAJIT_CASES", 9);
  const std::uint64_t seed = reference::seed(20261121);
  std::cout << "TMAJIT_SEED=" << seed << ", " << cases << " cases" << std::endl;
  Runtime runtime = tests::random_order_runtime();
  std::map<std::string_view, std::uint64_t> counts;
  for (std::uint64_t n = 0; n < cases; ++n) {
    const tests::RandomPermutation permutation = tests::random_permutation(seed + n, 12'000);
    INFO("TMAJIT_SEED=" << seed << ", case " << n << ": " << permutation.text());
    try {
      tests::EveryCandidate move(runtime, permutation.destination, {permutation.source});
      for (const Candidate& candidate : move.candidates()) {
        CHECK(move.run(candidate) == "");
        ++counts[candidate.family->name()];
      }
    } catch (const Error& error) {
      FAIL_CHECK(error.what());
    }
  }
  for (const auto& [kernel, times] : counts) std::cout << "  " << kernel << ": " << times << '\n';
}
