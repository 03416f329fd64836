#include "operations/list.hpp"
#include "operations/shared/indexed_moves.hpp"
#include "operations/shared/rounding.hpp"

TMAJIT_BEGIN
namespace {

Indexing scatter_indexing(const Move& move) {
  return indexing_of(IndexedUse::scatter, std::get<Scatter>(move.body));
}

constexpr OperationRules scatter_rules{
    .check = [](MoveRules& rules) { check_indexed(rules, scatter_indexing(rules.move())); },
    .problem = [](const Move& move) { return indexed_problem(move, scatter_indexing(move)); },
    .writes = [](const Move& move) { return move.sources.front().view.elements() > 0; },
    .same_bits = moves_bits};

}  // namespace

const OperationRules& rules_of(const Scatter&) noexcept {
  return scatter_rules;
}

Operation operation::scatter(const Tensor& destination, const Tensor& source, List<Tensor> index,
                             const Scatter& what) {
  return indexed_operation(destination, source, index, what);
}

TMAJIT_END
