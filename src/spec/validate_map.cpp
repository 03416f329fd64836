#include "spec/map_rules.hpp"

#include <tmajit/validate.hpp>

TMAJIT_BEGIN

std::vector<Violation> validate(const TensorMapSpec& spec, std::optional<std::uint64_t> address) {
  Violations violations;
  check_form(spec, violations);
  check_kind(spec, violations);
  check_extents(spec, violations);
  check_box(spec, violations);
  if (address) check_address(spec, *address, violations);
  return violations.take();
}

TMAJIT_END
