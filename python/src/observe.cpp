#include "observe.hpp"

#include "runtimes.hpp"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

namespace tmajit::python {
namespace {

/// Records that no Python thread has taken yet. Never destroyed: a thread may wait when the process ends.
struct Queue {
  std::atomic<bool> has_reader = false;
  std::mutex mutex;
  std::condition_variable added;
  std::deque<KernelRecord> records;
};

Queue& queue() {
  static Queue& instance = *new Queue;
  return instance;
}

nb::dict to_dict(const StageTimes& times) {
  nb::dict dict;
  dict["generate"] = times.generate;
  dict["key"] = times.key;
  dict["fetch"] = times.fetch;
  dict["compile"] = times.compile;
  dict["store"] = times.store;
  dict["load"] = times.load;
  return dict;
}

nb::dict to_dict(const KernelRecord& record) {
  nb::dict dict;
  dict["key"] = record.key.hex();
  dict["entry"] = record.entry;
  dict["operation"] = record.made_for.operation;
  dict["types"] = record.made_for.types;
  dict["shape"] = record.made_for.shape;
  dict["level"] = name(record.level);
  dict["made_by"] = name(record.made_by);
  dict["times_ms"] = to_dict(record.times);
  dict["bytes"] = record.bytes;
  dict["when"] = std::chrono::duration<double>(record.when.time_since_epoch()).count();
  return dict;
}

Backend& released_backend(std::optional<std::int32_t> gpu) {
  const nb::gil_scoped_release released;
  return backend_on(gpu);
}

nb::dict counters_of(std::optional<std::int32_t> gpu) {
  const Counters counters = tmajit::counters(released_backend(gpu).runtime);
  nb::dict requests;
  for (const CacheLevel level :
       {CacheLevel::memory, CacheLevel::pack, CacheLevel::disk, CacheLevel::fleet, CacheLevel::compiled})
    requests[nb::cast(name(level))] = counters.of(level);
  nb::dict dict;
  dict["requests"] = requests;
  dict["failures"] = counters.failures;
  dict["times_ms"] = to_dict(counters.times);
  dict["bytes_read"] = counters.bytes_read;
  dict["bytes_written"] = counters.bytes_written;
  dict["bytes_loaded"] = counters.bytes_loaded;
  dict["served"] = counters.served;
  dict["waited"] = counters.waited;
  dict["swaps"] = counters.swaps;
  dict["swap_ms"] = counters.swap_ms;
  return dict;
}

nb::list history_of(std::optional<std::int32_t> gpu) {
  nb::list list;
  for (const KernelRecord& record : tmajit::history(released_backend(gpu).runtime))
    list.append(to_dict(record));
  return list;
}

void start_records() {
  queue().has_reader = true;
}

nb::dict next_record() {
  const KernelRecord record = [] {
    const nb::gil_scoped_release released;
    std::unique_lock lock(queue().mutex);
    queue().added.wait(lock, [] { return !queue().records.empty(); });
    KernelRecord first = std::move(queue().records.front());
    queue().records.pop_front();
    return first;
  }();
  return to_dict(record);
}

}  // namespace

void publish_kernel(const KernelRecord& record) {
  if (!queue().has_reader) return;
  {
    const std::lock_guard lock(queue().mutex);
    queue().records.push_back(record);
  }
  queue().added.notify_one();
}

void bind_observe(nb::module_& module) {
  module.def("counters", &counters_of, nb::arg("gpu").none(), "The counters of a device's runtime.");
  module.def("history", &history_of, nb::arg("gpu").none(), "The last kernels of a device's runtime.");
  module.def("start_records", &start_records, "Kernels made from now on wait for next_record().");
  module.def("next_record", &next_record, "Waits for the next kernel.");
}

}  // namespace tmajit::python
