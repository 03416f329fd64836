/// Random cases of every operation on the simulated device must give the reference's results, without
/// reports.
#include "operations/names.hpp"
#include "ops/own_memory.hpp"
#include "ops/run_case.hpp"
#include "ptx_alone.hpp"
#include "seed.hpp"

#include <tmajit/error.hpp>
#include <tmajit/operations.hpp>
#include <tmajit/sim.hpp>

#include <iostream>
#include <vector>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;

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

void run_cases(std::string_view operation) {
  // Recipes make moves of rowwise, whose kernels its own cases vary.
  const bool is_recipe = !find_operation(operation).sources.empty();
  const std::uint64_t cases = tests::from_environment("TMAJIT_CASES", is_recipe ? 6 : 24);
  const std::uint64_t seed = tests::seed(20261121);
  std::cout << "TMAJIT_SEED=" << seed << ", " << cases << " cases" << std::endl;
  // One device for each mode. Only the kernels of the first mode are also compiled by ptxas.
  std::vector<std::unique_ptr<Runtime>> runtimes;
  for (std::uint64_t mode = 0; mode < 4; ++mode) {
    runtimes.push_back(std::make_unique<Runtime>(
        RuntimeOptions{.device = make_sim_device(options_of(mode)),
                       .cache_directory = tests::shared_kernels(),
                       .compile = mode == 0 ? CompileOptions{} : tests::ptx_without_lines}));
  }
  tests::KernelsMet met;
  for (std::uint64_t n = 0; n < cases; ++n) {
    // Two launch seeds of each kernel seed run on the same device.
    const auto test_case = reference::random_test_case(
        operation, seed + n / 2, n, {.elements = 3000, .max_elements = 20'000, .guard = 0});
    INFO("TMAJIT_SEED=" << seed << ", case " << n << ": " << test_case.text());
    Runtime& runtime = *runtimes[n / 2 % 4];
    try {
      CHECK(tests::run_case(runtime, test_case, tests::own_memory(runtime.device()), seed + n, n, met) == "");
    } catch (const Error& error) {
      FAIL_CHECK(error.what());
    }
  }
  std::cout << met.text();
}

}  // namespace

#define TMAJIT_TEST_CASES(name)                                                        \
  TEST_CASE("random cases of " #name                                                   \
            " on the simulated device equal the reference, and nothing is reported") { \
    run_cases(#name);                                                                  \
  }
TMAJIT_FOR_EACH_OPERATION(TMAJIT_TEST_CASES)
#undef TMAJIT_TEST_CASES

TEST_CASE("random cases of few kernel seeds in several threads equal the reference, as in the GPU test") {
  const std::uint64_t seed = tests::seed(20261121);
  const std::uint64_t cases = tests::from_environment("TMAJIT_CASES", 60);
  SimOptions options;
  options.threads = 1;
  Runtime runtime({.device = make_sim_device(options),
                   .cache_directory = tests::shared_kernels(),
                   .compile = tests::ptx_without_lines});
  const tests::RandomRunResult result =
      tests::run_random_cases(runtime, {.seed = seed,
                                        .cases = cases,
                                        .kernel_seeds = tests::from_environment("TMAJIT_KERNEL_SEEDS", 17),
                                        .threads = 3,
                                        .limits = {.elements = 2000, .max_elements = 12'000}});
  std::cout << "TMAJIT_SEED=" << seed << ": " << result.text();
  for (const std::string& failure : result.failures) FAIL_CHECK(failure);
  CHECK(result.cases == cases);
}
