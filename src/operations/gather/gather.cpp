#include "operations/list.hpp"
#include "operations/shared/indexed_moves.hpp"

TMAJIT_BEGIN
namespace {

Indexing gather_indexing(const Move& move) {
  return indexing_of(IndexedUse::gather, std::get<Gather>(move.body));
}

constexpr OperationRules gather_rules{
    .check = [](MoveRules& rules) { check_indexed(rules, gather_indexing(rules.move())); },
    .problem =
        [](const Move& move) {
          return indexed_problem(move, gather_indexing(move), std::get<Gather>(move.body).value);
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
