#include "jit_cost.hpp"

#include "case_list.hpp"
#include "plan_case.hpp"
#include "samples.hpp"

#include <chrono>

namespace movement {
namespace {

using Clock = std::chrono::steady_clock;

// Plans that are never run need no memory behind them, only addresses that are apart and aligned.
constexpr tmajit::DevicePtr source = 1ULL << 40;
constexpr tmajit::DevicePtr destination = 1ULL << 41;
constexpr int hot_plans = 200;

constexpr double most_cold_ms = 60;
constexpr double most_hot_us = 20;

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

tmajit::Runtime fresh_runtime(const std::shared_ptr<tmajit::Device>& device) {
  return tmajit::Runtime({.device = device, .cache_directory = std::nullopt, .compile = {}});
}

struct Cost {
  double cold_ms = 0;
  double hot_us = 0;
  double choosing_us = 0;
  tmajit::StageTimes stages;
};

Cost measure(const Case& c, const std::shared_ptr<tmajit::Device>& device) {
  Cost cost;
  tmajit::Runtime runtime = fresh_runtime(device);
  const auto start = Clock::now();
  const tmajit::MovePlan plan = plan_case(runtime, c, destination, source);
  cost.cold_ms = milliseconds_since(start);
  const auto again = Clock::now();
  for (int i = 0; i < hot_plans; ++i) (void)plan_case(runtime, c, destination, source);
  cost.hot_us = 1e3 * milliseconds_since(again) / hot_plans;
  cost.choosing_us = plan_case(runtime, c, destination, source).explain().planning_us;
  for (const tmajit::Kernel& kernel : plan.kernels()) {
    cost.stages.generate += kernel.times().generate;
    cost.stages.compile += kernel.times().compile;
    cost.stages.load += kernel.times().load;
  }
  return cost;
}

/// Permutations of the table, one of each kind, and a map.
std::vector<Case> chosen() {
  std::vector<Case> result;
  for (const Case& c : list_cases({})) {
    const bool permutation = c.group == "peers" && c.quick && c.types() != "bf16";
    if (permutation || (c.group == "map" && c.quick)) result.push_back(c);
  }
  return result;
}

}  // namespace

nlohmann::ordered_json measure_jit(const std::shared_ptr<tmajit::Device>& device, unsigned rounds) {
  const std::vector<Case> cases = chosen();
  nlohmann::ordered_json json{{"first_ms", measure(cases.front(), device).cold_ms},
                              {"most_cold_ms", most_cold_ms},
                              {"most_hot_us", most_hot_us},
                              {"plans", nlohmann::ordered_json::array()}};
  for (const Case& c : cases) {
    std::vector<double> cold;
    std::vector<double> hot;
    std::vector<double> choosing;
    tmajit::StageTimes last;
    for (unsigned round = 0; round < rounds; ++round) {
      const Cost cost = measure(c, device);
      cold.push_back(cost.cold_ms);
      hot.push_back(cost.hot_us);
      choosing.push_back(cost.choosing_us);
      last = cost.stages;
    }
    json["plans"].push_back(
        {{"label", c.label()},
         {"cold_ms", bench::Samples(cold).median()},
         {"hot_us", bench::Samples(hot).median()},
         {"choosing_us", bench::Samples(choosing).median()},
         {"last_stages_ms", {{"generate", last.generate}, {"compile", last.compile}, {"load", last.load}}}});
  }
  return json;
}

}  // namespace movement
