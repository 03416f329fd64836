/// Random moves of every kind on the GPU, against the reference: TMAJIT_CASES of them, of TMAJIT_PATTERNS
/// patterns.
#include "gpu/support.hpp"
#include "ops/random_run.hpp"

#include <algorithm>
#include <thread>

using namespace tmajit;

TEST_CASE("random moves of every kind equal the reference, every byte around them too", "[gpu]") {
  REQUIRE_HOPPER(device);
  const std::uint64_t cases = gpu::from_environment("TMAJIT_CASES", 2000);
  Runtime runtime({.device = device, .cache_directory = std::nullopt});
  const tests::RandomRunResult result = tests::run_random_moves(
      runtime,
      {.seed = gpu::seed(),
       .cases = cases,
       .patterns = gpu::from_environment("TMAJIT_PATTERNS", std::max<std::uint64_t>(cases / 10, 200)),
       .threads = std::clamp(std::thread::hardware_concurrency(), 1U, 16U)});
  std::cout << result.text();
  for (const std::string& failure : result.failures) FAIL_CHECK(failure);
  CHECK(result.cases == cases);
}
