/// Random moves of every kind on the simulated device, which reports what their kernels do wrong, against the
/// reference.
#include "ops/own_memory.hpp"
#include "ops/random_run.hpp"

#include <tmajit/error.hpp>
#include <tmajit/sim.hpp>

#include <iostream>
#include <vector>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;
using reference::Buffers, reference::RandomMove;

namespace {

SimOptions options_of(std::uint64_t n) {
  constexpr SimOptions::Mode modes[] = {SimOptions::Mode::late, SimOptions::Mode::random,
                                        SimOptions::Mode::late, SimOptions::Mode::early};
  SimOptions options;
  options.mode = modes[n % 4];
  options.seed = n + 1;
  options.threads = 1;
  return options;
}

}  // namespace

TEST_CASE("random moves on the simulated device equal the reference, and nothing is reported") {
  const std::uint64_t cases = reference::from_environment("TMAJIT_CASES", 150);
  const std::uint64_t seed = reference::seed(20261121);
  std::cout << "TMAJIT_SEED=" << seed << ", " << cases << " cases" << std::endl;
  // A device for each mode, whose kernels are compiled once.
  std::vector<std::unique_ptr<Runtime>> runtimes;
  for (std::uint64_t mode = 0; mode < 4; ++mode) {
    runtimes.push_back(std::make_unique<Runtime>(
        RuntimeOptions{.device = make_sim_device(options_of(mode)), .cache_directory = std::nullopt}));
  }
  tests::KernelCounts counts;
  for (std::uint64_t n = 0; n < cases; ++n) {
    // Two variations of a pattern run on one device.
    const RandomMove move =
        reference::random_move(seed + n / 2, n, {.elements = 2000, .most_elements = 12'000, .guard = 0});
    INFO("TMAJIT_SEED=" << seed << ", case " << n << ": " << describe(move));
    Runtime& runtime = *runtimes[n / 2 % 4];
    const Buffers before = random_buffers(move, seed + n);
    Buffers expected = before;
    reference::apply(move, expected);
    try {
      tests::OwnMemory memory(runtime.device(), move);
      memory.write(before);
      const MovePlan plan = tests::plan(runtime, move, memory.addresses());
      plan();
      runtime.device()->streams().synchronize(nullptr);
      tests::count(plan, counts);
      CHECK(difference(move, expected, memory.read(before)) == "");

      if (n % 4 != 0) continue;
      tests::OwnMemory elsewhere(runtime.device(), move, tests::largest_element(move));
      elsewhere.write(before);
      const auto [destinations, sources] = tests::addresses(move, elsewhere.addresses());
      plan(destinations, sources);
      runtime.device()->streams().synchronize(nullptr);
      CHECK(difference(move, expected, elsewhere.read(before)) == "");
    } catch (const Error& error) {
      FAIL_CHECK(error.what());
    }
  }
  for (const auto& [kernel, times] : counts) std::cout << "  " << kernel << ": " << times << '\n';
}

TEST_CASE("random moves in several threads, of few patterns: what the test on the GPU does") {
  const std::uint64_t seed = reference::seed(20261121);
  SimOptions options;
  options.threads = 1;
  Runtime runtime({.device = make_sim_device(options), .cache_directory = std::nullopt});
  const tests::RandomRunResult result =
      tests::run_random_moves(runtime, {.seed = seed,
                                        .cases = reference::from_environment("TMAJIT_CASES", 100),
                                        .patterns = reference::from_environment("TMAJIT_PATTERNS", 10),
                                        .threads = 3,
                                        .limits = {.elements = 2000, .most_elements = 12'000}});
  std::cout << "TMAJIT_SEED=" << seed << ": " << result.text();
  for (const std::string& failure : result.failures) FAIL_CHECK(failure);
}
