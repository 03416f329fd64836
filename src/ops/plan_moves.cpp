#include "ops/check_moves.hpp"
#include "ops/given_tensors.hpp"
#include "ops/move_plan.hpp"
#include "ops/overlap.hpp"

#include <tmajit/error.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <iterator>
#include <optional>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t least_alike = 256 << 20;  // bytes

/// What was measured on this chip for the problem's class. Moves that fill the chip many times over go as
/// those of half or twice their size do, if nobody measured them.
std::optional<TunedChoice> find_choice(Runtime& runtime, const MoveProblem& problem,
                                       const MoveKernel& first) {
  const std::string& chip = runtime.device()->info().name;
  const TuningTable& table = runtime.tuning();
  auto choice = table.find(chip, shape_class(problem, first));
  if (problem.bytes_written() < least_alike) return choice;
  for (const int doublings : {-1, 1, -2, 2}) {
    if (!choice) choice = table.find(chip, shape_class(problem, first, doublings));
  }
  return choice;
}

/// The tuned candidate of the problem, if there is one.
const MoveCandidate* find_tuned(Runtime& runtime, const MoveProblem& problem,
                                const std::vector<MoveCandidate>& candidates) {
  if (!runtime.device()) return nullptr;
  const auto tuned = find_choice(runtime, problem, candidates.front().kernel);
  if (!tuned) return nullptr;
  const auto same = [&](const MoveCandidate& candidate) {
    return candidate.kernel.choice() == tuned->choice;
  };
  const auto found = std::ranges::find_if(candidates, same);
  return found == candidates.end() ? nullptr : &*found;
}

/// The bytes of a launch's parameters: tensor maps, encoded by the device that will read them, then the rest.
std::vector<std::vector<std::byte>> parameters_of(Runtime& runtime, const MoveProblem& problem,
                                                  const MoveCandidate& candidate) {
  std::vector<std::vector<std::byte>> parameters;
  for (const MoveMap& map : move_maps(candidate.kernel, problem)) {
    const EncodedTensorMap encoded = runtime.device()->encode(map.spec, map.address);
    parameters.emplace_back(encoded.opaque.begin(), encoded.opaque.end());
  }
  std::ranges::move(move_parameters(candidate.kernel, candidate.nest, problem),
                    std::back_inserter(parameters));
  return parameters;
}

}  // namespace

Chip planning_chip(const Runtime& runtime) {
  return runtime.device() ? chip_of(runtime.device()->info()) : Chip{};
}

PlannedMove planned_with(Runtime& runtime, const MoveProblem& problem, const MoveCandidate& candidate) {
  const MoveKernel& kernel = candidate.kernel;
  Kernel loaded = runtime.kernel(
      move_recipe(kernel, problem.expression), [&] { return move_source(kernel, problem.expression); },
      kernel.shared_bytes());
  return {problem, candidate, std::move(loaded), move_shape(kernel, candidate.nest),
          parameters_of(runtime, problem, candidate)};
}

void PlannedMove::launch(Stream stream) const {
  std::array<void*, 3> pointers{};
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    // The driver takes pointers to non-const, and reads only.
    pointers[i] = const_cast<std::byte*>(parameters[i].data());
  }
  loaded.launch(shape, std::span(pointers).first(parameters.size()), stream);
}

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
  const Chip chip = planning_chip(runtime);
  Clock::duration planning{};
  for (std::size_t i = 0; i < moves.size(); ++i) {
    const Clock::time_point start = Clock::now();
    const MoveProblem problem = move_problem(moves[i]);
    if (problem.nest.empty()) continue;
    const std::vector<MoveCandidate> candidates = move_candidates(problem);
    const MoveCandidate* tuned = find_tuned(runtime, problem, candidates);
    const MoveCandidate& chosen = tuned != nullptr ? *tuned : candidates[choose(candidates, problem, chip)];
    planning += Clock::now() - start;

    state->bytes += problem.bytes_read() + problem.bytes_written();
    state->planned.push_back(planned_with(runtime, problem, chosen));
    state->planned.back().tuned = tuned != nullptr;
    state->move_of.push_back(i);
    state->kernels.push_back(state->planned.back().loaded);
  }
  state->planning_us = std::chrono::duration<double, std::micro>(planning).count();
  return MovePlan(std::move(state));
}

void MovePlan::operator()(Stream stream) const {
  for (const PlannedMove& planned : state_->planned) planned.launch(stream);
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
