/// The conformance suite on the simulated device, which must agree with the CPU in every byte.
#include "conformance/suite.hpp"

#include "conformance/bench.hpp"
#include "seed.hpp"

#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <spdlog/fmt/ranges.h>

using namespace conformance;
using namespace tmajit;

namespace {

/// The case with every fourth trial of matrix products, because each trial of those compiles a kernel.
Case quick(const Case& each) {
  if (!each.name.starts_with("wgmma.")) return each;
  Case fewer = each;
  fewer.trials = [&each](reference::Random& random) {
    const auto all = each.trials(random);
    std::vector<Trial> every_fourth;
    for (std::size_t i = 0; i < all.size(); i += 4) every_fourth.push_back(all[i]);
    return every_fourth;
  };
  return fewer;
}

}  // namespace

TEST_CASE("every case of the conformance suite has a unique name, instructions and a description") {
  std::set<std::string> names;
  for (const Case& each : all_cases()) {
    INFO(each.name);
    CHECK(names.insert(each.name).second);
    CHECK_FALSE(each.instructions.empty());
    CHECK_FALSE(each.what.empty());
  }
}

TEST_CASE("the simulated device agrees with the CPU in every case of the conformance suite") {
  const auto device = make_sim_device({.mode = SimOptions::Mode::late, .seed = tests::seed(1)});
  Bench bench(device, device, std::nullopt);
  for (const Case& each : all_cases()) {
    const Result result = bench.run(quick(each), tests::seed(1));
    INFO("TMAJIT_SEED=" << tests::seed(1) << ' ' << each.name << ": " << result.wrong << " of "
                        << result.trials << " trials\n"
                        << fmt::format("{}", fmt::join(result.differences, "\n")) << result.error);
    CHECK(result.trials > 0);
    CHECK(result.agrees());
  }
}
