#include "operations/list.hpp"
#include "operations/shared/indexed_moves.hpp"
#include "operations/shared/rounding.hpp"
#include "spec/views.hpp"

#include <string>

TMAJIT_BEGIN
namespace {

Indexing gather_indexing(const Move& move) {
  return indexing_of(IndexedUse::gather, std::get<Gather>(move.body));
}

void check_gather(MoveRules& rules) {
  const Move& move = rules.move();
  const std::string& expression = std::get<Gather>(move.body).expression;
  rules.check_expression(expression);
  if (expression.empty() && count_numbers(move.sources) > 0) {
    rules.add("number.operation", rules.destination(), "a source that is a number, and no expression",
              "tensors: a gather without an expression moves bits", "an expression that reads p0, p1 …");
  }
  check_indexed(rules, gather_indexing(move));
}

Problem gather_problem(const Move& move) {
  const auto& what = std::get<Gather>(move.body);
  Problem problem = indexed_problem(move, gather_indexing(move), what.value);
  std::get<IndexedProblem>(problem.body).expression = what.expression;
  return problem;
}

constexpr OperationRules gather_rules{
    .check = check_gather, .problem = gather_problem, .same_bits = [](const Move& move) {
      return rounds_alike(std::get<Gather>(move.body).expression);
    }};

}  // namespace

const OperationRules& rules_of(const Gather&) noexcept {
  return gather_rules;
}

Operation operation::gather(const Tensor& destination, const Tensor& source, List<Tensor> index,
                            const Gather& what) {
  return indexed_operation(destination, source, index, what);
}

TMAJIT_END
