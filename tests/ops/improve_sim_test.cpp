// The option Improve, which times candidates during a program's calls: every call must give the reference's
// results on the simulated device.
#include "ops/own_memory.hpp"
#include "ptx_alone.hpp"
#include "seed.hpp"

#include <tmajit/error.hpp>
#include <tmajit/sim.hpp>

#include <iostream>
#include <set>
#include <string>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;
using reference::Buffers, reference::TestCase;

TEST_CASE("every call during a trial of candidates equals the reference, and nothing is reported") {
  const std::uint64_t cases = tests::from_environment("TMAJIT_CASES", 25);
  const std::uint64_t seed = tests::seed(20261122);
  std::cout << "TMAJIT_SEED=" << seed << ", " << cases << " cases" << std::endl;
  SimOptions options;
  options.threads = 1;
  const auto device = make_sim_device(options);
  Runtime runtime({.device = device,
                   .cache_directory = tests::shared_kernels(),
                   .compile = tests::ptx_without_lines,
                   .improve = {.candidates = 3, .timed_calls = 1, .min_predicted_us = 0}});
  std::set<std::string> tried;
  std::uint64_t improved = 0;
  for (std::uint64_t n = 0; n < cases; ++n) {
    const TestCase move = reference::random_test_case(reference::elementwise_operations, seed + n, n,
                                                      {.elements = 1000, .max_elements = 6000, .guard = 0});
    INFO("TMAJIT_SEED=" << seed << ", case " << n << ": " << move.text());
    const Buffers before = random_buffers(move, seed + n);
    const reference::Expected right = expected(move, before);
    try {
      tests::OwnMemory memory(device, move);
      const Plan plan = tmajit::plan(runtime, reference::operation_of(move, memory.addresses()));
      const std::string default_choice = plan.plans().empty() ? "" : plan.plans()[0].choice().text();
      for (int call = 0; call < 24; ++call) {
        memory.write(before);
        plan();
        CHECK(difference(move, right, memory.read(before)) == "");
      }
      if (!plan.plans().empty()) tried.insert(plan.plans()[0].family().name.data());
      if (!plan.plans().empty() && plan.plans()[0].choice().text() != default_choice) ++improved;
    } catch (const Error& error) {
      FAIL_CHECK(error.what());
    }
  }
  const TuningTable& found = tuning(runtime);
  std::cout << "  " << improved << " plans improved, " << tried.size() << " families\n";
  std::uint64_t added = 0;
  for (const TunedChoice& one : found.all()) added += found.has_added(one.chip, one.shape_class) ? 1U : 0U;
  CHECK(added > cases / 5);
  CHECK(device->reports().empty());
}
