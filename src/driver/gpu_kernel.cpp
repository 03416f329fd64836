#include "driver/gpu_kernel.hpp"

#include "driver/error.hpp"

#include <utility>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace driver {
namespace {

/// The driver takes a context-independent kernel wherever it takes a function of the current context
/// (cuLaunchKernelEx, "context-less kernel CUkernel").
CUfunction as_function(CUkernel kernel) noexcept {
  return reinterpret_cast<CUfunction>(kernel);
}

}  // namespace

GpuKernel::GpuKernel(std::shared_ptr<const Context> context, const Artifact& artifact)
    : context_(std::move(context)), entry_(artifact.entry) {
  const Api& api = context_->api();
  const ContextScope scope(*context_);
  check(api,
        api.library_load_data(&library_, artifact.cubin.data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
        fmt::format("cuLibraryLoadData({} bytes of cubin for '{}')", artifact.cubin.size(), entry_));
  // Loading is lazy by default. Asking for the function loads the code now: a cubin that the driver refuses
  // is found here and not at a launch, and no load can fall into a graph capture.
  CUfunction function = nullptr;
  std::string_view step = "cuLibraryGetKernel";
  CUresult result = api.library_get_kernel(&kernel_, library_, entry_.c_str());
  if (result == CUDA_SUCCESS) {
    step = "cuKernelGetFunction";
    result = api.kernel_get_function(&function, kernel_);
  }
  if (result != CUDA_SUCCESS) {
    api.library_unload(library_);
    fail(api, result, fmt::format("{}('{}')", step, entry_));
  }
}

GpuKernel::~GpuKernel() {
  try {
    const ContextScope scope(*context_);
    context_->api().library_unload(library_);
  } catch (const Error&) {  // the context is gone, and the code with it
  }
}

void GpuKernel::launch(const LaunchShape& shape, std::span<void* const> parameters, Stream stream) const {
  const Api& api = context_->api();
  const ContextScope scope(*context_);
  CUlaunchConfig config{};
  config.gridDimX = shape.grid[0];
  config.gridDimY = shape.grid[1];
  config.gridDimZ = shape.grid[2];
  config.blockDimX = shape.block[0];
  config.blockDimY = shape.block[1];
  config.blockDimZ = shape.block[2];
  config.sharedMemBytes = shape.shared_bytes;
  config.hStream = stream;
  CUlaunchAttribute cluster{};
  cluster.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  cluster.value.clusterDim = {shape.cluster[0], shape.cluster[1], shape.cluster[2]};
  // Without the attribute a kernel keeps the cluster it was compiled for.
  if (shape.cluster != LaunchShape{}.cluster) {
    config.attrs = &cluster;
    config.numAttrs = 1;
  }
  // The driver only reads the array; its signature predates const.
  const CUresult result =
      api.launch_kernel_ex(&config, as_function(kernel_), const_cast<void**>(parameters.data()), nullptr);
  if (result != CUDA_SUCCESS) [[unlikely]]
    launch_failed(result, shape, stream);
}

void GpuKernel::launch_failed(CUresult result, const LaunchShape& shape, Stream stream) const {
  fail(context_->api(), result,
       fmt::format(
           "cuLaunchKernelEx('{}', grid {}x{}x{}, block {}x{}x{}, cluster {}x{}x{}, {} bytes of dynamic "
           "shared memory, stream {})",
           entry_, shape.grid[0], shape.grid[1], shape.grid[2], shape.block[0], shape.block[1],
           shape.block[2], shape.cluster[0], shape.cluster[1], shape.cluster[2], shape.shared_bytes,
           static_cast<const void*>(stream)));
}

void GpuKernel::allow_shared_bytes(std::uint32_t bytes) {
  const Api& api = context_->api();
  const ContextScope scope(*context_);
  check(api,
        api.kernel_set_attribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, static_cast<int>(bytes),
                                 kernel_, context_->device()),
        fmt::format("cuKernelSetAttribute('{}', MAX_DYNAMIC_SHARED_SIZE_BYTES, {})", entry_, bytes));
}

std::uint32_t GpuKernel::ctas_per_sm(std::uint32_t threads, std::uint32_t shared_bytes) const {
  const Api& api = context_->api();
  const ContextScope scope(*context_);
  int ctas = 0;
  check(api,
        api.occupancy_max_active_blocks(&ctas, as_function(kernel_), static_cast<int>(threads), shared_bytes),
        fmt::format("cuOccupancyMaxActiveBlocksPerMultiprocessor('{}', {} threads, {} bytes)", entry_,
                    threads, shared_bytes));
  return static_cast<std::uint32_t>(ctas);
}

}  // namespace driver
TMAJIT_END
