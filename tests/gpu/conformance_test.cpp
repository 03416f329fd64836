/// The conformance suite on a GPU. After a case that makes the device unusable, no more cases run here; `jitc
/// conformance` runs the remaining ones in a new process.
#include "conformance/bench.hpp"
#include "conformance/suite.hpp"
#include "gpu/support.hpp"

#include <catch2/catch_test_macros.hpp>
#include <spdlog/fmt/ranges.h>

TEST_CASE("a GPU agrees with the CPU in every case of the conformance suite", "[gpu]") {
  REQUIRE_HOPPER(device);
  conformance::Bench bench(device, nullptr, std::nullopt);
  const auto seed = gpu::seed();
  for (const auto& each : conformance::all_cases()) {
    const auto result = bench.run(each, seed);
    INFO("TMAJIT_SEED=" << seed << ' ' << each.name << ": " << result.wrong << " of " << result.trials
                        << " trials\n"
                        << fmt::format("{}", fmt::join(result.differences, "\n")) << result.error);
    CHECK(result.agrees());
    REQUIRE_FALSE(result.device_ended);
  }
}
