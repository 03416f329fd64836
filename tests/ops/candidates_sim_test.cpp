/// Random permutations by any of the kernels that could do them, not only by the one that the cost model
/// takes, on the simulated device.
#include "families/shared/blocks.hpp"
#include "ops/every_candidate.hpp"
#include "reference/random_moves.hpp"

#include <tmajit/error.hpp>
#include <tmajit/sim.hpp>

#include <array>
#include <iostream>
#include <memory>
#include <set>
#include <vector>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;
using reference::between, reference::Buffers, reference::RandomMove;

namespace {

constexpr std::array tile_orders{TileOrder::destination, TileOrder::source, TileOrder::square,
                                 TileOrder::grouped};

Tensor at(const reference::BufferView& view, const std::vector<Buffer>& buffers) {
  return {view.view, buffers[view.buffer].address() + view.offset};
}

}  // namespace

TEST_CASE("random transposes by random candidates equal the reference, and nothing is reported") {
  const std::uint64_t cases = reference::from_environment("TMAJIT_CASES", 90);
  const std::uint64_t seed = reference::seed(20261121);
  std::cout << "TMAJIT_SEED=" << seed << ", " << cases << " cases" << std::endl;
  const std::shared_ptr<Device> device = make_sim_device({.threads = 1});
  Runtime runtime({.device = device, .cache_directory = std::nullopt});
  reference::Random random(seed);
  std::set<std::uint32_t> widths;
  for (std::uint64_t pattern = seed, done = 0; done < cases; ++pattern) {
    const RandomMove drawn =
        reference::random_move(pattern, 0, {.elements = 4000, .most_elements = 12'000, .guard = 0});
    if (drawn.kind != reference::MoveKind::permute) continue;
    INFO("TMAJIT_SEED=" << seed << ", pattern " << pattern << ": " << describe(drawn));
    std::vector<Buffer> buffers;
    for (const std::uint64_t bytes : drawn.buffers) buffers.emplace_back(device, bytes);

    const Move move{at(drawn.destinations[0], buffers),
                    {permuted(at(drawn.sources[0], buffers), drawn.axes)}};
    const Problem problem = make_problem(move);
    if (problem.nest.empty() || layout_of(problem) != Layout::blocks) continue;
    ++done;
    const std::vector<Candidate> candidates = tests::candidates_of(problem);
    Candidate candidate = candidates[between(random, 0, candidates.size() - 1)];
    // Orders are for larger tensors than these, and for transposes.
    if (tests::is_of(candidate, "transpose")) {
      auto facts = facts_of<BlockFacts>(candidate);
      facts.order = reference::one_of(random, tile_orders);
      BlockChoice choice = BlockFamily::data(candidate).choice;
      choice.order = static_cast<std::uint32_t>(facts.order);
      candidate = tests::with(std::move(candidate), facts, choice);
      widths.insert(facts.vector_bytes());
    }
    INFO(tests::choice_text(candidate));
    Buffers bytes = random_buffers(drawn, pattern);
    Buffers expected = bytes;
    reference::apply(drawn, expected);
    try {
      for (std::size_t i = 0; i < buffers.size(); ++i)
        device->memory().copy_in(buffers[i].address(), bytes[i], nullptr);
      tests::launch(runtime, problem, candidate);
      device->streams().synchronize(nullptr);
      for (std::size_t i = 0; i < buffers.size(); ++i)
        device->memory().copy_out(bytes[i], buffers[i].address(), nullptr);
      CHECK(difference(drawn, expected, bytes) == "");
    } catch (const Error& error) {
      FAIL_CHECK(error.what());
    }
  }
  CHECK(widths.contains(8));
  CHECK(widths.contains(16));
}
