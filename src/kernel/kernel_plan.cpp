#include "kernel/plan_state.hpp"
#include "spec/inside.hpp"

#include <algorithm>
#include <utility>

TMAJIT_BEGIN
namespace {

std::string key_of(const Candidate& candidate, std::string_view expression, std::string_view epilogue) {
  std::string key(candidate.family->name());
  key += '\0';
  key += candidate.data->facts_bytes();  // the constants that the kernel is specialised for
  key += expression;
  if (!epilogue.empty()) key.append(1, '\0').append(epilogue);
  return key;
}

}  // namespace

KernelPlan make_kernel_plan(Candidate candidate, Problem problem, const Prediction& prediction, bool tuned) {
  auto state = std::make_shared<KernelPlanState>();
  const Family& family = *candidate.family;
  const Footprint footprint = family.footprint(candidate, problem);
  state->launch_shape.block = {footprint.threads, 1, 1};
  state->launch_shape.shared_bytes = footprint.dynamic_shared_bytes;
  // The maximum is 0 if no launch of the kernel needs another size.
  state->max_shared_bytes = std::max(footprint.dynamic_shared_bytes, footprint.max_dynamic_shared_bytes);
  family.bind(candidate, problem, state->parameters, state->launch_shape);
  state->key = key_of(candidate, problem.expression(), problem.epilogue());
  state->candidate = std::move(candidate);
  state->problem = std::move(problem);
  state->prediction = prediction;
  state->tuned = tuned;
  return Inside::make<KernelPlan>(std::move(state));  // Inside may call the private constructor
}

const FamilyInfo& KernelPlan::family() const noexcept {
  return state_->candidate.family->info();
}
std::string_view KernelPlan::key() const noexcept {
  return state_->key;
}
std::string_view KernelPlan::expression() const noexcept {
  return state_->problem.expression();
}
std::string_view KernelPlan::epilogue() const noexcept {
  return state_->problem.epilogue();
}
const LaunchShape& KernelPlan::launch_shape() const noexcept {
  return state_->launch_shape;
}

KernelShape KernelPlan::shape() const {
  const Candidate& candidate = state_->candidate;
  const Footprint footprint = candidate.family->footprint(candidate, state_->problem);
  const std::uint32_t rank = std::max(candidate.nest.rank, 1U);
  return {.tile = {footprint.box.begin(), footprint.box.begin() + rank},
          .tiles = tiles_of(footprint, candidate.nest),
          .threads = footprint.threads,
          .stages = footprint.stages,
          .dynamic_shared_bytes = footprint.dynamic_shared_bytes,
          .static_shared_bytes = footprint.static_shared_bytes,
          .ctas_per_sm = resident_ctas(footprint),
          .bytes_in_flight = footprint.bytes_in_flight};
}

KernelChoice KernelPlan::choice() const {
  return state_->candidate.family->choice(state_->candidate);
}
std::string KernelPlan::why() const {
  return state_->candidate.family->why(state_->candidate, state_->problem);
}

std::vector<Parameter> KernelPlan::parameters() const {
  std::vector<Parameter> parameters;
  for (const ParameterBlock::Entry& entry : state_->parameters.entries()) {
    parameters.push_back({.type = entry.type.text(),
                          .name = std::string(entry.name),
                          .offset = entry.offset,
                          .bytes = entry.bytes});
  }
  for (const ParameterBlock::TensorMapSlot& map : state_->parameters.maps()) {
    parameters[map.entry].map_of = static_cast<int>(map.operand);
    parameters[map.entry].map = map.spec;
  }
  return parameters;
}

std::span<const std::byte> KernelPlan::parameter_bytes() const noexcept {
  return state_->parameters.bytes();
}
DevicePtr KernelPlan::operand_address(std::uint32_t operand) const noexcept {
  return state_->problem.address[operand];
}
std::uint64_t KernelPlan::bytes_read() const noexcept {
  return state_->problem.bytes_read();
}
std::uint64_t KernelPlan::bytes_written() const noexcept {
  return state_->problem.bytes_written();
}
const Prediction& KernelPlan::prediction() const noexcept {
  return state_->prediction;
}
/// Whether many problems share the kernel (Candidate::common).
bool KernelPlan::common() const noexcept {
  return state_->candidate.common;
}
bool KernelPlan::is_default() const noexcept {
  return state_->candidate.default_choice != DefaultChoice::no;
}
bool KernelPlan::tuned() const noexcept {
  return state_->tuned;
}

TMAJIT_END
