#include "operations/list.hpp"
#include "operations/shared/make.hpp"
#include "operations/shared/rounding.hpp"

TMAJIT_BEGIN
namespace {

void check_copy(MoveRules& rules) {
  rules.check_bits();
  rules.check_shapes();
}

Problem copy_problem(const Move& move) {
  return widened(elementwise_problem(move, CopyProblem{}));
}

constexpr OperationRules copy_rules{.check = check_copy, .problem = copy_problem, .same_bits = moves_bits};

}  // namespace

const OperationRules& rules_of(const Copy&) noexcept {
  return copy_rules;
}

Operation operation::copy(const Tensor& destination, const Tensor& source) {
  return one_move({destination, {broadcast(source, shape_of(destination), the_source)}}, {&source, 1});
}

TMAJIT_END
