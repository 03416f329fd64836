#include "targets.hpp"

#include "case_list.hpp"
#include "planning.hpp"
#include "program.hpp"

#include <tmajit/move.hpp>

#include <chrono>

#include <spdlog/fmt/fmt.h>

namespace movement {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int hot_plans = 200;  // plans that one sample of the hot time averages

// The targets.
constexpr double max_cold_ms = 60;
constexpr double max_hot_us = 20;

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

tmajit::Runtime fresh_runtime(const std::shared_ptr<tmajit::Device>& device) {
  return tmajit::Runtime({.device = device, .cache_directory = std::nullopt, .compile = {}});
}

/// Times of planning one case; targets.hpp explains them.
struct Cost {
  double cold_ms = 0;
  double hot_us = 0;
  double choosing_us = 0;
  tmajit::StageTimes stages;
};

Cost measure(const bench::Case& bench_case, const std::shared_ptr<tmajit::Device>& device) {
  Cost cost;
  tmajit::Runtime runtime = fresh_runtime(device);
  const auto start = Clock::now();
  const auto plan_again = [&] { return tmajit::plan(runtime, bench::operation_of(bench_case)); };
  const tmajit::Plan plan = plan_again();
  cost.cold_ms = milliseconds_since(start);
  const auto again = Clock::now();
  for (int i = 0; i < hot_plans; ++i) (void)plan_again();
  cost.hot_us = 1e3 * milliseconds_since(again) / hot_plans;
  cost.choosing_us = plan_again().explain().planning_us;
  for (const tmajit::Kernel& kernel : plan.kernels()) {
    cost.stages.generate += kernel.times().generate;
    cost.stages.compile += kernel.times().compile;
    cost.stages.load += kernel.times().load;
  }
  return cost;
}

/// Cases whose planning is measured: some permutations and maps of the list.
std::vector<bench::Case> cases_to_plan() {
  std::vector<bench::Case> result;
  for (const bench::Case& bench_case : bench::list_cases({})) {
    const bool permutation = bench_case.group == "peers" && bench_case.quick && bench_case.types() != "bf16";
    if (permutation || (bench_case.group == "map" && bench_case.quick)) result.push_back(bench_case);
  }
  return result;
}

}  // namespace

std::optional<Target> target_of(const bench::Case& bench_case, double ours_us, double driver_us) {
  if (bench_case.min_ratio) {
    return Target{bench_case.label() + ", speed relative to the driver's copy", *bench_case.min_ratio,
                  driver_us / ours_us, true};
  }
  if (bench_case.max_extra_us) {
    return Target{bench_case.label() + ", us beyond the driver's copy", *bench_case.max_extra_us,
                  ours_us - driver_us, false};
  }
  return std::nullopt;
}

nlohmann::ordered_json measure_jit(const std::shared_ptr<tmajit::Device>& device, unsigned rounds) {
  const std::vector<bench::Case> cases = cases_to_plan();
  nlohmann::ordered_json json{{"first_ms", measure(cases.front(), device).cold_ms},
                              {"max_cold_ms", max_cold_ms},
                              {"max_hot_us", max_hot_us},
                              {"plans", nlohmann::ordered_json::array()}};
  for (const bench::Case& bench_case : cases) {
    std::vector<double> cold;
    std::vector<double> hot;
    std::vector<double> choosing;
    tmajit::StageTimes last;
    for (unsigned round = 0; round < rounds; ++round) {
      const Cost cost = measure(bench_case, device);
      cold.push_back(cost.cold_ms);
      hot.push_back(cost.hot_us);
      choosing.push_back(cost.choosing_us);
      last = cost.stages;
    }
    json["plans"].push_back(
        {{"label", bench_case.label()},
         {"cold_ms", bench::Samples(cold).median()},
         {"hot_us", bench::Samples(hot).median()},
         {"choosing_us", bench::Samples(choosing).median()},
         {"last_stages_ms", {{"generate", last.generate}, {"compile", last.compile}, {"load", last.load}}}});
  }
  return json;
}

std::vector<Target> targets_of_jit(const nlohmann::ordered_json& jit) {
  std::vector<Target> targets;
  for (const auto& plan : jit.at("plans")) {
    const std::string label = plan.at("label");
    targets.push_back(
        {fmt::format("{}, ms of a cold plan", label), jit.at("max_cold_ms"), plan.at("cold_ms"), false});
    targets.push_back(
        {fmt::format("{}, us of planning", label), jit.at("max_hot_us"), plan.at("hot_us"), false});
  }
  return targets;
}

nlohmann::ordered_json to_json(const Target& target) {
  return {{"what", target.what},
          {"need", target.need},
          {"got", target.got},
          {"at_least", target.at_least},
          {"met", target.met()}};
}

}  // namespace movement
