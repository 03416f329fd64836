#include "model.hpp"

#include "planning.hpp"
#include "workload.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <map>
#include <optional>
#include <thread>

#include <spdlog/fmt/fmt.h>

namespace movement {
namespace {

using bench::Case;
using tmajit::KernelPlan;
using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

constexpr std::size_t cases_at_once = 8;  // whose kernels are compiled together, to keep all cores busy
constexpr double good = 1.03;             // times the best candidate
constexpr std::size_t shown = 10;         // of the worst choices

/// Of cases that one kernel does; the planner's choice first.
std::vector<KernelPlan> candidates_of(const Case& c, const tmajit::Chip& chip, tmajit::DevicePtr destination,
                                      tmajit::DevicePtr source) {
  if (c.tile) return {};
  const tmajit::Operation operation = bench::operation_of(c, destination, source);
  if (operation.moves.size() != 1) return {};
  return tmajit::plan_candidates(operation.moves.front(), {.chip = chip});
}

Json to_json(const tmajit::PredictedTraffic& traffic) {
  return {{"bytes", traffic.bytes}, {"beside", traffic.beside}, {"runs", traffic.runs}};
}

Json to_json(const tmajit::Work& work) {
  return {{"load", work.load},
          {"word", work.word},
          {"permute", work.permute},
          {"block", work.block},
          {"vector", work.vector},
          {"shift", work.shift},
          {"end", work.end},
          {"picked", work.picked},
          {"pick", work.pick},
          {"picked_word", work.picked_word},
          {"wavefront", work.wavefront},
          {"line_unit", work.line_unit},
          {"entry", work.entry},
          {"woven_block", work.woven_block},
          {"woven_word", work.woven_word},
          {"woven_end", work.woven_end},
          {"image_unit", work.image_unit},
          {"chunk", work.chunk},
          {"element", work.element},
          {"image_chunk", work.image_chunk},
          {"thread", work.thread}};
}

Json to_json(const tmajit::Prediction& prediction) {
  return {{"us", prediction.us},
          {"memory_us", prediction.memory_us},
          {"issue_us", prediction.issue_us},
          {"sm_us", prediction.sm_us},
          {"latency_us", prediction.latency_us},
          {"read", to_json(prediction.read)},
          {"written", to_json(prediction.written)},
          {"work", to_json(prediction.work)},
          {"ctas", prediction.ctas},
          {"waves", prediction.waves},
          {"uneven", prediction.uneven},
          {"warps", prediction.warps},
          {"rounds", prediction.rounds},
          {"passes", prediction.passes},
          {"in_flight", prediction.in_flight},
          {"by_engine", prediction.by_engine}};
}

Json to_json(const Case& c, const std::vector<KernelPlan>& plans) {
  Json json{{"label", c.label()},
            {"type", c.types()},
            {"shape", c.sources.front().shape},
            {"axes", c.axes},
            {"bytes", traffic(c).bytes()},
            {"driver_us", nullptr},
            {"candidates", Json::array()}};
  for (const KernelPlan& plan : plans) {
    const tmajit::KernelShape shape = plan.shape();
    json["candidates"].push_back({{"choice", plan.choice().text()},
                                  {"family", plan.family().name},
                                  {"common", plan.common()},
                                  {"usual", plan.usual()},
                                  {"tile", shape.tile},
                                  {"tiles", shape.tiles},
                                  {"threads", shape.threads},
                                  {"shared_bytes", shape.static_shared_bytes + shape.dynamic_shared_bytes},
                                  {"ctas_per_sm", shape.ctas_per_sm},
                                  {"bytes_in_flight", shape.bytes_in_flight},
                                  {"prediction", to_json(plan.prediction())},
                                  {"us", nullptr}});
  }
  return json;
}

/// The kernels of plans, compiled by as many threads as there are cores.
std::vector<tmajit::Kernel> compile(const tmajit::Runtime& runtime, const std::vector<KernelPlan>& plans) {
  std::vector<std::optional<tmajit::Kernel>> kernels(plans.size());
  std::atomic<std::size_t> next = 0;
  std::vector<std::future<void>> workers;
  for (unsigned i = 0; i < std::max(std::thread::hardware_concurrency(), 1U); ++i) {
    workers.push_back(std::async(std::launch::async, [&] {
      for (std::size_t n = next++; n < plans.size(); n = next++) kernels[n] = runtime.kernel(plans[n]);
    }));
  }
  for (std::future<void>& worker : workers) worker.wait();
  for (std::future<void>& worker : workers) worker.get();
  std::vector<tmajit::Kernel> result;
  for (const std::optional<tmajit::Kernel>& kernel : kernels) result.push_back(*kernel);
  return result;
}

class ModelMeasurement {
 public:
  ModelMeasurement(bench::Machine& machine, const ModelOptions& options)
      : machine_(machine), options_(options) {}

  /// Kernels that measure() will find made.
  [[nodiscard]] std::vector<tmajit::Kernel> compile_all(std::span<const Case> cases) const {
    std::vector<KernelPlan> plans;
    for (const Case& c : cases) {
      std::vector<KernelPlan> some = wanted(c, bench::some_destination, bench::some_source);
      std::ranges::move(some, std::back_inserter(plans));
    }
    return compile(machine_.runtime, plans);
  }

  [[nodiscard]] Json measure(const Case& c) const {
    const bench::ContestPlan how =
        machine_.contest.plan(traffic(c).bytes(), options_.rounds, bench::Memory::one_set);
    const bench::Workload workload(machine_, c, how.sets, options_.seed);
    const std::vector<KernelPlan> plans = wanted(c, workload.destination(), workload.source());
    if (plans.empty()) return nullptr;
    std::vector<bench::PreparedCase> prepared;
    for (const KernelPlan& plan : plans) {
      prepared.emplace_back(machine_.runtime, plan);
      workload.require_right(c, prepared.back());
    }
    std::vector<bench::Contestant> contestants;
    for (const bench::PreparedCase& one : prepared) {
      contestants.emplace_back([&one, this](std::size_t) { one(machine_.stream); });
    }
    contestants.emplace_back([&workload](std::size_t set) { workload.copy(set); });
    const std::vector<bench::Samples> times = machine_.contest.run(contestants, how);
    Json json = to_json(c, plans);
    json["launches"] = how.launches;
    json["driver_us"] = times.back().median();
    for (std::size_t i = 0; i < plans.size(); ++i) {
      json["candidates"][i]["us"] = times[i].median();
      json["candidates"][i]["spread"] = times[i].spread();
    }
    return json;
  }

 private:
  [[nodiscard]] std::vector<KernelPlan> wanted(const Case& c, tmajit::DevicePtr destination,
                                               tmajit::DevicePtr source) const {
    std::vector<KernelPlan> plans = candidates_of(c, machine_.runtime.chip(), destination, source);
    if (plans.empty() || options_.most_predicted <= 0) return plans;
    const double least = std::ranges::min_element(plans, {}, &KernelPlan::predicted_us)->predicted_us();
    const KernelPlan chosen = plans.front();
    std::erase_if(plans, [&](const KernelPlan& plan) {
      return plan.key() != chosen.key() && plan.predicted_us() > options_.most_predicted * least;
    });
    return plans;
  }

  bench::Machine& machine_;
  const ModelOptions& options_;
};

/// The candidate with the least measured time; null where none was measured.
const Json* best_of(const Json& result) {
  const Json* best = nullptr;
  for (const Json& candidate : result["candidates"]) {
    if (candidate["us"].is_null()) continue;
    if (best == nullptr || candidate["us"] < (*best)["us"]) best = &candidate;
  }
  return best;
}

Json tell_quantiles(bench::Report& report) {
  std::map<std::string, std::vector<double>> ratios;
  for (const Json& result : report.json["results"]) {
    for (const Json& candidate : result["candidates"]) {
      if (candidate["us"].is_null()) continue;
      const double ratio = candidate["us"].get<double>() / candidate["prediction"]["us"].get<double>();
      ratios[candidate["family"]].push_back(ratio);
      ratios["all"].push_back(ratio);
    }
  }
  Json json;
  if (ratios.empty()) return json;
  report.line(fmt::format("\n{:<20}{:>8}{:>8}{:>8}{:>8}{:>8}{:>8}", "measured/predicted", "kernels", "least",
                          "10 %", "median", "90 %", "most"));
  for (auto& [family, values] : ratios) {
    std::ranges::sort(values);
    const auto at = [&values = values](double q) {
      return values[static_cast<std::size_t>(q * static_cast<double>(values.size() - 1))];
    };
    json[family] = {at(0), at(0.1), at(0.5), at(0.9), at(1)};
    report.line(fmt::format("{:<20}{:>8}{:>8.2f}{:>8.2f}{:>8.2f}{:>8.2f}{:>8.2f}", family, values.size(),
                            at(0), at(0.1), at(0.5), at(0.9), at(1)));
  }
  return json;
}

}  // namespace

Json predict_case(const Case& c, const tmajit::Chip& chip) {
  const std::vector<KernelPlan> plans = candidates_of(c, chip, bench::some_destination, bench::some_source);
  return plans.empty() ? Json(nullptr) : to_json(c, plans);
}

void measure_model(bench::Machine* machine, const std::vector<Case>& cases, const ModelOptions& options,
                   bench::Report& report, const std::function<void()>& save) {
  const tmajit::Chip chip = machine != nullptr ? machine->runtime.chip() : tmajit::Chip{};
  report.json["chip"] = {{"name", chip.name}, {"gbps", chip.gbps}, {"sm_count", chip.sm_count}};
  const auto add = [&](Json result) {
    if (!result.is_null()) report.json["results"].push_back(std::move(result));
  };
  if (machine == nullptr) {
    for (const Case& c : cases) add(predict_case(c, chip));
    save();
    return;
  }
  const auto start = Clock::now();
  const ModelMeasurement measurement(*machine, options);
  std::vector<tmajit::Kernel> kernels;  // kept until their cases are measured
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const std::chrono::duration<double> spent = Clock::now() - start;
    if (options.limit_s > 0 && spent.count() > options.limit_s) {
      report.json["left_out"] = cases.size() - i;
      report.line(
          fmt::format("{} cases left out: --limit {:g} s was over", cases.size() - i, options.limit_s));
      break;
    }
    report.progress(fmt::format("[{}/{}] {}", i + 1, cases.size(), cases[i].label()));
    try {
      if (i % cases_at_once == 0) {
        save();
        kernels =
            measurement.compile_all(std::span(cases).subspan(i, std::min(cases_at_once, cases.size() - i)));
      }
      add(measurement.measure(cases[i]));
    } catch (const tmajit::Error& error) {
      report.failure(cases[i].label(), error);
      if (machine->lost_by(error)) break;
    }
  }
  save();
}

void tell_model(bench::Report& report) {
  report.json["quantiles"] = tell_quantiles(report);
  // Before anything points into the document: a key that is added to an ordered object moves all of it.
  report.json["regret"] = nullptr;
  struct Regret {
    double ratio;
    const Json* result;
    const Json* best;
  };
  std::vector<Regret> regrets;
  double sum = 0;
  for (const Json& result : report.json["results"]) {
    const Json* best = best_of(result);
    const Json& chosen = result["candidates"][0];
    if (best == nullptr || chosen["us"].is_null()) continue;
    regrets.push_back({chosen["us"].get<double>() / (*best)["us"].get<double>(), &result, best});
    sum += regrets.back().ratio;
  }
  if (regrets.empty()) return;
  std::ranges::sort(regrets, std::ranges::greater{}, &Regret::ratio);
  const auto near = std::ranges::count_if(regrets, [](const Regret& one) { return one.ratio <= good; });
  const double share = static_cast<double>(near) / static_cast<double>(regrets.size());
  const double mean = sum / static_cast<double>(regrets.size());
  report.json["regret"] = {{"cases", regrets.size()}, {"within_3_percent", share}, {"mean", mean}};
  report.line(fmt::format(
      "\nChosen over best: {:.1f} % of {} cases within 3 %, {:.3f} in the mean; the worst:", 100 * share,
      regrets.size(), mean));
  for (const Regret& one : std::span(regrets).first(std::min(shown, regrets.size()))) {
    const Json& chosen = (*one.result)["candidates"][0];
    report.line(fmt::format("{:<66}{:>6.3f}  {} ({:.1f} us), best {} ({:.1f} us)",
                            (*one.result)["label"].get<std::string>(), one.ratio,
                            chosen["choice"].get<std::string>(), chosen["us"].get<double>(),
                            (*one.best)["choice"].get<std::string>(), (*one.best)["us"].get<double>()));
  }
}

}  // namespace movement
