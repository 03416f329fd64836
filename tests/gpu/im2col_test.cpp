// The example convolution on a GPU. src/conformance tests single copies of pixels.
#include "gpu/convolution_runs.hpp"
#include "gpu/support.hpp"

#include <catch2/catch_test_macros.hpp>

TEST_CASE("the example convolution gives the results of loops on the CPU", "[gpu]") {
  REQUIRE_HOPPER(device);
  const auto used_seed = gpu::seed();
  reference::Random random(used_seed);
  gpu::ConvolutionRuns runs(device);
  const auto count = gpu::from_environment("TMAJIT_CASES", 200);
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto problem = gpu::random_convolution(random);
    INFO("TMAJIT_SEED=" << used_seed << ", case " << i << ": " << gpu::describe(problem));
    CHECK(runs.wrong_results(problem, i) == 0);
  }
}
