/// The report on the planner's choices: how much slower they are than the best candidate, and how much the
/// times of one kernel differ.
#include "regret.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>

using Catch::Matchers::WithinRel;
using Json = nlohmann::ordered_json;

namespace {

/// A case whose candidates take `us` microseconds. The first candidate is the planner's choice.
Json case_of(const std::vector<double>& us) {
  Json result{{"label", "random: a case"}, {"candidates", Json::array()}};
  for (const double one : us) {
    result["candidates"].push_back(
        {{"choice", "kernel"}, {"family", "rows"}, {"prediction", {{"us", 100}}}, {"us", one}});
  }
  return result;
}

Json final_choice(std::size_t candidate, double us) {
  return {{"choice", "kernel"}, {"candidate", candidate}, {"us", us}, {"calls", 0}};
}

Json regret_of(const std::vector<Json>& results) {
  bench::Report report("test");
  report.json["results"] = results;
  movement::report_model(report);
  return report.json["regret"];
}

}  // namespace

TEST_CASE("the regret of a choice is its time divided by the best candidate's") {
  const Json regret = regret_of({case_of({100, 100.9}), case_of({102, 100}), case_of({150, 120, 100})});
  REQUIRE(regret.size() == 1);
  const Json& model = regret["model"];
  CHECK(model["cases"] == 3);
  CHECK_THAT(model["within_1_percent"].get<double>(), WithinRel(1.0 / 3));
  CHECK_THAT(model["within_3_percent"].get<double>(), WithinRel(2.0 / 3));
  CHECK_THAT(model["mean"].get<double>(), WithinRel((1 + 1.02 + 1.5) / 3));
  CHECK_THAT(model["worst"].get<double>(), WithinRel(1.5));
}

TEST_CASE("regret compares final choices with the best candidate, and a kernel with its own repeats") {
  Json first = case_of({150, 120, 100});
  // The regret uses the time of the choice among the candidates. The second time of the same kernel, in
  // "settled", only shows the noise.
  first["settled"] = {
      {"model", final_choice(0, 147)}, {"tuned", final_choice(2, 104)}, {"improved", final_choice(1, 120)}};
  Json second = case_of({100, 101});
  second["settled"] = {{"model", final_choice(0, 100.5)},
                       {"tuned", final_choice(1, 101)},
                       {"improved", {{"why_not", "too short"}, {"calls", 0}}}};
  const Json regret = regret_of({first, second, case_of({100})});
  CHECK(regret["model"]["cases"] == 3);
  CHECK(regret["tuned"]["cases"] == 2);
  CHECK_THAT(regret["tuned"]["worst"].get<double>(), WithinRel(1.01));
  CHECK(regret["improved"]["cases"] == 1);
  CHECK_THAT(regret["improved"]["mean"].get<double>(), WithinRel(1.2));
  CHECK(regret["noise"]["cases"] == 5);
  CHECK_THAT(regret["noise"]["worst"].get<double>(), WithinRel(1.04));
  CHECK_THAT(regret["noise"]["within_1_percent"].get<double>(), WithinRel(3.0 / 5));
}

TEST_CASE("cases that were only predicted are left out of the regret") {
  Json predicted = case_of({100, 101});
  for (Json& candidate : predicted["candidates"]) candidate["us"] = nullptr;
  CHECK(regret_of({predicted}).empty());
  CHECK(regret_of({}).empty());
}
