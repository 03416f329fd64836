#include "ops/batches.hpp"

#include "operations/list.hpp"
#include "plan/candidates.hpp"
#include "spec/graph_memory.hpp"

#include <tmajit/error.hpp>

#include <algorithm>
#include <utility>
#include <variant>

TMAJIT_BEGIN
namespace {

constexpr std::size_t few_moves = 8;          // launches that one plan may have anyway
constexpr double clearly_together = 0.97;     // of the time that the moves take one by one
constexpr std::size_t block_bytes = 1 << 16;  // of pageable memory, which the driver takes without waiting

/// Whether a batch can hold a move beside `first`.
bool fits(const Move& move, const Move& first) {
  if (!std::holds_alternative<Copy>(move.body) || move.sources.size() != 1) return false;
  const TensorView& to = move.destination.view;
  const TensorView& from = move.sources.front().view;
  const TensorView& like = first.destination.view;
  if (to.rank != like.rank || to.type != from.type || size_of(to.type) != size_of(like.type)) return false;
  for (std::uint32_t d = 0; d < from.rank; ++d) {
    if (from.shape[d] > 1 && from.strides[d] == 0) return false;  // threads would move it element by element
  }
  return true;
}

std::vector<DevicePtr> list_of(const TensorAddresses& addresses) {
  std::vector<DevicePtr> list(addresses.destinations.begin(), addresses.destinations.end());
  list.insert(list.end(), addresses.sources.begin(), addresses.sources.end());
  return list;
}

/// Memory with the table for the graph that `stream` is captured into; 0 if the stream is not captured.
DevicePtr of_capture(Device& device, std::span<const std::byte> table, Stream stream) {
  if (!device.streams().is_captured(stream)) return 0;
  auto* const graphs = dynamic_cast<GraphMemory*>(&device);
  if (graphs == nullptr)
    throw Error(ErrorCode::unsupported, "this device cannot keep the table of a batch for a graph");
  return graphs->of_capture(stream, table);
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
    return {};  // too many dimensions, or a source that is its destination: the moves do that
  }
  if (operation.one_launch || forced) return batch;
  const double most_us = batch->kernel.predicted_us() / clearly_together;
  const auto launches = static_cast<double>(
      std::ranges::count_if(moves, [](const Move& move) { return move.destination.view.elements() > 0; }));
  if (most_us < launches * options.chip.costs.launch_us) return batch;
  double moves_us = 0;
  for (const KernelPlan& plan : plan_kernels(operation, options)) moves_us += plan.predicted_us();
  return most_us < moves_us ? batch : std::nullopt;
}

template <class F>
bool Batches::launch_first(const Runtime& runtime, Stream stream, const F& is_wanted) {
  const std::lock_guard lock(mutex_);
  if (tables_.empty() || runtime.device()->streams().is_captured(stream)) return false;
  const auto known = std::ranges::find_if(
      tables_, [&](const Table& table) { return table.stream == stream && is_wanted(table); });
  if (known == tables_.end()) return false;
  tables_.splice(tables_.begin(), tables_, known);
  known->launch(stream);
  return true;
}

bool Batches::launch_known(const Runtime& runtime, const TensorAddresses& addresses, Stream stream) {
  return launch_first(runtime, stream, [&](const Table& table) {
    if (table.addresses.size() != addresses.size()) return false;
    for (std::size_t i = 0; i < addresses.size(); ++i) {
      if (table.addresses[i] != addresses[i]) return false;
    }
    return true;
  });
}

bool Batches::launch_as_planned(const Runtime& runtime, Stream stream) {
  return launch_first(runtime, stream, [](const Table& table) { return table.as_planned; });
}

void Batches::launch(const Runtime& runtime, RaggedPlan plan, const TensorAddresses& addresses,
                     bool as_planned, Stream stream) {
  const std::shared_ptr<Device>& device = runtime.device();
  PreparedLaunch prepared = runtime.kernel(plan.kernel).prepare(plan.kernel);
  if (const DevicePtr kept = of_capture(*device, plan.table, stream); kept != 0) {
    prepared.rebind({kept, kept});
    return prepared(stream);
  }
  const std::lock_guard lock(mutex_);
  Table& table = table_for(runtime, stream, plan.table.size(), std::move(prepared));
  table.addresses.clear();  // should anything fail
  table.as_planned = false;
  table.bytes = std::move(plan.table);
  const DevicePtr at = table.memory.address();
  table.launch.rebind({at, at});
  const std::span<const std::byte> bytes(table.bytes);
  for (std::size_t done = 0; done < bytes.size(); done += block_bytes) {
    device->memory().copy_in(at + done, bytes.subspan(done, std::min(block_bytes, bytes.size() - done)),
                             stream);
  }
  table.launch(stream);
  table.addresses = list_of(addresses);
  table.as_planned = as_planned;
}

Batches::Table& Batches::table_for(const Runtime& runtime, Stream stream, std::size_t bytes,
                                   PreparedLaunch launch) {
  const auto is_own = [&](const Table& table) { return table.stream == stream; };
  if (std::ranges::count_if(tables_, is_own) >= static_cast<std::ptrdiff_t>(most_of_stream)) {
    const auto oldest = std::prev(std::find_if(tables_.rbegin(), tables_.rend(), is_own).base());
    if (oldest->memory.bytes() >= bytes) {
      oldest->launch = std::move(launch);
      tables_.splice(tables_.begin(), tables_, oldest);
      return *oldest;
    }
  }
  if (tables_.size() >= most) tables_.pop_back();
  // Twice as much: at other addresses the same batch may have a dimension more.
  tables_.push_front({stream, Buffer(runtime.device(), 2 * bytes), {}, {}, std::move(launch), false});
  return tables_.front();
}

TMAJIT_END
