/// Random windows on the simulated device, which reports what their kernels do wrong, against the reference.
#include "ops/run_windows.hpp"
#include "reference/random_maps.hpp"

#include <tmajit/error.hpp>
#include <tmajit/plan.hpp>
#include <tmajit/sim.hpp>

#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;

namespace {

using Make = reference::RandomWindows (*)(std::uint64_t seed, std::uint64_t most);
using Run = std::string (*)(const Runtime& runtime, const reference::RandomWindows& windows,
                            std::uint64_t seed, const tests::WindowsChoice& choice);

/// Runs so many random cases, the planner's kernel and any other in turn, on devices of every mode.
void run_cases(Make make, std::uint64_t most, Run run, std::uint64_t cases) {
  const std::uint64_t seed = reference::seed(20261123);
  std::cout << "TMAJIT_SEED=" << seed << ", " << cases << " cases" << std::endl;
  std::vector<Runtime> runtimes;
  for (const auto mode : {SimOptions::Mode::late, SimOptions::Mode::random, SimOptions::Mode::early}) {
    SimOptions options;
    options.threads = 1;
    options.mode = mode;
    runtimes.push_back(Runtime({.device = make_sim_device(options), .cache_directory = std::nullopt}));
  }
  std::size_t by_engine = 0;
  for (std::uint64_t n = 0; n < cases; ++n) {
    const reference::RandomWindows windows = make(seed + n, most);
    INFO("TMAJIT_SEED=" << seed << ", case " << n << ": " << windows.text());
    try {
      CHECK(run(runtimes[n % 3], windows, seed + n, [&](std::span<const KernelPlan> plans) {
              const std::size_t chosen = n % 2 == 0 ? 0 : (seed + n) % plans.size();
              by_engine += plans[chosen].choice().number("stages") > 0 ? 1U : 0U;
              return chosen;
            }) == "");
    } catch (const Error& error) {
      FAIL_CHECK(error.what());
    }
  }
  if (cases < 24) return;
  CHECK(by_engine > cases / 4);
  CHECK(by_engine < cases * 9 / 10);
}

}  // namespace

TEST_CASE("windows: random ones on the simulated device equal the reference, and nothing is reported") {
  run_cases(reference::random_windows, 20'000, tests::run_im2col,
            reference::from_environment("TMAJIT_CASES", 60));
}

TEST_CASE("convolutions: random ones on the simulated device equal the reference, and nothing is reported") {
  run_cases(reference::random_convolution, 200'000, tests::run_convolution,
            reference::from_environment("TMAJIT_CASES", 24));
}
