#include "operations/list.hpp"
#include "operations/shared/make.hpp"
#include "operations/shared/rounding.hpp"

#include <string>
#include <utility>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

void check_map(MoveRules& rules) {
  const auto& expression = std::get<Map>(rules.move().body).expression;
  rules.check_min_sources(0);
  if (expression.empty()) {
    rules.add("expression.empty", fmt::format("expression of {}", rules.destination()), "none",
              "an expression, such as \"x0 + x1\"", "a copy, which needs none");
  }
  rules.check_expression(expression);
  rules.check_coordinates(expression);
  rules.check_shapes();
}

Problem map_problem(const Move& move) {
  const auto& expression = std::get<Map>(move.body).expression;
  const ExpressionReads reads = reads_of(expression);
  // g has the destination's coordinates, which joined dimensions would lose.
  return elementwise_problem(move, MapProblem{expression, reads}, {.keep_dimensions = reads.g});
}

constexpr OperationRules map_rules{
    .in_place = true, .check = check_map, .problem = map_problem, .same_bits = [](const Move& move) {
      return rounds_alike(std::get<Map>(move.body).expression);
    }};

}  // namespace

const OperationRules& rules_of(const Map&) noexcept {
  return map_rules;
}

Operation operation::map(const Tensor& destination, std::string_view expression, List<Tensor> sources) {
  if (expression.empty()) {
    refuse("a map without an expression: give one, such as \"x0 + x1\", or use a copy, which needs none");
  }
  Move move{.destination = destination, .sources = {}, .body = Map{std::string(expression)}};
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const std::string what = sources.size() == 1 ? std::string(the_source) : fmt::format("source {}", i);
    move.sources.push_back(broadcast(sources[i], shape_of(destination), what));
  }
  return one_move(std::move(move), sources);
}

TMAJIT_END
