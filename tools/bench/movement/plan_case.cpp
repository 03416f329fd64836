#include "plan_case.hpp"

#include "expressions.hpp"

namespace movement {

using tmajit::Tensor;

std::vector<Tensor> tensors(const std::vector<Array>& arrays, tmajit::DevicePtr buffer) {
  std::vector<Tensor> result;
  const Places where = places(arrays);
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    result.push_back({tmajit::TensorView::contiguous(arrays[i].type, arrays[i].shape),
                      buffer + static_cast<tmajit::DevicePtr>(where.offsets[i])});
  }
  return result;
}

tmajit::MovePlan plan_case(tmajit::Runtime& runtime, const Case& c, tmajit::DevicePtr destination,
                           tmajit::DevicePtr source) {
  const std::vector<Tensor> to = tensors(c.destinations, destination);
  const std::vector<Tensor> from = tensors(c.sources, source);
  switch (c.operation) {
    case Operation::permute: return plan_permute(runtime, to[0], from[0], c.axes);
    case Operation::slice: return plan_slice(runtime, to[0], from[0], c.slices);
    case Operation::pad: return plan_pad(runtime, to[0], from[0], {c.before, c.value});
    case Operation::concat: return plan_concat(runtime, to[0], from, c.axes[0]);
    case Operation::split: return plan_split(runtime, to, from[0], c.axes[0]);
    case Operation::cast: return plan_cast(runtime, to[0], from[0]);
    case Operation::map: {
      const Expression& expression = find_expression(c.expression);
      return plan_map(runtime, to[0], expression.text(c.sources[0].type), from);
    }
    case Operation::flip: {
      Tensor flipped = from[0];
      for (const std::uint32_t axis : c.axes) flipped = tmajit::flipped(flipped, axis);
      return plan_copy(runtime, to[0], flipped);
    }
    default: return plan_copy(runtime, to[0], from[0]);
  }
}

nlohmann::ordered_json describe(const tmajit::MovePlan& plan) {
  const tmajit::MoveExplanation explanation = plan.explain();
  nlohmann::ordered_json steps = nlohmann::ordered_json::array();
  for (const tmajit::MoveStep& step : explanation.steps) {
    steps.push_back({{"kernel", step.kernel},
                     {"choice", step.choice},
                     {"canonical", step.canonical},
                     {"tile", step.tile},
                     {"tiles", step.tiles},
                     {"threads", step.threads},
                     {"stages", step.stages},
                     {"shared_bytes", step.shared_bytes},
                     {"registers", step.registers},
                     {"ctas_per_sm", step.ctas_per_sm},
                     {"predicted_us", step.predicted_us},
                     {"tuned", step.tuned}});
  }
  return {{"shape_class", explanation.shape_class},
          {"planning_us", explanation.planning_us},
          {"bytes_moved", plan.bytes_moved()},
          {"steps", std::move(steps)}};
}

}  // namespace movement
