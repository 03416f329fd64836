// Streams and events. Enqueued work is complete when the call that enqueues it returns.
#include "cudart/graphs.hpp"
#include "cudart/handles.hpp"
#include "cudart/pools.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

using namespace tmajit::cudart;

namespace {

/// The least and the greatest priority of a stream.
constexpr int least_priority = 0;
constexpr int greatest_priority = -5;

struct StreamFacts {
  unsigned flags = cudaStreamDefault;
  int priority = least_priority;
};
struct Streams {
  std::mutex mutex;
  std::map<cudaStream_t, StreamFacts> all;
};
Streams& streams() {
  static auto& all = *new Streams;
  return all;
}

bool is_default(cudaStream_t stream) {
  return stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread;
}

StreamFacts facts_of(cudaStream_t stream) {
  if (is_default(stream)) return {};
  const std::lock_guard lock(streams().mutex);
  const auto found = streams().all.find(stream);
  if (found != streams().all.end()) return found->second;
  throw Failure(cudaErrorInvalidResourceHandle, "no stream has this handle; it may have been destroyed");
}

/// Time is measured in executed instructions: a million count as a millisecond, as in StreamTimer.
struct Event {
  bool timed = true;
  std::optional<std::uint64_t> recorded{};
  std::uint64_t capture = 0;  ///< the capture that recorded the event last; 0 if none did
};
Handles<Event>& events() {
  static auto& all = *new Handles<Event>("event");
  return all;
}

void record(cudaEvent_t handle, cudaStream_t stream) {
  (void)facts_of(stream);
  Event& event = events().at(handle);
  event.capture = capture_of(stream);
  if (event.capture == 0) event.recorded = device().thread_instructions();
}

cudaError_t create(const char* function, cudaStream_t* stream, unsigned flags, int priority) {
  return guarded(function, [&] {
    if (flags > cudaStreamNonBlocking)
      throw Failure(cudaErrorInvalidValue, "the flags are not those of a stream");
    store(stream, [&] {
      const cudaStream_t created = device().streams().create();
      const std::lock_guard lock(streams().mutex);
      streams().all[created] = {flags, std::clamp(priority, greatest_priority, least_priority)};
      return created;
    });
  });
}

/// Waits for the stream. Throws Failure for a failed assertion. Other reports of kernels are already written,
/// and the program continues.
void synchronize_stream(cudaStream_t stream) {
  (void)facts_of(stream);
  trim_pools();
  try {
    device().streams().synchronize(stream);
  } catch (const tmajit::Error&) {
    const std::vector<tmajit::Report> reports = device().reports();
    device().clear_reports();
    const auto failed = std::ranges::find_if(
        reports, [](const tmajit::Report& each) { return each.found.starts_with("assertion `"); });
    if (failed != reports.end()) throw Failure(cudaErrorAssert, failed->found);
  }
}

}  // namespace

extern "C" {

cudaError_t cudaDeviceSynchronize() {
  return guarded(__func__, [&] {
    std::vector<cudaStream_t> all{nullptr};
    {
      const std::lock_guard lock(streams().mutex);
      for (const auto& [stream, facts] : streams().all) all.push_back(stream);
    }
    for (const cudaStream_t each : all) synchronize_stream(each);
  });
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return guarded(__func__, [&] {
    require_no_capture(stream, "a wait for the stream");
    synchronize_stream(stream);
  });
}
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return cudaStreamSynchronize(stream);
}
cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return create(__func__, stream, cudaStreamDefault, least_priority);
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return create(__func__, stream, flags, least_priority);
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
  return create(__func__, stream, flags, priority);
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return guarded(__func__, [&] {
    (void)facts_of(stream);
    if (is_default(stream))
      throw Failure(cudaErrorInvalidResourceHandle, "a default stream cannot be destroyed");
    synchronize_stream(stream);
    device().streams().destroy(stream);
    const std::lock_guard lock(streams().mutex);
    streams().all.erase(stream);
  });
}
cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags) {
  return guarded(__func__, [&] { require_non_null(flags, "the result") = facts_of(stream).flags; });
}
cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  return guarded(__func__, [&] { require_non_null(priority, "the result") = facts_of(stream).priority; });
}
cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* id) {
  return guarded(__func__, [&] {
    (void)facts_of(stream);
    require_non_null(id, "the result") = reinterpret_cast<std::uintptr_t>(stream);
  });
}
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  if (least != nullptr) *least = least_priority;
  if (greatest != nullptr) *greatest = greatest_priority;
  return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  return guarded(__func__, [&] {
    (void)facts_of(stream);
    join_capture(stream, events().at(event).capture);
  });
}
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  return guarded(__func__, [&] {
    (void)facts_of(stream);
    require_non_null(function, "the function");
    enqueue(stream, cudaGraphNodeTypeHost, [=](cudaStream_t) { function(data); });
  });
}
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t function, void* data, unsigned) {
  return guarded(__func__, [&] {
    require_no_capture(stream, "a callback");
    require_non_null(function, "the function");
    function(stream, cudaSuccess, data);
  });
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return guarded(__func__, [&] {
    store(event, [&] {
      auto made = std::make_unique<Event>();
      made->timed = (flags & cudaEventDisableTiming) == 0;
      return reinterpret_cast<cudaEvent_t>(&events().add(std::move(made)));
    });
  });
}
cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return cudaEventCreateWithFlags(event, cudaEventDefault);
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return guarded(__func__, [&] { events().remove(event); });
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return guarded(__func__, [&] { record(event, stream); });
}
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned) {
  return guarded(__func__, [&] { record(event, stream); });
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return guarded(__func__, [&] {
    (void)events().at(event);
    trim_pools();
  });
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  return guarded(__func__, [&] { (void)events().at(event); });
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t from, cudaEvent_t to) {
  return guarded(__func__, [&] {
    const Event& first = events().at(from);
    const Event& last = events().at(to);
    if (!first.timed || !last.timed || !first.recorded || !last.recorded)
      throw Failure(cudaErrorInvalidResourceHandle, "an event was not recorded, or its timing is disabled");
    const auto instructions = static_cast<double>(*last.recorded) - static_cast<double>(*first.recorded);
    require_non_null(milliseconds, "the result") = static_cast<float>(instructions / 1e6);
  });
}

}  // extern "C"
