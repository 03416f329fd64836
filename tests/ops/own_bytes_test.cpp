/// No candidate of a move may read a byte outside of its sources. Every tensor fills its allocation, so that
/// the simulated device reports such reads.
#include "families/flat/flat_layout.hpp"
#include "ops/every_candidate.hpp"
#include "ops/own_memory.hpp"
#include "ptx_alone.hpp"
#include "seed.hpp"

#include <tmajit/error.hpp>
#include <tmajit/sim.hpp>

#include <iostream>
#include <map>
#include <string_view>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;
using reference::Buffers, reference::TestCase;

namespace {

/// Whether case `n` uses the problem. The cases alternate between any problems, transposes and flat tiles.
bool suits(const Problem& problem, std::uint64_t n) {
  if (problem.nest.empty()) return false;
  return n % 3 == 0 ||
         (n % 3 == 1 ? layout_of(problem) == Layout::blocks : FlatPlanner(problem).supports_problem());
}

}  // namespace

TEST_CASE("random candidates of random moves read only bytes of their sources") {
  const std::uint64_t cases = tests::from_environment("TMAJIT_CASES", 90);
  const std::uint64_t seed = tests::seed(20261122);
  std::cout << "TMAJIT_SEED=" << seed << ", " << cases << " cases" << std::endl;
  Runtime runtime({.device = make_sim_device({.threads = 1}),
                   .cache_directory = tests::shared_kernels(),
                   .compile = tests::ptx_without_lines});
  reference::Random random(seed);
  std::map<std::string_view, std::uint64_t> counts;
  for (std::uint64_t pattern = seed, done = 0; done < cases; ++pattern) {
    const TestCase test_case = reference::random_test_case(
        reference::elementwise_operations, pattern, 0, {.elements = 2000, .max_elements = 8000, .guard = 0});
    tests::OwnMemory memory(runtime.device(), test_case);
    const Operation operation = reference::operation_of(test_case, memory.addresses());
    if (operation.moves.empty() || !suits(make_problem(operation.moves[0]), done)) continue;
    ++done;
    INFO("TMAJIT_SEED=" << seed << ", pattern " << pattern << ": " << test_case.text());
    const Buffers before = random_buffers(test_case, pattern);
    memory.write(before);
    for (const Move& move : operation.moves) {
      const Problem problem = make_problem(move);
      if (problem.nest.empty()) continue;
      const std::vector<Candidate> candidates = tests::candidates_of(problem);
      const Candidate& candidate = candidates[reference::between(random, 0, candidates.size() - 1)];
      INFO(tests::choice_text(candidate));
      ++counts[candidate.family->name()];
      try {
        tests::launch(runtime, problem, candidate);
      } catch (const Error& error) {
        FAIL_CHECK(error.what());
      }
    }
    CHECK(difference(test_case, expected(test_case, before), memory.read(before)) == "");
  }
  for (const auto& [kernel, times] : counts) std::cout << "  " << kernel << ": " << times << '\n';
}
