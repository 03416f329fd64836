#include "spec/kernel_rules.hpp"

#include <tmajit/validate.hpp>

#include <span>

TMAJIT_BEGIN
namespace {

void check_spec(const KernelSpec& spec, Violations& violations) {
  check_counts(spec, violations);
  check_expression(spec, violations);
  check_operands(spec, violations);
  check_budget(spec, violations);
}

}  // namespace

std::vector<Violation> validate(const KernelSpec& spec) {
  Violations violations;
  check_spec(spec, violations);
  return violations.take();
}

std::vector<Violation> validate(const KernelSpec& spec, std::span<const TensorView> views) {
  Violations violations;
  check_spec(spec, violations);
  check_views(spec, views, violations);
  return violations.take();
}

TMAJIT_END
