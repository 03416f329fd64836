#include "spec/combine_rules.hpp"

#include <utility>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

TMAJIT_BEGIN

void check_combined(CombineOp op, ElementType type, std::string subject, Violations& violations) {
  if (combined_as(op, type)) return;
  std::vector<std::string_view> legal;
  for (const ElementType one : all_element_types) {
    if (combined_as(op, one)) legal.push_back(name(one));
  }
  violations.add({.rule = "combine.type",
                  .subject = std::move(subject),
                  .found = fmt::format("{} of {}", name(op), name(type)),
                  .need = fmt::format("a type that the copy engine combines by {}", name(op)),
                  .legal = legal.empty() ? "add, min, max, inc, dec, and, or, xor"
                                         : fmt::format("{}", fmt::join(legal, ", ")),
                  .source = "PTX ISA, cp.reduce.async.bulk.tensor"});
}

TMAJIT_END
