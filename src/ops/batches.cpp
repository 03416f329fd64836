#include "ops/batches.hpp"

#include "operations/list.hpp"
#include "spec/graph_memory.hpp"

#include <tmajit/error.hpp>

#include <algorithm>
#include <utility>
#include <variant>

TMAJIT_BEGIN
namespace {

constexpr std::size_t block_bytes = 1 << 16;  // the driver copies this much pageable memory without waiting

std::vector<DevicePtr> list_of(const TensorAddresses& addresses) {
  std::vector<DevicePtr> list(addresses.destinations.begin(), addresses.destinations.end());
  list.insert(list.end(), addresses.sources.begin(), addresses.sources.end());
  return list;
}

/// Address of a copy of the table for the graph into which `stream` is captured; 0 if it is not captured.
DevicePtr copy_for_capture(Device& device, std::span<const std::byte> table, Stream stream) {
  if (!device.streams().is_captured(stream)) return 0;
  auto* const graphs = dynamic_cast<GraphMemory*>(&device);
  if (graphs == nullptr)
    throw Error(ErrorCode::unsupported, "this device cannot keep the table of a batch for a graph");
  return graphs->allocate_for_capture(stream, table);
}

}  // namespace

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
  if (const DevicePtr graph_table = copy_for_capture(*device, plan.table, stream); graph_table != 0) {
    prepared.rebind({graph_table, graph_table});
    return prepared(stream);
  }
  const std::lock_guard lock(mutex_);
  Table& table = table_for(runtime, stream, plan.table.size(), std::move(prepared));
  table.addresses.clear();  // in case of an exception below
  table.as_planned = false;
  table.bytes = std::move(plan.table);
  const DevicePtr address = table.memory.address();
  table.launch.rebind({address, address});
  const std::span<const std::byte> bytes(table.bytes);
  for (std::size_t done = 0; done < bytes.size(); done += block_bytes) {
    device->memory().copy_in(address + done, bytes.subspan(done, std::min(block_bytes, bytes.size() - done)),
                             stream);
  }
  table.launch(stream);
  table.addresses = list_of(addresses);
  table.as_planned = as_planned;
}

Batches::Table& Batches::table_for(const Runtime& runtime, Stream stream, std::size_t bytes,
                                   PreparedLaunch launch) {
  const auto is_of_stream = [&](const Table& table) { return table.stream == stream; };
  if (std::ranges::count_if(tables_, is_of_stream) >= static_cast<std::ptrdiff_t>(max_per_stream)) {
    const auto oldest = std::prev(std::find_if(tables_.rbegin(), tables_.rend(), is_of_stream).base());
    if (oldest->memory.bytes() >= bytes) {
      oldest->launch = std::move(launch);
      tables_.splice(tables_.begin(), tables_, oldest);
      return *oldest;
    }
  }
  if (tables_.size() >= max_tables) tables_.pop_back();
  // Twice the size, because the batch may have one more dimension at other addresses.
  tables_.push_front({stream, Buffer(runtime.device(), 2 * bytes), {}, {}, std::move(launch), false});
  return tables_.front();
}

TMAJIT_END
