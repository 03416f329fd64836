#include "operations/list.hpp"
#include "operations/shared/indexed_moves.hpp"

TMAJIT_BEGIN
namespace {

Indexing scatter_add_indexing(const Move& move) {
  return indexing_of(IndexedUse::scatter_add, std::get<ScatterAdd>(move.body));
}

constexpr OperationRules scatter_add_rules{
    .check = [](MoveRules& rules) { check_indexed(rules, scatter_add_indexing(rules.move())); },
    .problem =
        [](const Move& move) {
          Problem problem = indexed_problem(move, scatter_add_indexing(move));
          std::get<IndexedProblem>(problem.body).ordered = std::get<ScatterAdd>(move.body).deterministic;
          return problem;
        },
    .writes = [](const Move& move) { return move.sources.front().view.elements() > 0; }};

}  // namespace

const OperationRules& rules_of(const ScatterAdd&) noexcept {
  return scatter_add_rules;
}

Operation operation::scatter_add(const Tensor& destination, const Tensor& source, List<Tensor> index,
                                 const ScatterAdd& what) {
  return indexed_operation(destination, source, index, what);
}

TMAJIT_END
