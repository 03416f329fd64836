/// The conformance bench finds a device with wrong results.
#include "conformance/bench.hpp"

#include "conformance/random_tile.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace conformance;
using namespace tmajit;
using Catch::Matchers::ContainsSubstring;

namespace {

/// A case of two equal loads of a tile. `change` changes the trial of each.
Case loads_with(const std::function<void(Trial&)>& change) {
  return {.name = "one load",
          .instructions = {"cp.async.bulk.tensor"},
          .what = "of a tile",
          .trials = [change](reference::Random& random) {
            Trial trial = trial_of(random_tile(random, TileCopy::Kind::load, {}), random);
            change(trial);
            return std::vector{trial, trial};
          }};
}

Result run(const Case& each) {
  const auto device = make_sim_device();
  return Bench(device, device, std::nullopt).run(each, 1);
}

}  // namespace

TEST_CASE("wrong bytes are reported with the trial and their position") {
  const Result result = run(loads_with([](Trial& trial) { trial.memories[1].after[20] ^= std::byte{1}; }));
  CHECK(result.trials == 2);
  CHECK(result.wrong == 2);
  CHECK_FALSE(result.agrees());
  REQUIRE(result.differences.size() == 2);
  CHECK_THAT(result.differences[0],
             ContainsSubstring("load at [") &&
                 ContainsSubstring("elements of the shared memory differ; at byte 20"));
}

TEST_CASE("a finding of the simulated device is an error unless the case allows it") {
  const auto too_little_shared_memory = [](Trial& trial) { trial.shape.shared_bytes = 1024; };
  const Result result = run(loads_with(too_little_shared_memory));
  CHECK(result.trials == 0);
  CHECK_FALSE(result.device_ended);
  CHECK_THAT(result.error, ContainsSubstring("out-of-bounds"));
}

TEST_CASE("a kernel that does not compile is an error of its case") {
  const Result result = run(loads_with([](Trial& trial) { trial.kernel.text += "int x = ;"; }));
  CHECK_THAT(result.error, ContainsSubstring("does not compile"));
}
