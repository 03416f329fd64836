#include "model.hpp"

#include "planning.hpp"
#include "settled.hpp"
#include "workload.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <optional>
#include <thread>

#include <spdlog/fmt/fmt.h>

namespace movement {
namespace {

using bench::Case;
using tmajit::KernelPlan;
using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

// Few elements of each part are compared, and a sample has few launches, because a case has many candidates.
constexpr std::uint64_t compared_elements = 512;
constexpr std::size_t launch_limit = 40;
/// Cases whose kernels are compiled together, to keep all cores busy.
constexpr std::size_t cases_at_once = 8;

/// The constants of the cost model that fit.py fits, by name.
struct CostName {
  std::string_view name;
  double tmajit::Costs::*cost;
};
constexpr CostName cost_names[] = {
    {"launch_us", &tmajit::Costs::launch_us},
    {"peak_fraction", &tmajit::Costs::peak_fraction},
    {"cached", &tmajit::Costs::cached},
    {"read_unused", &tmajit::Costs::read_unused},
    {"read_piece", &tmajit::Costs::read_piece},
    {"written_unused", &tmajit::Costs::written_unused},
    {"read_unused_cached", &tmajit::Costs::read_unused_cached},
    {"read_piece_cached", &tmajit::Costs::read_piece_cached},
    {"written_unused_cached", &tmajit::Costs::written_unused_cached},
    {"written_piece_cached", &tmajit::Costs::written_piece_cached},
    {"crowding", &tmajit::Costs::crowding},
    {"occupancy", &tmajit::Costs::occupancy},
    {"line", &tmajit::Costs::line},
    {"latency_us", &tmajit::Costs::latency_us},
    {"round_us", &tmajit::Costs::round_us},
    {"wait_us", &tmajit::Costs::wait_us},
    {"pass_us", &tmajit::Costs::pass_us},
    {"engine_us", &tmajit::Costs::engine_us},
    {"unloaded", &tmajit::Costs::unloaded},
    {"sm_bytes_per_us", &tmajit::Costs::sm_bytes_per_us},
};

/// Returns the candidates of a case that needs one kernel, the planner's choice first; empty for other cases.
std::vector<KernelPlan> candidates_of(const Case& bench_case, const tmajit::Chip& chip,
                                      tmajit::DevicePtr destination, tmajit::DevicePtr source,
                                      std::string_view family) {
  if (bench_case.tile) return {};
  const tmajit::Operation operation = bench::operation_of(bench_case, destination, source);
  if (operation.moves.size() != 1) return {};
  try {
    return tmajit::plan_candidates(operation.moves.front(), {.chip = chip, .family = family});
  } catch (const tmajit::Error& error) {
    if (family.empty() || error.code() != tmajit::ErrorCode::invalid_argument) throw;
    return {};  // the family cannot do the case
  }
}

Json to_json(const tmajit::PredictedTraffic& traffic) {
  return {{"bytes", traffic.bytes}, {"unused", traffic.unused}, {"pieces", traffic.pieces}};
}

Json to_json(const tmajit::Prediction& prediction) {
  return {{"us", prediction.us},
          {"memory_us", prediction.memory_us},
          {"issue_us", prediction.issue_us},
          {"sm_us", prediction.sm_us},
          {"latency_us", prediction.latency_us},
          {"read", to_json(prediction.read)},
          {"written", to_json(prediction.written)},
          {"read_cached", to_json(prediction.read_cached)},
          {"written_cached", to_json(prediction.written_cached)},
          {"instructions", prediction.instructions},
          {"lines", prediction.lines},
          {"ctas", prediction.ctas},
          {"waves", prediction.waves},
          {"uneven", prediction.uneven},
          {"warps", prediction.warps},
          {"rounds", prediction.rounds},
          {"waits", prediction.waits},
          {"last_waits", prediction.last_waits},
          {"passes", prediction.passes},
          {"in_flight", prediction.in_flight}};
}

Json to_json(const tmajit::KernelChoice& choice) {
  Json json{{"family", choice.family}};
  for (const auto& [name, values, is_box] : choice.numbers)
    json[std::string(name)] = is_box ? Json(choice.box(name)) : Json(values[0]);
  return json;
}

Json to_json(const Case& bench_case, const std::vector<KernelPlan>& plans) {
  const tmajit::Dims axes = bench_case.arguments.dims("axes");
  Json json{
      {"label", bench_case.label()},
      {"operation", bench_case.operation},
      {"type", bench_case.types()},
      {"shape", (bench_case.sources.empty() ? bench_case.destinations : bench_case.sources).front().shape},
      {"axes", std::vector<std::int64_t>(axes.begin(), axes.end())},
      {"bytes", traffic(bench_case).bytes()},
      {"driver_us", nullptr},
      {"candidates", Json::array()}};
  for (const KernelPlan& plan : plans) {
    const tmajit::KernelShape shape = plan.shape();
    json["candidates"].push_back({{"choice", plan.choice().text()},
                                  {"typed_choice", to_json(plan.choice())},
                                  {"family", plan.family().name},
                                  {"common", plan.common()},
                                  {"default", plan.is_default()},
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

tmajit::KernelChoice choice_of(const Settled& settled) {
  return settled.move->plans().front().choice();
}

/// The final choices of a case as JSON: the planner's choice and the choices made by measuring. `final_times`
/// are their times in this order, measured together with the candidates.
Json to_json(const std::vector<KernelPlan>& plans, std::span<const Settled> settled,
             std::span<const bench::Samples> final_times) {
  std::size_t next = 0;
  const auto measured = [&](const tmajit::KernelChoice& choice) {
    const auto found = std::ranges::find(plans, choice, &KernelPlan::choice);
    const bench::Samples& times = final_times[next++];
    return Json{{"choice", choice.text()},
                {"candidate", found - plans.begin()},
                {"us", times.median()},
                {"spread", times.spread()}};
  };
  Json json{{"model", measured(plans.front().choice())}};
  for (const Settled& one : settled) {
    json[one.method] = one.move ? measured(choice_of(one)) : Json{{"why_not", one.why_not}};
    json[one.method]["calls"] = one.calls;
  }
  return json;
}

/// Compiles the plans' kernels, one thread per core.
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
  result.reserve(kernels.size());
  for (const std::optional<tmajit::Kernel>& kernel : kernels) result.push_back(*kernel);
  return result;
}

/// Measures the candidates of cases.
class ModelMeasurement {
 public:
  ModelMeasurement(bench::Machine& machine, const ModelOptions& options)
      : machine_(machine), options_(options) {}

  /// Compiles the kernels of the cases. While the caller holds them, measure() finds them in the runtime.
  [[nodiscard]] std::vector<tmajit::Kernel> compile_all(std::span<const Case> cases) const {
    std::vector<KernelPlan> plans;
    for (const Case& bench_case : cases) {
      std::vector<KernelPlan> case_plans =
          plans_to_measure(bench_case, bench::some_destination, bench::some_source);
      std::ranges::move(case_plans, std::back_inserter(plans));
    }
    return compile(machine_.runtime, plans);
  }

  [[nodiscard]] Json measure(const Case& bench_case) const {
    bench::ContestPlan timing =
        machine_.contest.plan(traffic(bench_case).bytes(), options_.rounds, bench::Memory::one_set);
    timing.launches = std::min(timing.launches, launch_limit);
    const bench::Workload workload(machine_, bench_case, timing.sets, options_.seed);
    const std::vector<Settled> settled = settle(bench_case, workload);
    const std::vector<KernelPlan> plans =
        plans_to_measure(bench_case, workload.destination(), workload.source(), settled);
    if (plans.empty()) return nullptr;
    const bench::Check expected = workload.expected(bench_case, compared_elements);
    std::vector<bench::PreparedCase> prepared;
    for (const KernelPlan& plan : plans) {
      prepared.emplace_back(machine_.runtime, plan);
      workload.require_right(expected, prepared.back());
    }
    std::vector<bench::Contestant> contestants;
    contestants.reserve(prepared.size() + 2);
    for (const bench::PreparedCase& one : prepared) {
      contestants.emplace_back([&one, this](std::size_t) { one(machine_.stream); });
    }
    contestants.emplace_back([&workload](std::size_t set) { workload.copy(set); });
    if (options_.tuned)
      contestants.push_back(contestants.front());  // the planner's choice again, for the noise
    for (const Settled& one : settled) {
      if (one.move) contestants.emplace_back([&one, this](std::size_t) { (*one.move)(machine_.stream); });
    }
    const std::vector<bench::Samples> times = machine_.contest.run(contestants, timing);
    Json json = to_json(bench_case, plans);
    json["launches"] = timing.launches;
    json["driver_us"] = times[plans.size()].median();
    for (std::size_t i = 0; i < plans.size(); ++i) {
      json["candidates"][i]["us"] = times[i].median();
      json["candidates"][i]["spread"] = times[i].spread();
    }
    if (options_.tuned) {
      json["settled"] = to_json(plans, settled, std::span(times).subspan(plans.size() + 1));
    }
    return json;
  }

 private:
  /// Returns the choices made by measuring, if the options ask for them.
  [[nodiscard]] std::vector<Settled> settle(const Case& bench_case, const bench::Workload& workload) const {
    if (!options_.tuned || bench_case.tile) return {};
    const tmajit::Operation operation =
        bench::operation_of(bench_case, workload.destination(), workload.source());
    if (operation.moves.size() != 1) return {};
    return {settle_by_tuning(machine_, operation), settle_by_calls(machine_, operation, options_.improve)};
  }

  /// The candidates to measure: all with predictions below the limit, and the choices in `settled`.
  [[nodiscard]] std::vector<KernelPlan> plans_to_measure(const Case& bench_case,
                                                         tmajit::DevicePtr destination,
                                                         tmajit::DevicePtr source,
                                                         std::span<const Settled> settled = {}) const {
    std::vector<KernelPlan> plans =
        candidates_of(bench_case, machine_.runtime.chip(), destination, source, options_.family);
    if (plans.empty() || options_.max_predicted <= 0) return plans;
    const double least = std::ranges::min_element(plans, {}, &KernelPlan::predicted_us)->predicted_us();
    const tmajit::KernelChoice chosen = plans.front().choice();
    std::erase_if(plans, [&](const KernelPlan& plan) {
      const tmajit::KernelChoice choice = plan.choice();
      const auto is_settled_choice = [&](const Settled& one) { return one.move && choice_of(one) == choice; };
      return plan.predicted_us() > options_.max_predicted * least && choice != chosen &&
             std::ranges::none_of(settled, is_settled_choice);
    });
    return plans;
  }

  bench::Machine& machine_;
  const ModelOptions& options_;
};

}  // namespace

Json predict_case(const Case& bench_case, const tmajit::Chip& chip, std::string_view family) {
  const std::vector<KernelPlan> plans =
      candidates_of(bench_case, chip, bench::some_destination, bench::some_source, family);
  return plans.empty() ? Json(nullptr) : to_json(bench_case, plans);
}

Json predicted_times(const Case& bench_case, const tmajit::Chip& chip) {
  Json list = Json::array();
  for (const KernelPlan& plan :
       candidates_of(bench_case, chip, bench::some_destination, bench::some_source, {})) {
    list.push_back({{"choice", plan.choice().text()},
                    {"family", plan.family().name},
                    {"allowed", plan.common() || plan.is_default()},
                    {"default", plan.is_default()},
                    {"us", plan.prediction().us}});
  }
  return list;
}

tmajit::Chip chip_of(const Json& json) {
  tmajit::Chip chip{.name = json.at("name"), .gbps = json.at("gbps"), .sm_count = json.at("sm_count")};
  for (const auto& [name, value] : json.at("costs").items()) {
    const auto* const found = std::ranges::find(cost_names, name, &CostName::name);
    if (found == std::end(cost_names))
      throw tmajit::Error(tmajit::ErrorCode::invalid_argument, fmt::format("no cost is called \"{}\"", name));
    chip.costs.*found->cost = value.get<double>();
  }
  return chip;
}

void measure_model(bench::Machine* machine, const std::vector<Case>& cases, const ModelOptions& options,
                   bench::Report& report, const std::function<void()>& save) {
  const tmajit::Chip chip = machine != nullptr ? machine->runtime.chip() : tmajit::Chip{};
  report.json["chip"] = {{"name", chip.name}, {"gbps", chip.gbps}, {"sm_count", chip.sm_count}};
  const auto add = [&](Json result) {
    if (!result.is_null()) report.json["results"].push_back(std::move(result));
  };
  if (machine == nullptr) {
    for (const Case& bench_case : cases) add(predict_case(bench_case, chip, options.family));
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

}  // namespace movement
