#include "distribution.hpp"

#include "program.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <spdlog/fmt/fmt.h>

namespace movement {
namespace {

/// The share of ratios below each bound is reported.
constexpr std::array bounds{0.97, 0.90};
constexpr std::size_t worst_count = 10;

/// Key of the share below a bound: "below_0.97".
std::string below_key(double bound) {
  return fmt::format("below_{:.2f}", bound);
}

nlohmann::ordered_json statistics(const std::string& group, const std::string& types,
                                  const std::vector<double>& ratios) {
  const bench::Samples ordered(ratios);
  const auto count = static_cast<double>(ratios.size());
  double logarithms = 0;
  for (const double ratio : ratios) logarithms += std::log(ratio);
  nlohmann::ordered_json json{{"group", group},
                              {"types", types},
                              {"cases", ratios.size()},
                              {"least", ordered.min()},
                              {"percent_1", ordered.quantile(0.01)},
                              {"percent_10", ordered.quantile(0.10)},
                              {"median", ordered.median()},
                              {"geometric_mean", std::exp(logarithms / count)}};
  for (const double bound : bounds) {
    const auto below_bound = std::ranges::count_if(ratios, [&](double ratio) { return ratio < bound; });
    json[below_key(bound)] = static_cast<double>(below_bound) / count;
  }
  return json;
}

}  // namespace

void Distribution::add(const bench::Case& bench_case, double ratio, std::string kernels) {
  if (!ratios_.contains(bench_case.group)) groups_.push_back(bench_case.group);
  // Casts have too many pairs of types to list each pair.
  ratios_[bench_case.group][bench_case.operation == "cast" ? "any" : bench_case.types()].push_back(ratio);
  cases_.push_back({bench_case.label(), ratio, std::move(kernels)});
}

nlohmann::ordered_json Distribution::json() const {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const std::string& group : groups_) {
    std::vector<double> all;
    for (const auto& [types, ratios] : ratios_.at(group)) {
      rows.push_back(statistics(group, types, ratios));
      all.insert(all.end(), ratios.begin(), ratios.end());
    }
    if (ratios_.at(group).size() > 1) rows.push_back(statistics(group, "all", all));
  }
  return rows;
}

nlohmann::ordered_json Distribution::worst() const {
  std::vector<Measured> ordered = cases_;
  std::ranges::stable_sort(ordered, {}, &Measured::ratio);
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < std::min(worst_count, ordered.size()); ++i) {
    const Measured& measured = ordered[i];
    rows.push_back({{"label", measured.label}, {"ratio", measured.ratio}, {"kernels", measured.kernels}});
  }
  return rows;
}

std::vector<std::string> Distribution::lines() const {
  if (groups_.empty()) return {};
  std::string title = fmt::format("{:<40}{:>7}{:>8}{:>8}{:>8}{:>8}{:>8}", "Ours to the driver's copy",
                                  "cases", "least", "1 %", "10 %", "median", "mean");
  for (const double bound : bounds) title += fmt::format("{:>9}", fmt::format("<{:.2f}", bound));
  std::vector<std::string> all{std::move(title)};
  for (const auto& row : json()) {
    std::string line =
        fmt::format("{:<40}{:>7}", row["group"].get<std::string>() + " " + row["types"].get<std::string>(),
                    row["cases"].get<std::size_t>());
    for (const char* key : {"least", "percent_1", "percent_10", "median", "geometric_mean"})
      line += fmt::format("{:>8.3f}", row[key].get<double>());
    for (const double bound : bounds)
      line += fmt::format("{:>7.1f} %", 100 * row[below_key(bound)].get<double>());
    all.push_back(std::move(line));
  }
  all.emplace_back("Least ratios to the driver's copy");
  for (const auto& row : worst()) {
    all.push_back(fmt::format("{:>7.3f}  {:<54}{}", row["ratio"].get<double>(),
                              row["label"].get<std::string>(), row["kernels"].get<std::string>()));
  }
  return all;
}

}  // namespace movement
