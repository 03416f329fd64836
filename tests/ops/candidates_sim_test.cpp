/// Random permutations on the simulated device by random candidates, not only by the one that the cost model
/// chooses.
#include "families/shared/blocks.hpp"
#include "ops/every_candidate.hpp"
#include "ops/own_memory.hpp"
#include "ptx_alone.hpp"
#include "seed.hpp"

#include <tmajit/error.hpp>
#include <tmajit/sim.hpp>

#include <array>
#include <iostream>
#include <memory>
#include <set>
#include <vector>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;
using reference::between, reference::Buffers, reference::TestCase;

namespace {

constexpr std::array tile_orders{TileOrder::destination, TileOrder::source};

}  // namespace

TEST_CASE("random transposes by random candidates equal the reference, and nothing is reported") {
  const std::uint64_t cases = tests::from_environment("TMAJIT_CASES", 54);
  const std::uint64_t seed = tests::seed(20261121);
  std::cout << "TMAJIT_SEED=" << seed << ", " << cases << " cases" << std::endl;
  const std::shared_ptr<Device> device = make_sim_device({.threads = 1});
  Runtime runtime(
      {.device = device, .cache_directory = tests::shared_kernels(), .compile = tests::ptx_without_lines});
  reference::Random random(seed);
  std::set<std::uint32_t> widths;
  for (std::uint64_t pattern = seed, done = 0; done < cases; ++pattern) {
    const TestCase test_case = reference::random_test_case(
        "permute", pattern, 0, {.elements = 4000, .max_elements = 12'000, .guard = 0});
    INFO("TMAJIT_SEED=" << seed << ", pattern " << pattern << ": " << test_case.text());
    tests::OwnMemory memory(device, test_case);
    const Move move = reference::operation_of(test_case, memory.addresses()).moves.front();
    const Problem problem = make_problem(move);
    if (problem.nest.empty() || layout_of(problem) != Layout::blocks) continue;
    ++done;
    const std::vector<Candidate> candidates = tests::candidates_of(problem);
    Candidate candidate = candidates[between(random, 0, candidates.size() - 1)];
    // Candidates of tensors this small differ little in tile order, so transposes get a random one.
    if (tests::is_of_family(candidate, "transpose")) {
      auto facts = facts_of<BlockFacts>(candidate);
      facts.order = reference::one_of(random, tile_orders);
      BlockChoice choice = BlockFamily::data(candidate).choice;
      choice.order = static_cast<std::uint32_t>(facts.order);
      candidate = tests::with_facts(std::move(candidate), facts, choice);
      widths.insert(facts.vector_bytes());
    }
    INFO(tests::choice_text(candidate));
    const Buffers before = random_buffers(test_case, pattern);
    try {
      memory.write(before);
      tests::launch(runtime, problem, candidate);
      CHECK(difference(test_case, expected(test_case, before), memory.read(before)) == "");
    } catch (const Error& error) {
      FAIL_CHECK(error.what());
    }
  }
  CHECK(widths.contains(8));
  CHECK(widths.contains(16));
}
