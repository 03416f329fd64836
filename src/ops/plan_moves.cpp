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

std::uint32_t remainder(const CanonicalNest& nest, std::uint32_t operand, const Tensor& tensor) {
  const auto offset = nest.operand[operand].offset * static_cast<std::int64_t>(size_of(tensor.view.type));
  return static_cast<std::uint32_t>((tensor.address + static_cast<DevicePtr>(offset)) % 16);
}

PlannedMove plan_one(Runtime& runtime, const Move& move, const CanonicalNest& nest) {
  const Tensor& to = move.destination;
  const Tensor& from = move.sources.front();
  const MoveKernel kernel =
      choose_move(nest, size_of(to.view.type), remainder(nest, 0, to), remainder(nest, 1, from));
  return {nest, kernel, runtime.kernel(move_source(kernel)), move_shape(kernel, nest),
          move_parameter(kernel, nest, to.address, from.address)};
}

void launch(const PlannedMove& planned, Stream stream) {
  std::vector<std::byte> parameter = planned.parameter;
  void* const pointer = parameter.data();
  planned.loaded.launch(planned.shape, std::span(&pointer, 1), stream);
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
    const Move& move = moves[i];
    if (move.sources.size() != 1 || !move.expression.empty() || move.padding) {
      throw Error(ErrorCode::unsupported, "expressions and paddings are not planned yet");
    }
    const CanonicalNest nest = canonical(std::array{move.destination.view, move.sources.front().view});
    if (nest.empty()) continue;
    state->planned.push_back(plan_one(runtime, move, nest));
    state->move_of.push_back(i);
    state->kernels.push_back(state->planned.back().loaded);
    state->bytes += 2 * nest.elements() * size_of(move.destination.view.type);
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
