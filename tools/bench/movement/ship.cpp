#include "ship.hpp"

#include "planning.hpp"
#include "workload.hpp"

#include <tmajit/error.hpp>
#include <tmajit/move.hpp>
#include <tmajit/tuning.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cmath>
#include <optional>
#include <random>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

namespace movement {
namespace {

using bench::Case;
using Clock = std::chrono::steady_clock;
using Json = nlohmann::ordered_json;

constexpr double clear_gain = 1.03;
constexpr double noticeable = 1.02;
constexpr std::array distances{0.05, 0.15, 0.4};

/// The times of a case's candidates.
struct Measured {
  tmajit::TuneReport report;
  tmajit::KernelChoice of_model;  ///< the candidate that the cost model chooses

  [[nodiscard]] const tmajit::KernelChoice& fastest() const { return report.candidates.front().choice; }
  [[nodiscard]] std::optional<double> us(const tmajit::KernelChoice& choice) const {
    const auto found = std::ranges::find(report.candidates, choice, &tmajit::TuneReport::Candidate::choice);
    return found == report.candidates.end() ? std::nullopt : std::optional(found->microseconds);
  }
  /// The model's time divided by that of `choice`.
  [[nodiscard]] std::optional<double> gain(const tmajit::KernelChoice& choice) const {
    const std::optional<double> model = us(of_model);
    const std::optional<double> chosen = us(choice);
    return model && chosen ? std::optional(*model / *chosen) : std::nullopt;
  }
};

/// Gains of choices at shapes of one distance.
struct Carried {
  std::vector<double> gains;

  [[nodiscard]] double mean() const {
    double sum = 0;
    for (const double gain : gains) sum += std::log(gain);
    return gains.empty() ? 1 : std::exp(sum / static_cast<double>(gains.size()));
  }
  [[nodiscard]] double share(auto is_counted) const {
    return gains.empty() ? 0
                         : static_cast<double>(std::ranges::count_if(gains, is_counted)) /
                               static_cast<double>(gains.size());
  }
};

class Shipping {
 public:
  Shipping(bench::Machine& machine, const ShipOptions& options) : machine_(machine), options_(options) {}

  void measure(const Case& bench_case) {
    const std::optional<Measured> first = measured(bench_case);
    if (!first) return;
    ++cases_;
    const tmajit::KernelChoice best = first->fastest();
    if (!(first->gain(best).value_or(1) >= clear_gain)) return;
    const std::optional<Measured> second = measured(bench_case);
    const double gain = second ? second->gain(best).value_or(1) : 1;
    if (!(gain >= clear_gain)) return;
    gains_.gains.push_back(gain);
    table_.add({.chip = machine_.runtime.chip().name,
                .shape_class = first->report.shape_class,
                .choice = best,
                .microseconds = second->us(best).value_or(0)});
    if (options_.near && bench_case.operation == "permute") measure_near(bench_case, best);
  }

  void save() const { table_.save(options_.file); }

  void report(bench::Report& report) const {
    report.line(fmt::format(
        "{} of {} cases have a choice that is 3 % faster than the cost model's, twice: mean {:.3f}",
        table_.all().size(), cases_, gains_.mean()));
    Json json{{"cases", cases_}, {"choices", table_.all().size()}, {"mean_gain", gains_.mean()}};
    for (std::size_t i = 0; options_.near && i < distances.size(); ++i) {
      const Carried& carried = near_[i];
      const double faster = carried.share([](double gain) { return gain > noticeable; });
      const double slower = carried.share([](double gain) { return gain < 1 / noticeable; });
      report.line(
          fmt::format("at a distance of up to {}: {} shapes, mean {:.3f}, faster {:.0f} %, slower {:.0f} %",
                      distances[i], carried.gains.size(), carried.mean(), 100 * faster, 100 * slower));
      json["near"].push_back({{"distance", distances[i]},
                              {"shapes", carried.gains.size()},
                              {"mean_gain", carried.mean()},
                              {"faster", faster},
                              {"slower", slower}});
    }
    report.json["shipped"] = json;
  }

 private:
  [[nodiscard]] std::optional<Measured> measured(const Case& bench_case) const {
    const bench::Workload workload(machine_, bench_case, 1, options_.seed);
    const tmajit::Operation operation =
        bench::operation_of(bench_case, workload.destination(), workload.source());
    if (operation.moves.size() != 1 || bench_case.tile) return std::nullopt;
    const tmajit::Plan move = plan(machine_.runtime, operation);
    if (move.plans().empty()) return std::nullopt;
    Measured result{.report = tune(machine_.runtime, move, {.store = false}),
                    .of_model = planned(bench_case, workload, nullptr)};
    if (result.report.candidates.empty()) return std::nullopt;
    return result;
  }

  [[nodiscard]] tmajit::KernelChoice planned(const Case& bench_case, const bench::Workload& workload,
                                             const tmajit::TuningTable* table) const {
    return bench::plan_case(bench_case, workload.destination(), workload.source(),
                            {.chip = machine_.runtime.chip(), .tuning = table})
        .front()
        .choice();
  }

  /// Measures how fast `best`, the choice of a permutation, is for shapes at the distances.
  void measure_near(const Case& bench_case, const tmajit::KernelChoice& best) {
    for (std::size_t i = 0; i < distances.size(); ++i) {
      const Case near = near_case(bench_case, distances[i]);
      const std::optional<Measured> other = measured(near);
      if (!other) continue;
      // The planner takes the candidate of the near shape that is most like the choice.
      tmajit::TuningTable table;
      table.add({.chip = machine_.runtime.chip().name,
                 .shape_class = other->report.shape_class,
                 .choice = best,
                 .microseconds = 0});
      const bench::Workload workload(machine_, near, 1, options_.seed);
      if (const auto gain = other->gain(planned(near, workload, &table))) near_[i].gains.push_back(*gain);
    }
  }

  /// The permutation with each extent multiplied by up to 2^distance or its reciprocal. An extent keeps the
  /// power of two that divides it, up to 16, because that decides about alignment.
  [[nodiscard]] Case near_case(const Case& bench_case, double distance) {
    Case near = bench_case;
    std::uniform_real_distribution<double> exponent(-distance, distance);
    bench::Shape& shape = near.sources.front().shape;
    for (std::uint64_t& extent : shape) {
      const std::uint64_t unit = std::min<std::uint64_t>(16, extent & (~extent + 1));
      const double wanted = static_cast<double>(extent) * std::exp2(exponent(random_));
      extent = unit * std::max<std::uint64_t>(
                          static_cast<std::uint64_t>(std::llround(wanted / static_cast<double>(unit))), 1);
    }
    return bench::make_case("near", fmt::format("({})", fmt::join(shape, ",")), near.operation,
                            {near.sources.front()}, near.arguments);
  }

  bench::Machine& machine_;
  const ShipOptions& options_;
  std::mt19937_64 random_{options_.seed};
  tmajit::TuningTable table_;
  std::size_t cases_ = 0;
  Carried gains_;
  std::array<Carried, distances.size()> near_;
};

}  // namespace

void ship_choices(bench::Machine& machine, const std::vector<Case>& cases, const ShipOptions& options,
                  bench::Report& report) {
  const auto start = Clock::now();
  Shipping shipping(machine, options);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const std::chrono::duration<double> spent = Clock::now() - start;
    if (options.limit_s > 0 && spent.count() > options.limit_s) {
      report.line(
          fmt::format("{} cases left out: --limit {:g} s was over", cases.size() - i, options.limit_s));
      break;
    }
    report.progress(fmt::format("[{}/{}] {}", i + 1, cases.size(), cases[i].label()));
    try {
      shipping.measure(cases[i]);
    } catch (const tmajit::Error& error) {
      report.failure(cases[i].label(), error);
      if (machine.lost_by(error)) break;
    }
    shipping.save();
  }
  shipping.report(report);
}

}  // namespace movement
