#include "runtime/made_for.hpp"

#include "kernel/plan_state.hpp"
#include "spec/inside.hpp"

#include <algorithm>
#include <span>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

TMAJIT_BEGIN

MadeFor made_for(const KernelPlan& plan) {
  const Problem& problem = Inside::state(plan)->problem;
  const std::span types = std::span(problem.type).first(problem.nest.operands);
  MadeFor made{
      .operation = std::string(problem.operation()), .types = std::string(name(types[0])), .shape = {}};
  if (std::ranges::any_of(types, [&](ElementType type) { return type != types[0]; })) {
    made.types += " <-";
    for (const ElementType type : types.subspan(1)) made.types += fmt::format(" {}", name(type));
  }
  const TensorView view = problem.view(0);
  const std::span shape = std::span(view.shape).first(view.rank);
  made.shape = shape.empty() ? std::string("1") : fmt::to_string(fmt::join(shape, "x"));
  return made;
}

MadeFor made_for(const KernelRequest& request) {
  return request.plan == nullptr ? MadeFor{} : made_for(*request.plan);
}

TMAJIT_END
