#include "plan/batch.hpp"

#include "operations/list.hpp"
#include "plan/candidates.hpp"

#include <tmajit/error.hpp>

#include <algorithm>
#include <variant>

TMAJIT_BEGIN
namespace {

constexpr std::size_t few_moves = 8;  // operations with up to this number of moves keep separate launches
// A batch must take less than this share of the time of separate launches.
constexpr double clearly_less = 0.97;

/// Whether a batch whose first move is `first` can hold `move` as well.
bool fits(const Move& move, const Move& first) {
  if (!std::holds_alternative<Copy>(move.body) || move.sources.size() != 1) return false;
  const TensorView& to = move.destination.view;
  const TensorView& from = move.sources.front().view;
  const TensorView& first_to = first.destination.view;
  if (to.rank != first_to.rank || to.type != from.type || size_of(to.type) != size_of(first_to.type))
    return false;
  for (std::uint32_t d = 0; d < from.rank; ++d) {
    if (from.shape[d] > 1 && from.strides[d] == 0) return false;  // a batch would move it element by element
  }
  return true;
}

}  // namespace

BatchTensors::BatchTensors(const Operation& operation) {
  for (const Move& move : operation.moves) {
    destinations.push_back(move.destination);
    sources.push_back(move.sources.front());
  }
}

std::optional<RaggedPlan> as_batch(const Operation& operation, DevicePtr table, const PlanOptions& options) {
  const std::vector<Move>& moves = operation.moves;
  const bool forced = options.family == "ragged";
  if (!operation.one_launch) {
    if (moves.size() <= (forced ? 1 : few_moves) || (!forced && !options.family.empty())) return {};
    if (!std::ranges::all_of(moves, [&](const Move& move) { return fits(move, moves.front()); })) return {};
    check_operation(moves);
  }
  const BatchTensors tensors(operation);
  std::optional<RaggedPlan> batch;
  try {
    batch = plan_batch(tensors.destinations, tensors.sources, table, options);
  } catch (const Error&) {
    if (operation.one_launch) throw;
    return {};  // too many dimensions, or a source that is its destination: separate kernels support these
  }
  if (operation.one_launch || forced) return batch;
  const double min_moves_us =
      batch->kernel.predicted_us() / clearly_less;  // a batch is used only if the moves take longer
  const auto launches = static_cast<double>(
      std::ranges::count_if(moves, [](const Move& move) { return move.destination.view.elements() > 0; }));
  if (min_moves_us < launches * options.chip.costs.launch_us) return batch;
  double moves_us = 0;
  for (const KernelPlan& plan : plan_each(operation, options)) moves_us += plan.predicted_us();
  return min_moves_us < moves_us ? batch : std::nullopt;
}

TMAJIT_END
