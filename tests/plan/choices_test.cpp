/// Compares the cost model's choices with stored measurements (`fit.py --keep`) of every candidate: random
/// permutations on an H200 (graphs of 40 launches, medians of 5) and random sums on an H100. Needs no GPU.
#include "plan/all_candidates.hpp"
#include "plan/candidates.hpp"

#include <tmajit/operation.hpp>
#include <tmajit/plan.hpp>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

using namespace tmajit;

namespace {

constexpr double good = 1.03;  // a good choice takes at most this multiple of the best candidate's time
// Bounds slightly worse than the model's current results, so that changes of the model cannot make it worse.
constexpr double min_near_share = 0.72;    // of the choices are good
constexpr double max_mean_regret = 1.032;  // a choice's time divided by the best candidate's, on average

/// An operation whose candidates were measured.
struct Measured {
  Operation operation;
  Chip chip;
  std::string name;
  nlohmann::json us;  ///< microseconds by the text of the choice
};

Operation operation_of(const nlohmann::json& one) {
  const ElementType type = parse<ElementType>(one["type"].get<std::string>());
  const auto shape = one["shape"].get<std::vector<std::int64_t>>();
  const auto axes = one["axes"].get<std::vector<std::int64_t>>();
  const Tensor source = Tensor::contiguous(type, shape, 1ULL << 40);
  const bool reduces = one["operation"] == "reduce";
  std::vector<std::int64_t> destination_shape;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (!reduces) {
      destination_shape.push_back(shape[static_cast<std::size_t>(axes[d])]);
    } else if (std::ranges::find(axes, static_cast<std::int64_t>(d)) == axes.end()) {
      destination_shape.push_back(shape[d]);
    }
  }
  const Tensor destination = Tensor::contiguous(type, destination_shape, 1ULL << 41);
  return reduces ? operation::reduce(destination, {.axes = axes}, {source})
                 : operation::permute(destination, source, axes);
}

std::vector<Measured> measured() {
  std::vector<Measured> result;
  for (const std::string_view name : {"measured_choices.json", "measured_reductions.json"}) {
    std::ifstream file(TMAJIT_MEASURED_CHOICES + std::string(name));
    REQUIRE(file);
    for (const nlohmann::json& one : nlohmann::json::parse(file)) {
      result.push_back({operation_of(one),
                        chip_of({.name = one["chip"].get<std::string>(), .ordinal = 0, .sm_count = 132}),
                        one["type"].get<std::string>() + one["shape"].dump() + one["axes"].dump(),
                        one["us"]});
    }
  }
  return result;
}

}  // namespace

TEST_CASE("72 % of the choices are measured within 3 % of the fastest, and the mean within 3.2 %") {
  const std::vector<Measured> cases = measured();
  std::size_t counted = 0;
  std::size_t near_best = 0;
  double sum = 0;
  std::string unmeasured;
  for (const Measured& one : cases) {
    const std::string choice = plan_kernels(one.operation, {.chip = one.chip}).front().choice().text();
    if (!one.us.contains(choice)) {
      unmeasured += one.name + ": " + choice + '\n';
      continue;
    }
    double best = one.us[choice];
    for (const auto& [text, us] : one.us.items()) best = std::min(best, us.get<double>());
    const double regret = one.us[choice].get<double>() / best;
    if (regret > 1.2) std::cout << one.name << ": " << choice << " takes " << regret << " of the best\n";
    ++counted;
    sum += regret;
    if (regret <= good) ++near_best;
  }
  CHECK(unmeasured == "");
  const auto share = [&](std::size_t n) { return static_cast<double>(n) / static_cast<double>(counted); };
  std::cout << share(near_best) << " of " << counted << " choices within 3 %, "
            << sum / static_cast<double>(counted) << " in the mean\n";
  CHECK(share(near_best) >= min_near_share);
  CHECK(sum / static_cast<double>(counted) <= max_mean_regret);
}

TEST_CASE("80 % of the predictions are between 0.6 and 1.33 times the measurements") {
  std::vector<double> ratios;
  for (const Measured& one : measured()) {
    for (const KernelPlan& plan : plan_candidates(one.operation.moves.front(), {.chip = one.chip})) {
      const std::string choice = plan.choice().text();
      if (one.us.contains(choice)) ratios.push_back(one.us[choice].get<double>() / plan.predicted_us());
    }
  }
  REQUIRE(ratios.size() > 500);
  std::ranges::sort(ratios);
  const auto quantile = [&](double q) {
    return ratios[static_cast<std::size_t>(q * static_cast<double>(ratios.size() - 1))];
  };
  std::cout << "measured over predicted: " << quantile(0.1) << ", " << quantile(0.5) << ", " << quantile(0.9)
            << '\n';
  CHECK(quantile(0.1) > 0.75);
  CHECK(quantile(0.5) > 0.9);
  CHECK(quantile(0.5) < 1.15);
  CHECK(quantile(0.9) < 1.65);
}

TEST_CASE("a nearly fastest candidate is mostly among the few that worth_trying() returns") {
  // The number of candidates tried, and the least share of cases in which one of them is within 1 % of the
  // fastest.
  const std::vector<std::pair<std::size_t, double>> expected{{4, 0.73}, {8, 0.87}, {12, 0.93}};
  std::vector<std::size_t> near_best(expected.size());
  std::size_t counted = 0;
  for (const Measured& one : measured()) {
    const std::vector<KernelPlan> candidates =
        plan_candidates(one.operation.moves.front(), {.chip = one.chip});
    const auto min_of = [&](const auto& choices) {
      double least = std::numeric_limits<double>::infinity();
      for (const auto& choice : choices) {
        if (one.us.contains(choice.text()))
          least = std::min(least, one.us[choice.text()].template get<double>());
      }
      return least;
    };
    std::vector<KernelChoice> all;
    all.reserve(candidates.size());
    for (const KernelPlan& candidate : candidates) all.push_back(candidate.choice());
    ++counted;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const std::vector<KernelChoice> tried = worth_trying(candidates, expected[i].first);
      CHECK(tried.size() <= expected[i].first);
      if (min_of(tried) <= 1.01 * min_of(all)) ++near_best[i];
    }
  }
  CHECK(counted > 150);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double share = static_cast<double>(near_best[i]) / static_cast<double>(counted);
    std::cout << "  the best of " << expected[i].first << " within 1 % of the fastest: " << share << '\n';
    CHECK(share >= expected[i].second);
  }
}
