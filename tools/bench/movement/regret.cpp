#include "regret.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <spdlog/fmt/fmt.h>

namespace movement {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t shown_choices = 10;  // number of worst choices that are printed

/// The candidate with the least measured time; null if none was measured.
const Json* best_of(const Json& result) {
  const Json* best = nullptr;
  for (const Json& candidate : result["candidates"]) {
    if (candidate["us"].is_null()) continue;
    if (best == nullptr || candidate["us"] < (*best)["us"]) best = &candidate;
  }
  return best;
}

/// The candidate that was chosen for a case, and the case's best candidate.
struct JudgedChoice {
  const Json* result;
  const Json* chosen;  ///< chosen candidate
  const Json* best;
  double ratio;  ///< ratio of their times
};

/// For each case with a choice by `method` ("model", or a Settled::method), returns this choice.
std::vector<JudgedChoice> choices_by(const Json& results, const std::string& method) {
  std::vector<JudgedChoice> choices;
  for (const Json& result : results) {
    const Json* const best = best_of(result);
    if (best == nullptr) continue;
    std::size_t candidate = 0;  // the planner's choice
    if (method != "model") {
      if (!result.contains("settled") || !result["settled"][method].contains("candidate")) continue;
      candidate = result["settled"][method]["candidate"];
    }
    const Json& chosen = result["candidates"][candidate];
    if (chosen["us"].is_null()) continue;
    choices.push_back({&result, &chosen, best, chosen["us"].get<double>() / (*best)["us"].get<double>()});
  }
  return choices;
}

/// For candidates that were measured twice, the larger time divided by the smaller.
std::vector<double> noise_of(const Json& results) {
  std::vector<double> ratios;
  for (const Json& result : results) {
    if (!result.contains("settled")) continue;
    for (const Json& settled : result["settled"]) {
      if (!settled.contains("candidate")) continue;
      const double first_us = result["candidates"][settled["candidate"].get<std::size_t>()]["us"];
      const double second_us = settled["us"];
      ratios.push_back(std::max(first_us, second_us) / std::min(first_us, second_us));
    }
  }
  return ratios;
}

Json summary(std::span<const double> ratios) {
  const auto count = static_cast<double>(ratios.size());
  const auto within = [&](double limit) {
    return static_cast<double>(std::ranges::count_if(ratios, [&](double r) { return r <= limit; })) / count;
  };
  double sum = 0;
  for (const double ratio : ratios) sum += ratio;
  return {{"cases", ratios.size()},
          {"within_1_percent", within(1.01)},
          {"within_3_percent", within(1.03)},
          {"mean", sum / count},
          {"worst", std::ranges::max(ratios)}};
}

void report_summary(bench::Report& report, const std::string& name, const std::string& label,
                    std::span<const double> ratios) {
  if (ratios.empty()) return;
  const Json json = summary(ratios);
  report.line(fmt::format("{:<44}{:>6}{:>12.1f} %{:>12.1f} %{:>8.3f}{:>8.3f}", label, ratios.size(),
                          100 * json["within_1_percent"].get<double>(),
                          100 * json["within_3_percent"].get<double>(), json["mean"].get<double>(),
                          json["worst"].get<double>()));
  report.json["regret"][name] = json;
}

void report_worst(bench::Report& report, const std::string& label, std::vector<JudgedChoice> choices) {
  std::ranges::sort(choices, std::ranges::greater{}, &JudgedChoice::ratio);
  report.line(fmt::format("\nThe worst of {}:", label));
  for (const JudgedChoice& one : std::span(choices).first(std::min(shown_choices, choices.size()))) {
    report.line(fmt::format("{:<66}{:>6.3f}  {} ({:.1f} us), best {} ({:.1f} us)",
                            (*one.result)["label"].get<std::string>(), one.ratio,
                            (*one.chosen)["choice"].get<std::string>(), (*one.chosen)["us"].get<double>(),
                            (*one.best)["choice"].get<std::string>(), (*one.best)["us"].get<double>()));
  }
}

/// Reports the reasons why cases have no choice by `method`, each with the number of cases.
void report_reasons(bench::Report& report, const std::string& method) {
  std::map<std::string, std::size_t> reasons;
  for (const Json& result : report.json["results"]) {
    if (!result.contains("settled") || !result["settled"][method].contains("why_not")) continue;
    ++reasons[result["settled"][method]["why_not"]];
  }
  for (const auto& [why, cases] : reasons) {
    report.line(fmt::format("not {}: {} case{}: {}", method, cases, cases == 1 ? "" : "s", why));
  }
}

Json report_quantiles(bench::Report& report) {
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

void report_model(bench::Report& report) {
  report.json["quantiles"] = report_quantiles(report);
  // Add the key before taking pointers into the document: adding a key to an ordered object moves its values.
  report.json["regret"] = Json::object();
  const Json results = report.json["results"];
  if (choices_by(results, "model").empty()) return;
  report.line(fmt::format("\n{:<44}{:>6}{:>14}{:>14}{:>8}{:>8}", "time over the best candidate's", "cases",
                          "within 1 %", "within 3 %", "mean", "worst"));
  const std::array<std::pair<std::string, std::string>, 3> choosers{
      {{"model", "as planned"}, {"tuned", "after tune()"}, {"improved", "after the calls of improve"}}};
  for (const auto& [method, label] : choosers) {
    std::vector<double> ratios;
    for (const JudgedChoice& choice : choices_by(results, method)) ratios.push_back(choice.ratio);
    report_summary(report, method, label, ratios);
  }
  report_summary(report, "noise", "noise: a candidate's time over its own again", noise_of(results));
  for (const auto& [method, label] : choosers) {
    report_reasons(report, method);
    const std::vector<JudgedChoice> choices = choices_by(results, method);
    if (!choices.empty()) report_worst(report, label, choices);
  }
}

}  // namespace movement
