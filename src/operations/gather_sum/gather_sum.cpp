#include "operations/list.hpp"
#include "operations/shared/indexed_moves.hpp"

#include <vector>

TMAJIT_BEGIN
namespace {

Indexing gather_sum_indexing(const Move& move) {
  return indexing_of(IndexedUse::gather_sum, std::get<GatherSum>(move.body));
}

constexpr OperationRules gather_sum_rules{
    .check = [](MoveRules& rules) { check_indexed(rules, gather_sum_indexing(rules.move())); },
    .problem = [](const Move& move) { return indexed_problem(move, gather_sum_indexing(move)); }};

}  // namespace

const OperationRules& rules_of(const GatherSum&) noexcept {
  return gather_sum_rules;
}

Operation operation::gather_sum(const Tensor& destination, const Tensor& source, const Tensor& index,
                                const std::optional<Tensor>& weights, const GatherSum& what,
                                const std::optional<Tensor>& offsets) {
  std::vector<Tensor> after_source{index};
  if (weights) after_source.push_back(*weights);
  if (offsets) after_source.push_back(*offsets);
  GatherSum body = what;
  body.ragged = what.ragged || offsets.has_value();
  return indexed_operation(destination, source, after_source, body);
}

TMAJIT_END
