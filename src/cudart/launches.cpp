// Functions that register kernels, query them and launch them. nvcc's host code calls those whose names begin
// with underscores; crt/host_runtime.h and crt/device_functions.h declare them.
#include "cudart/launches.hpp"

#include <array>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

TMAJIT_BEGIN
namespace cudart {
namespace {

std::array<std::uint32_t, 3> extents(const dim3& size) {
  return {size.x, size.y, size.z};
}

/// Whether a launch attribute affects only scheduling or speed, not results.
bool is_hint(cudaLaunchAttributeID id) {
  switch (id) {
    case cudaLaunchAttributeIgnore:
    case cudaLaunchAttributeAccessPolicyWindow:
    case cudaLaunchAttributeSynchronizationPolicy:
    case cudaLaunchAttributeClusterSchedulingPolicyPreference:
    case cudaLaunchAttributePriority:
    case cudaLaunchAttributeMemSyncDomainMap:
    case cudaLaunchAttributeMemSyncDomain: return true;
    default: return false;
  }
}

}  // namespace

LaunchShape shape_of(dim3 grid, dim3 block, std::size_t shared_bytes) {
  if (shared_bytes > std::numeric_limits<std::uint32_t>::max())
    throw Failure(cudaErrorInvalidValue, "dynamic shared memory of over 4 GiB");
  LaunchShape shape;
  shape.grid = extents(grid);
  shape.block = extents(block);
  shape.shared_bytes = static_cast<std::uint32_t>(shared_bytes);
  return shape;
}

LaunchShape shape_of(const cudaLaunchConfig_t& config) {
  LaunchShape shape = shape_of(config.gridDim, config.blockDim, config.dynamicSmemBytes);
  for (const auto& attribute : std::span(config.attrs, config.numAttrs)) {
    if (attribute.id == cudaLaunchAttributeClusterDimension) {
      shape.cluster = {attribute.val.clusterDim.x, attribute.val.clusterDim.y, attribute.val.clusterDim.z};
    } else if (attribute.id == cudaLaunchAttributeProgrammaticStreamSerialization) {
      shape.overlaps = attribute.val.programmaticStreamSerializationAllowed != 0;
    } else if (attribute.id == cudaLaunchAttributeCooperative) {
      shape.cooperative = attribute.val.cooperative != 0;
    } else if (!is_hint(attribute.id)) {
      throw Failure(cudaErrorNotSupported, "launch attribute " + std::to_string(attribute.id));
    }
  }
  return shape;
}

Work launch_of(Kernel& kernel, const LaunchShape& shape, void* const* arguments) {
  LoadedKernel& loaded = kernel.loaded();
  const std::uint32_t count = loaded.parameter_count().value_or(0);
  if (count != 0 && arguments == nullptr)
    throw Failure(cudaErrorInvalidValue,
                  "kernel \"" + kernel.name() + "\" takes parameters, but there are no arguments");
  std::vector<std::vector<std::byte>> values(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    values[i].resize(loaded.parameter_bytes(i).value_or(0));
    if (!values[i].empty()) std::memcpy(values[i].data(), arguments[i], values[i].size());
  }
  return [&loaded, shape, values = std::move(values)](cudaStream_t stream) mutable {
    std::vector<void*> parameters;
    for (auto& each : values) parameters.push_back(each.data());
    try {
      loaded.launch(shape, parameters, stream);
    } catch (const Error& error) {
      // Only a rejected launch throws here. Errors of the kernel itself become reports.
      if (error.code() != ErrorCode::device_failed) throw;
      throw Failure(shape.cooperative ? cudaErrorCooperativeLaunchTooLarge : cudaErrorInvalidConfiguration,
                    error.what());
    }
  };
}

int ctas_per_multiprocessor(Kernel& kernel, int threads, std::size_t shared_bytes) {
  const auto& facts = kernel.facts();
  if (threads <= 0) throw Failure(cudaErrorInvalidValue, "a block has at least one thread");
  if (static_cast<std::uint32_t>(threads) > facts.max_threads ||
      shared_bytes + facts.static_shared_bytes > device().info().max_shared_bytes) {
    return 0;
  }
  return static_cast<int>(kernel.loaded().ctas_per_sm(static_cast<std::uint32_t>(threads),
                                                      static_cast<std::uint32_t>(shared_bytes)));
}

void set_attribute(Kernel& kernel, cudaFuncAttribute attribute, int value) {
  switch (attribute) {
    case cudaFuncAttributeMaxDynamicSharedMemorySize:
      if (value < 0 || static_cast<std::uint64_t>(value) + kernel.facts().static_shared_bytes >
                           device().info().max_shared_bytes) {
        throw Failure(cudaErrorInvalidValue,
                      "kernel \"" + kernel.name() + "\" cannot have " + std::to_string(value) +
                          " bytes of dynamic shared memory; a CTA has " +
                          std::to_string(device().info().max_shared_bytes) + ", of which " +
                          std::to_string(kernel.facts().static_shared_bytes) + " are static");
      }
      return kernel.allow_shared_bytes(static_cast<std::uint32_t>(value));
    case cudaFuncAttributePreferredSharedMemoryCarveout:
    case cudaFuncAttributeNonPortableClusterSizeAllowed:
    case cudaFuncAttributeClusterSchedulingPolicyPreference: return;
    default:
      throw Failure(cudaErrorNotSupported,
                    "attribute " + std::to_string(attribute) + " of a function is not supported");
  }
}

cudaFuncAttributes attributes_of(Kernel& kernel) {
  constexpr std::uint32_t registers = 65'536;
  const auto& facts = kernel.facts();
  cudaFuncAttributes result{};
  result.sharedSizeBytes = facts.static_shared_bytes;
  result.constSizeBytes = facts.constant_bytes;
  result.localSizeBytes = facts.local_bytes;
  result.maxThreadsPerBlock = static_cast<int>(facts.max_threads);
  // PTX does not determine the number of registers. This is the maximum with which a block of max_threads
  // runs.
  result.numRegs = static_cast<int>(std::min(registers / facts.max_threads, 255U));
  result.ptxVersion = result.binaryVersion = 90;
  result.maxDynamicSharedSizeBytes = static_cast<int>(kernel.allowed_shared_bytes());
  return result;
}

}  // namespace cudart
TMAJIT_END

using namespace tmajit;
using namespace tmajit::cudart;

namespace {

/// The values between <<< and >>>.
struct Configuration {
  dim3 grid;
  dim3 block;
  std::size_t shared_bytes = 0;
  cudaStream_t stream = nullptr;
};

std::vector<Configuration>& configurations() {
  thread_local std::vector<Configuration> stack;
  return stack;
}

cudaError_t launch(const char* function, const void* kernel, LaunchShape shape, void** arguments,
                   cudaStream_t stream) {
  return guarded(function, [&] {
    enqueue(stream, cudaGraphNodeTypeKernel, launch_of(kernel_of(kernel), shape, arguments));
  });
}

/// The handle of every program image. Images are not read: PTX comes from files.
void* image_handle = nullptr;

}  // namespace

extern "C" {

void** __cudaRegisterFatBinary(void*) {
  return &image_handle;
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
char __cudaInitModule(void**) {
  return 1;
}
void __cudaRegisterVar(void**, char* variable, char*, const char* name, int, std::size_t, int, int) {
  register_variable(variable, name);
}
void __cudaRegisterManagedVar(void**, void**, char*, const char* name, int, std::size_t, int, int) {
  print_error(
      "__managed__", cudaErrorNotSupported,
      (std::string("the host cannot reach variable \"") + name + "\"; use cudaMallocManaged()").c_str());
}
void __cudaRegisterFunction(void**, const char* stub, char*, const char* name, int, uint3*, uint3*, dim3*,
                            dim3*, int*) {
  register_kernel(stub, name);
}

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared_bytes, CUstream_st* stream) {
  configurations().push_back({grid, block, shared_bytes, stream});
  return 0;
}
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared_bytes, void* stream) {
  return guarded("<<<>>>", [&] {
    if (configurations().empty())
      throw Failure(cudaErrorMissingConfiguration, "a stub is called without <<<>>>");
    const Configuration top = configurations().back();
    configurations().pop_back();
    *grid = top.grid;
    *block = top.block;
    *shared_bytes = top.shared_bytes;
    *static_cast<cudaStream_t*>(stream) = top.stream;
  });
}

cudaError_t cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                             std::size_t shared_bytes, cudaStream_t stream) {
  LaunchShape shape;
  const cudaError_t status = guarded(__func__, [&] { shape = shape_of(grid, block, shared_bytes); });
  return status != cudaSuccess ? status : launch(__func__, kernel, shape, arguments, stream);
}
cudaError_t cudaLaunchCooperativeKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                                        std::size_t shared_bytes, cudaStream_t stream) {
  LaunchShape shape;
  const cudaError_t status = guarded(__func__, [&] { shape = shape_of(grid, block, shared_bytes); });
  shape.cooperative = true;
  return status != cudaSuccess ? status : launch(__func__, kernel, shape, arguments, stream);
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* kernel, void** arguments) {
  LaunchShape shape;
  const cudaError_t status =
      guarded(__func__, [&] { shape = shape_of(require_non_null(config, "the configuration")); });
  return status != cudaSuccess ? status : launch(__func__, kernel, shape, arguments, config->stream);
}
// nvcc's stubs launch a kernel by its handle. Here the handle is the address of the stub itself.
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* stub) {
  *kernel = static_cast<cudaKernel_t>(const_cast<void*>(stub));
  return cudaSuccess;
}
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                               std::size_t shared_bytes, cudaStream_t stream) {
  return cudaLaunchKernel(kernel, grid, block, arguments, shared_bytes, stream);
}
cudaError_t cudaGetKernel(cudaKernel_t* kernel, const void* function) {
  return guarded(__func__, [&] {
    require_non_null(kernel, "the result") = reinterpret_cast<cudaKernel_t>(&kernel_of(function));
  });
}
cudaError_t cudaGetFuncBySymbol(cudaFunction_t* result, const void* function) {
  return guarded(__func__, [&] {
    require_non_null(result, "the result") = reinterpret_cast<cudaFunction_t>(&kernel_of(function));
  });
}

cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute, int value) {
  return guarded(__func__, [&] { set_attribute(kernel_of(kernel), attribute, value); });
}
cudaError_t cudaFuncSetCacheConfig(const void* kernel, cudaFuncCache) {
  return guarded(__func__, [&] { (void)kernel_of(kernel); });
}
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* kernel) {
  return guarded(__func__,
                 [&] { require_non_null(attributes, "the result") = attributes_of(kernel_of(kernel)); });
}
cudaError_t cudaFuncGetName(const char** name, const void* kernel) {
  return guarded(__func__, [&] { require_non_null(name, "the result") = kernel_of(kernel).name().c_str(); });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* count, const void* kernel,
                                                                   int threads, std::size_t shared_bytes,
                                                                   unsigned) {
  return guarded(__func__, [&] {
    require_non_null(count, "the result") = ctas_per_multiprocessor(kernel_of(kernel), threads, shared_bytes);
  });
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* count, const void* kernel, int threads,
                                                          std::size_t shared_bytes) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(count, kernel, threads, shared_bytes, 0);
}
cudaError_t cudaOccupancyMaxActiveClusters(int* count, const void* kernel, const cudaLaunchConfig_t* config) {
  return guarded(__func__, [&] {
    const auto shape = shape_of(require_non_null(config, "the configuration"));
    const auto threads = static_cast<int>(shape.block[0] * shape.block[1] * shape.block[2]);
    const auto ctas = static_cast<int>(shape.cluster[0] * shape.cluster[1] * shape.cluster[2]);
    if (ctas == 0) throw Failure(cudaErrorInvalidClusterSize, "a cluster of no CTAs");
    require_non_null(count, "the result") =
        ctas_per_multiprocessor(kernel_of(kernel), threads, shape.shared_bytes) *
        static_cast<int>(device().info().sm_count) / ctas;
  });
}
cudaError_t cudaOccupancyMaxPotentialClusterSize(int* ctas, const void* kernel, const cudaLaunchConfig_t*) {
  return guarded(__func__, [&] {
    constexpr int portable = 8;
    (void)kernel_of(kernel);
    require_non_null(ctas, "the result") = portable;
  });
}
cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes, const void* kernel, int blocks,
                                                      int) {
  return guarded(__func__, [&] {
    if (blocks <= 0) throw Failure(cudaErrorInvalidValue, "a multiprocessor has at least one block");
    // Each CTA takes 1 KiB in addition to the shared memory that it asks for.
    const std::uint64_t shared_bytes_per_multiprocessor = device().info().max_shared_bytes + 1024;
    const std::uint64_t share = shared_bytes_per_multiprocessor / static_cast<std::uint64_t>(blocks);
    const std::uint64_t taken = kernel_of(kernel).facts().static_shared_bytes + 1024;
    require_non_null(bytes, "the result") = share > taken ? share - taken : 0;
  });
}

}  // extern "C"
