#include "driver/gpu_kernel.hpp"

#include <atomic>
#include <utility>
#include <vector>

TMAJIT_BEGIN
namespace driver {
namespace {

/// A graph's reference to code or memory. When the graph is destroyed, the driver calls release_reference(),
/// which must not call the driver (cuUserObjectCreate), so it only lists the reference as released. The next
/// thread that loads code or allocates memory for a graph drops it.
struct GraphReference {
  std::shared_ptr<const void> object;
  GraphReference* next = nullptr;  ///< in the list of released references
};
std::atomic<GraphReference*> released_references{nullptr};

void release_reference(void* argument) {
  auto* const released = static_cast<GraphReference*>(argument);
  released->next = released_references.load(std::memory_order_relaxed);
  while (!released_references.compare_exchange_weak(released->next, released, std::memory_order_release)) {
  }
}

// Values of LoadedCode::parameter_count_ that are no counts.
constexpr std::int64_t not_asked = -2;
constexpr std::int64_t not_told = -1;

/// A kernel's number of parameters, or `not_told`. The driver rejects the first index out of range.
std::int64_t count_parameters(const Api& api, CUkernel kernel) {
  if (api.kernel_get_param_info == nullptr) return not_told;
  std::size_t offset = 0;
  std::size_t bytes = 0;
  for (std::int64_t count = 0;; ++count) {
    const CUresult result =
        api.kernel_get_param_info(kernel, static_cast<std::size_t>(count), &offset, &bytes);
    if (result == CUDA_ERROR_INVALID_VALUE) return count;  // there is no parameter of this number
    if (result != CUDA_SUCCESS) return not_told;
  }
}

}  // namespace

void drop_released() noexcept {
  GraphReference* released = released_references.exchange(nullptr, std::memory_order_acquire);
  while (released != nullptr) delete std::exchange(released, released->next);
}

void keep_for_graph(const Api& api, CUgraph graph, std::shared_ptr<const void> reference) {
  auto graph_reference = std::make_unique<GraphReference>(GraphReference{std::move(reference)});
  CUuserObject user_object = nullptr;
  check(api,
        api.user_object_create(&user_object, graph_reference.get(), release_reference, 1,
                               CU_USER_OBJECT_NO_DESTRUCTOR_SYNC),
        "cuUserObjectCreate");
  (void)graph_reference.release();  // the user object owns it now
  const CUresult result = api.graph_retain_user_object(graph, user_object, 1, CU_GRAPH_USER_OBJECT_MOVE);
  if (result != CUDA_SUCCESS) api.user_object_release(user_object, 1);
  check(api, result, "cuGraphRetainUserObject");
}

LoadedCode::LoadedCode(std::shared_ptr<const Context> context, const Artifact& artifact)
    : context_(std::move(context)) {
  const Api& api = context_->api();
  const ContextScope scope(*context_);
  const RelaxedCapture relaxed(api);
  check(api,
        api.library_load_data(&library_, artifact.cubin.data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
        "cuLibraryLoadData({} bytes of cubin for '{}')", artifact.cubin.size(), artifact.entry);
  try {
    check(api, api.library_get_kernel(&kernel_, library_, artifact.entry.c_str()), "cuLibraryGetKernel('{}')",
          artifact.entry);
    // By default the driver loads code lazily. Requesting the function loads it now: a cubin that the driver
    // refuses fails here and not at a launch, and no load can happen during a graph capture.
    CUfunction function = nullptr;
    check(api, api.kernel_get_function(&function, kernel_), "cuKernelGetFunction('{}')", artifact.entry);
    // Hopper runs clusters of 9 to 16 CTAs only if they are allowed.
    check(api,
          api.kernel_set_attribute(CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1, kernel_,
                                   context_->device()),
          "cuKernelSetAttribute('{}', NON_PORTABLE_CLUSTER_SIZE_ALLOWED)", artifact.entry);
  } catch (const Error&) {
    api.library_unload(library_);
    throw;
  }
}

LoadedCode::~LoadedCode() {
  const RelaxedCapture relaxed(context_->api());
  release(*context_, context_->api().library_unload, library_);
}

std::optional<std::uint32_t> LoadedCode::parameter_count() const {
  std::int64_t count = parameter_count_.load(std::memory_order_relaxed);
  if (count == not_asked) {
    const ContextScope scope(*context_);
    count = count_parameters(context_->api(), kernel_);
    parameter_count_.store(count, std::memory_order_relaxed);
  }
  return count == not_told ? std::nullopt : std::optional(static_cast<std::uint32_t>(count));
}

std::optional<std::uint32_t> LoadedCode::parameter_bytes(std::uint32_t index) const {
  const std::optional<std::uint32_t> count = parameter_count();
  if (!count || index >= *count) return std::nullopt;
  const ContextScope scope(*context_);
  std::size_t offset = 0;
  std::size_t bytes = 0;
  const Api& api = context_->api();
  check(api, api.kernel_get_param_info(kernel_, index, &offset, &bytes), "cuKernelGetParamInfo({})", index);
  return static_cast<std::uint32_t>(bytes);
}

GpuKernel::GpuKernel(std::shared_ptr<const Context> context, std::shared_ptr<Scratch> scratch,
                     const Artifact& artifact)
    : context_(context->handle()),
      get_current_(context->api().ctx_get_current),
      get_capture_info_(context->api().stream_get_capture_info),
      launch_kernel_ex_(context->api().launch_kernel_ex),
      code_((drop_released(), std::make_shared<const LoadedCode>(std::move(context), artifact))),
      scratch_(std::move(scratch)),
      entry_(artifact.entry) {
  function_ = reinterpret_cast<CUfunction>(code_->kernel());
}

void GpuKernel::launch(const LaunchShape& shape, std::span<void* const> parameters, Stream stream) const {
  CUcontext current = nullptr;
  if (get_current_(&current) == CUDA_SUCCESS && current == context_ && shape.scratch_bytes == 0) [[likely]]
    return enqueue(shape, parameters, stream);
  const ContextScope scope(code_->context());
  if (shape.scratch_bytes > 0) return enqueue_with_scratch(shape, parameters, stream);
  enqueue(shape, parameters, stream);
}

void GpuKernel::enqueue_with_scratch(const LaunchShape& shape, std::span<void* const> parameters,
                                     Stream stream) const {
  std::vector<void*> with_scratch(parameters.begin(), parameters.end());
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  cuuint64_t capture = 0;
  CUgraph graph = nullptr;
  DevicePtr scratch = 0;
  if (stream != nullptr &&
      get_capture_info_(stream, &status, &capture, &graph, nullptr, nullptr) == CUDA_SUCCESS &&
      status == CU_STREAM_CAPTURE_STATUS_ACTIVE) {
    drop_released();
    const auto block = scratch_->for_capture(capture, stream, shape.scratch_bytes);
    keep_for_graph(code_->context().api(), graph, block);
    scratch = block->address();
  } else {
    scratch = scratch_->for_stream(stream, shape.scratch_bytes);
  }
  with_scratch.back() = &scratch;
  enqueue(shape, with_scratch, stream);
}

void GpuKernel::enqueue(const LaunchShape& shape, std::span<void* const> parameters, Stream stream) const {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  CUgraph graph = nullptr;
  // The default stream cannot be captured (cuStreamBeginCapture). If the query fails, the launch fails,
  // too, and says why.
  if (stream != nullptr &&
      get_capture_info_(stream, &status, nullptr, &graph, nullptr, nullptr) == CUDA_SUCCESS &&
      status == CU_STREAM_CAPTURE_STATUS_ACTIVE) [[unlikely]] {
    keep_for_graph(code_->context().api(), graph, code_);
  }
  CUlaunchConfig config{};
  config.gridDimX = shape.grid[0];
  config.gridDimY = shape.grid[1];
  config.gridDimZ = shape.grid[2];
  config.blockDimX = shape.block[0];
  config.blockDimY = shape.block[1];
  config.blockDimZ = shape.block[2];
  config.sharedMemBytes = shape.shared_bytes;
  config.hStream = stream;
  CUlaunchAttribute attributes[3];
  config.attrs = attributes;
  // Without the attribute a kernel keeps the cluster it was compiled for.
  if (shape.cluster != LaunchShape{}.cluster) {
    CUlaunchAttribute& cluster = attributes[config.numAttrs++] = {};
    cluster.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    cluster.value.clusterDim = {shape.cluster[0], shape.cluster[1], shape.cluster[2]};
  }
  if (shape.cooperative) {
    CUlaunchAttribute& cooperative = attributes[config.numAttrs++] = {};
    cooperative.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    cooperative.value.cooperative = 1;
  }
  if (shape.overlaps && shape.scratch_bytes == 0) {
    CUlaunchAttribute& overlaps = attributes[config.numAttrs++] = {};
    overlaps.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    overlaps.value.programmaticStreamSerializationAllowed = 1;
  }
  // The driver only reads the array; its signature predates const.
  const CUresult result =
      launch_kernel_ex_(&config, function_, const_cast<void**>(parameters.data()), nullptr);
  if (result != CUDA_SUCCESS) [[unlikely]]
    fail_launch(result, shape, stream);
}

void GpuKernel::fail_launch(CUresult result, const LaunchShape& shape, Stream stream) const {
  fail(code_->context().api(), result,
       fmt::format("cuLaunchKernelEx('{}', grid {}x{}x{}, block {}x{}x{}, cluster {}x{}x{}, {} bytes of "
                   "dynamic shared memory, stream {})",
                   entry_, shape.grid[0], shape.grid[1], shape.grid[2], shape.block[0], shape.block[1],
                   shape.block[2], shape.cluster[0], shape.cluster[1], shape.cluster[2], shape.shared_bytes,
                   static_cast<const void*>(stream)));
}

void GpuKernel::allow_shared_bytes(std::uint32_t bytes) {
  const Api& api = code_->context().api();
  const ContextScope scope(code_->context());
  check(api,
        api.kernel_set_attribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, static_cast<int>(bytes),
                                 code_->kernel(), code_->context().device()),
        "cuKernelSetAttribute('{}', MAX_DYNAMIC_SHARED_SIZE_BYTES, {})", entry_, bytes);
}

std::uint32_t GpuKernel::ctas_per_sm(std::uint32_t threads, std::uint32_t shared_bytes) const {
  const Api& api = code_->context().api();
  const ContextScope scope(code_->context());
  int ctas = 0;
  check(api, api.occupancy_max_active_blocks(&ctas, function_, static_cast<int>(threads), shared_bytes),
        "cuOccupancyMaxActiveBlocksPerMultiprocessor('{}', {} threads, {} bytes)", entry_, threads,
        shared_bytes);
  return static_cast<std::uint32_t>(ctas);
}

}  // namespace driver
TMAJIT_END
