#include "driver/gpu.hpp"

#include "driver/gpu_kernel.hpp"

#include <tmajit/error.hpp>

#include <optional>
#include <string>
#include <utility>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace driver {
namespace {

/// Creates a stream, and destroys it with the object.
class OwnStream {
 public:
  explicit OwnStream(DeviceStreams& streams) : streams_(streams), stream_(streams.create()) {}
  ~OwnStream() { streams_.destroy(stream_); }
  OwnStream(const OwnStream&) = delete;
  OwnStream& operator=(const OwnStream&) = delete;
  [[nodiscard]] Stream get() const { return stream_; }

 private:
  DeviceStreams& streams_;
  Stream stream_;
};

/// A CUDA event with a timestamp.
class Event {
 public:
  explicit Event(const Api& api) : api_(&api) {
    check(api, api.event_create(&event_, CU_EVENT_DEFAULT), "cuEventCreate");
  }
  ~Event() {
    if (event_ != nullptr) api_->event_destroy(event_);
  }
  Event(Event&& other) noexcept : api_(other.api_), event_(std::exchange(other.event_, nullptr)) {}
  Event& operator=(Event&&) = delete;

  void record(Stream stream) const { check(*api_, api_->event_record(event_, stream), "cuEventRecord"); }
  [[nodiscard]] bool is_reached() const {
    const CUresult result = api_->event_query(event_);
    if (result != CUDA_ERROR_NOT_READY) check(*api_, result, "cuEventQuery");
    return result == CUDA_SUCCESS;
  }
  void wait() const { check(*api_, api_->event_synchronize(event_), "cuEventSynchronize"); }
  [[nodiscard]] float milliseconds_since(const Event& start) const {
    float milliseconds = 0;
    check(*api_, api_->event_elapsed_time(&milliseconds, start.event_, event_), "cuEventElapsedTime");
    return milliseconds;
  }

 private:
  const Api* api_;
  CUevent event_ = nullptr;
};

/// A timer made of two events. Its calls do not disturb a capture.
class GpuTimer final : public StreamTimer {
 public:
  explicit GpuTimer(std::shared_ptr<const Context> context) : context_(std::move(context)) {
    const ContextScope scope(*context_);
    const RelaxedCapture relaxed(context_->api());
    events_.emplace(Event(context_->api()), Event(context_->api()));
  }
  ~GpuTimer() override {
    const RelaxedCapture relaxed(context_->api());
    release(
        *context_, [](auto* events) { events->reset(); }, &events_);
  }
  GpuTimer(const GpuTimer&) = delete;
  GpuTimer& operator=(const GpuTimer&) = delete;

  void start(Stream stream) override { record(events_->first, stream); }
  void stop(Stream stream) override { record(events_->second, stream); }
  [[nodiscard]] std::optional<float> milliseconds() override {
    const ContextScope scope(*context_);
    const RelaxedCapture relaxed(context_->api());
    if (!events_->second.is_reached()) return std::nullopt;
    return events_->second.milliseconds_since(events_->first);
  }

 private:
  void record(const Event& event, Stream stream) const {
    const ContextScope scope(*context_);
    event.record(stream);
  }
  std::shared_ptr<const Context> context_;
  std::optional<std::pair<Event, Event>> events_;
};

/// Ends a capture and returns its graph; null, with the reason in `result`, if the capture failed.
CUgraph end_capture(const Api& api, Stream stream, CUresult& result) {
  CUgraph graph = nullptr;
  result = api.stream_end_capture(stream, &graph);
  return result == CUDA_SUCCESS ? graph : nullptr;
}

/// Work captured from a stream, launched as a whole.
class Graph {
 public:
  /// Captures the work that `work` enqueues on `stream`, which is not the default stream.
  Graph(const Api& api, Stream stream, const std::function<void()>& work) : api_(api) {
    // Thread-local mode: other threads may still make calls that a capture forbids.
    check(api, api.stream_begin_capture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), "cuStreamBeginCapture");
    CUresult result = CUDA_SUCCESS;
    try {
      work();
    } catch (...) {
      if (const CUgraph graph = end_capture(api, stream, result)) api.graph_destroy(graph);
      throw;
    }
    const CUgraph graph = end_capture(api, stream, result);
    check(api, result, "cuStreamEndCapture");
    result = api.graph_instantiate(&exec_, graph, 0);
    api.graph_destroy(graph);
    check(api, result, "cuGraphInstantiateWithFlags");
  }
  ~Graph() { api_.graph_exec_destroy(exec_); }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  void launch(Stream stream) const { check(api_, api_.graph_launch(exec_, stream), "cuGraphLaunch"); }

 private:
  const Api& api_;
  CUgraphExec exec_ = nullptr;
};

}  // namespace

Gpu::Gpu(const Api& api, DeviceInfo info) : info_(std::move(info)) {
  CUdevice device = 0;
  check(api, api.device_get(&device, info_.ordinal), "cuDeviceGet({})", info_.ordinal);
  context_ = std::make_shared<const Context>(api, device);
  scratch_ = std::make_shared<Scratch>(context_);
}

DevicePtr Gpu::allocate(std::uint64_t bytes) {
  if (bytes == 0) return 0;  // the driver refuses 0 bytes, but an empty tensor is legal
  const ContextScope scope(*context_);
  CUdeviceptr pointer = 0;
  if (const CUresult result = context_->api().mem_alloc(&pointer, bytes); result != CUDA_SUCCESS) {
    fail(context_->api(), result,
         fmt::format("cuMemAlloc({}) on GPU {} ({})", human_bytes(bytes), info_.ordinal, info_.name));
  }
  return pointer;
}

void Gpu::free(DevicePtr pointer) noexcept {
  if (pointer != 0) release(*context_, context_->api().mem_free, pointer);
}

void Gpu::copy_in(DevicePtr destination, std::span<const std::byte> source, Stream stream) {
  if (source.empty()) return;
  const ContextScope scope(*context_);
  check(context_->api(), context_->api().memcpy_htod_async(destination, source.data(), source.size(), stream),
        "cuMemcpyHtoDAsync({:#x}, {} bytes)", destination, source.size());
}

void Gpu::copy_out(std::span<std::byte> destination, DevicePtr source, Stream stream) {
  if (destination.empty()) return;
  const ContextScope scope(*context_);
  check(context_->api(),
        context_->api().memcpy_dtoh_async(destination.data(), source, destination.size(), stream),
        "cuMemcpyDtoHAsync({:#x}, {} bytes)", source, destination.size());
}

void Gpu::copy(DevicePtr destination, DevicePtr source, std::uint64_t bytes, Stream stream) {
  if (bytes == 0) return;
  const ContextScope scope(*context_);
  check(context_->api(), context_->api().memcpy_dtod_async(destination, source, bytes, stream),
        "cuMemcpyDtoDAsync({:#x} from {:#x}, {} bytes)", destination, source, bytes);
}

void Gpu::fill(DevicePtr destination, std::byte value, std::uint64_t bytes, Stream stream) {
  if (bytes == 0) return;
  const ContextScope scope(*context_);
  check(context_->api(),
        context_->api().memset_d8_async(destination, std::to_integer<unsigned char>(value), bytes, stream),
        "cuMemsetD8Async({:#x}, {} bytes)", destination, bytes);
}

void Gpu::synchronize(Stream stream) {
  const ContextScope scope(*context_);
  check(context_->api(), context_->api().stream_synchronize(stream), "cuStreamSynchronize");
}

bool Gpu::is_captured(Stream stream) {
  if (stream == nullptr) return false;  // the default stream cannot be captured
  const ContextScope scope(*context_);
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  const CUresult result =
      context_->api().stream_get_capture_info(stream, &status, nullptr, nullptr, nullptr, nullptr);
  return result != CUDA_SUCCESS || status != CU_STREAM_CAPTURE_STATUS_NONE;
}

DevicePtr Gpu::allocate_for_capture(Stream stream, std::span<const std::byte> bytes) {
  if (stream == nullptr) return 0;
  const ContextScope scope(*context_);
  const Api& api = context_->api();
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  CUgraph graph = nullptr;
  check(api, api.stream_get_capture_info(stream, &status, nullptr, &graph, nullptr, nullptr),
        "cuStreamGetCaptureInfo");
  if (status != CU_STREAM_CAPTURE_STATUS_ACTIVE) return 0;
  drop_released();
  const auto block = std::make_shared<const ScratchBlock>(context_, bytes);
  keep_for_graph(api, graph, block);
  return block->address();
}

Stream Gpu::create() {
  const ContextScope scope(*context_);
  CUstream stream = nullptr;
  // Non-blocking: work on it does not wait for the default stream.
  check(context_->api(), context_->api().stream_create(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
  return stream;
}

void Gpu::destroy(Stream stream) noexcept {
  if (stream != nullptr) release(*context_, context_->api().stream_destroy, stream);
}

std::vector<float> Gpu::time(Stream stream, std::uint32_t repeats, const std::function<void()>& work) {
  const ContextScope scope(*context_);
  const Api& api = context_->api();
  std::vector<std::pair<Event, Event>> events;
  events.reserve(repeats);
  for (std::uint32_t i = 0; i < repeats; ++i) events.emplace_back(Event(api), Event(api));
  // All repeats are enqueued before the first wait, so that the GPU is never idle between them.
  for (const auto& [start, stop] : events) {
    start.record(stream);
    work();
    stop.record(stream);
  }
  std::vector<float> milliseconds;
  milliseconds.reserve(repeats);
  if (!events.empty()) events.back().second.wait();
  for (const auto& [start, stop] : events) milliseconds.push_back(stop.milliseconds_since(start));
  return milliseconds;
}

std::vector<float> Gpu::time_in_graph(std::uint32_t repeats, std::uint32_t nodes,
                                      const std::function<void(Stream)>& work) {
  const ContextScope scope(*context_);
  const OwnStream stream(*this);
  const Graph graph(context_->api(), stream.get(), [&] {
    for (std::uint32_t i = 0; i < nodes; ++i) work(stream.get());
  });
  graph.launch(stream.get());  // the first run is slower
  std::vector<float> milliseconds = time(stream.get(), repeats, [&] { graph.launch(stream.get()); });
  for (float& each : milliseconds) each /= static_cast<float>(nodes);
  return milliseconds;
}

std::unique_ptr<StreamTimer> Gpu::timer() {
  return std::make_unique<GpuTimer>(context_);
}

EncodedTensorMap Gpu::encode(const TensorMapSpec& spec, DevicePtr address) {
  const ContextScope scope(*context_);
  return driver::encode(context_->api(), spec, address);
}

void Gpu::set_address(EncodedTensorMap& map, const TensorMapSpec& spec, DevicePtr address) {
  auto* const pointer = reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr)
  if (context_->api().tensor_map_replace_address(reinterpret_cast<CUtensorMap*>(&map), pointer) !=
      CUDA_SUCCESS) {
    map = encode(spec, address);  // throws with the reason if this fails, too
  }
}

std::unique_ptr<LoadedKernel> Gpu::load(const Artifact& artifact) {
  if (artifact.cubin.empty()) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("kernel \"{}\" has no cubin, which a GPU needs: compile it for sm_90a, not for a "
                            "virtual architecture, which only the simulated device runs",
                            artifact.entry));
  }
  return std::make_unique<GpuKernel>(context_, scratch_, artifact);
}

}  // namespace driver
TMAJIT_END
