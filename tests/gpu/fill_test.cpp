/// Random fills on the GPU, by every candidate, against the reference.
#include "families/fills.hpp"
#include "gpu/support.hpp"

using namespace tmajit;

TEST_CASE("random fills on a GPU equal the reference", "[gpu]") {
  REQUIRE_HOPPER(device);
  Runtime runtime({.device = device, .cache_directory = std::nullopt});
  reference::Random random(gpu::seed());
  const std::uint64_t cases = gpu::from_environment("TMAJIT_CASES", 60);
  for (std::uint64_t n = 0; n < cases; ++n) {
    const tests::RandomFill fill = tests::random_fill(random, n % 10 == 0 ? 3'000'000 : 20'000);
    INFO("case " << n << ": " << fill.text());
    CHECK(tests::run_fill(runtime, fill) == "");
  }
}
