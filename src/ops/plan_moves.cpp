#include "ops/check_moves.hpp"
#include "ops/given_tensors.hpp"
#include "ops/move_plan.hpp"
#include "ops/overlap.hpp"

#include <tmajit/error.hpp>

#include <array>
#include <chrono>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

PlannedMove plan_one(Runtime& runtime, MoveProblem problem) {
  MoveCandidate chosen = std::move(move_candidates(problem).front());
  const MoveKernel& kernel = chosen.kernel;
  Kernel loaded = runtime.kernel(
      move_recipe(kernel, problem.expression), [&] { return move_source(kernel, problem.expression); },
      kernel.shared_bytes());
  const LaunchShape shape = move_shape(kernel, chosen.nest);
  auto parameters = move_parameters(kernel, chosen.nest, problem);
  return {std::move(problem), std::move(chosen), std::move(loaded), shape, std::move(parameters)};
}

void launch(const PlannedMove& planned, Stream stream) {
  std::array<void*, 2> pointers{};
  for (std::size_t i = 0; i < planned.parameters.size(); ++i) {
    // The driver takes pointers to non-const, and reads only.
    pointers[i] = const_cast<std::byte*>(planned.parameters[i].data());
  }
  planned.loaded.launch(planned.shape, std::span(pointers).first(planned.parameters.size()), stream);
}

}  // namespace

MovePlan::MovePlan(std::shared_ptr<const State> state) : state_(std::move(state)) {}

MovePlan plan_moves(Runtime& runtime, std::span<const Move> moves) {
  return plan_moves(runtime, moves, GivenTensors::of(moves));
}

MovePlan plan_moves(Runtime& runtime, std::span<const Move> moves, GivenTensors given) {
  check_moves(moves);
  require_disjoint(moves);
  auto state = std::make_shared<MovePlan::State>();
  state->runtime = &runtime;
  state->given = std::move(given);
  state->moves.assign(moves.begin(), moves.end());
  for (std::size_t i = 0; i < moves.size(); ++i) {
    MoveProblem problem = move_problem(moves[i]);
    if (problem.nest.empty()) continue;
    state->bytes += problem.bytes_read() + problem.bytes_written();
    state->planned.push_back(plan_one(runtime, std::move(problem)));
    state->move_of.push_back(i);
    state->kernels.push_back(state->planned.back().loaded);
  }
  return MovePlan(std::move(state));
}

void MovePlan::operator()(Stream stream) const {
  for (const PlannedMove& planned : state_->planned) launch(planned, stream);
}

void MovePlan::operator()(std::span<const DevicePtr> destinations, std::span<const DevicePtr> sources,
                          Stream stream) const {
  const GivenTensors::Addresses at = state_->given.at(destinations, sources);
  check_addresses(state_->moves, at.destinations, at.sources);
  require_disjoint(state_->moves, at.destinations, at.sources);
  std::vector<Move> moves = state_->moves;
  std::size_t source = 0;
  for (std::size_t i = 0; i < moves.size(); ++i) {
    moves[i].destination.address = at.destinations[i];
    for (Tensor& tensor : moves[i].sources) tensor.address = at.sources[source++];
  }
  plan_moves(*state_->runtime, moves)(stream);
}

std::uint64_t MovePlan::bytes_moved() const noexcept {
  return state_->bytes;
}
std::span<const Kernel> MovePlan::kernels() const noexcept {
  return state_->kernels;
}
std::span<const Move> MovePlan::moves() const noexcept {
  return state_->moves;
}

TMAJIT_END
