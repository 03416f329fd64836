// The example kernel of a forward convolution, which loads pixels by im2col, on the simulated device.
#include "gpu/convolution_runs.hpp"

#include <tmajit/sim.hpp>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;

TEST_CASE("the example convolution gives the results of loops, without reports") {
  const auto used_seed = reference::seed(20261124);
  reference::Random random(used_seed);
  const auto sim = make_sim_device({});
  gpu::ConvolutionRuns runs(sim);
  const auto count = reference::from_environment("TMAJIT_CASES", 40);
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto problem = gpu::random_convolution(random);
    INFO("TMAJIT_SEED=" << used_seed << ", case " << i << ": " << gpu::describe(problem));
    REQUIRE(runs.wrong_results(problem, i) == 0);
    REQUIRE(sim->reports().empty());
  }
}
