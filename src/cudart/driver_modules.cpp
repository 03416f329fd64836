// The driver's modules, functions and launches.
#include "cudart/driver.hpp"
#include "cudart/launches.hpp"
#include "cudart/memory.hpp"

#include <algorithm>
#include <span>
#include <vector>

using namespace tmajit;
using namespace tmajit::cudart;

namespace {

/// The arguments of a launch as pointers: `parameters`, or pointers into the buffer of `extra`.
std::vector<void*> arguments_of(Kernel& kernel, void** parameters, void** extra) {
  const std::uint32_t count = kernel.loaded().parameter_count().value_or(0);
  std::vector<void*> arguments;
  if (parameters != nullptr) {
    arguments.assign(parameters, parameters + count);
    return arguments;
  }
  if (count == 0) return arguments;
  std::byte* buffer = nullptr;
  for (std::size_t i = 0; extra != nullptr && extra[i] != CU_LAUNCH_PARAM_END; i += 2) {
    if (extra[i] == CU_LAUNCH_PARAM_BUFFER_POINTER) buffer = static_cast<std::byte*>(extra[i + 1]);
  }
  require_non_null(buffer, "the list of arguments");
  for (const std::uint32_t offset : kernel.facts().parameter_offsets) arguments.push_back(buffer + offset);
  return arguments;
}

void launch(CUfunction function, const LaunchShape& shape, CUstream stream, void** parameters, void** extra) {
  Kernel& kernel = kernel_of(function);
  std::vector<void*> arguments = arguments_of(kernel, parameters, extra);
  enqueue(stream, cudaGraphNodeTypeKernel, launch_of(kernel, shape, arguments.data()));
}

cudaFuncAttribute runtime_attribute(CUfunction_attribute attribute) {
  return static_cast<cudaFuncAttribute>(attribute);
}
static_assert(static_cast<int>(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) ==
                  static_cast<int>(cudaFuncAttributeMaxDynamicSharedMemorySize) &&
              static_cast<int>(CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED) ==
                  static_cast<int>(cudaFuncAttributeNonPortableClusterSizeAllowed));

/// Finds the block size with the highest occupancy, and the number of CTAs of that size that fill the device.
/// Searches as cudaOccupancyMaxPotentialBlockSize() of CUDA's headers does.
void find_block_size(int& grid, int& block, Kernel& kernel, CUoccupancyB2DSize shared_bytes_of,
                     std::size_t shared_bytes, int limit) {
  constexpr int warp = 32;
  int threads_per_multiprocessor = 0;
  cudaDeviceGetAttribute(&threads_per_multiprocessor, cudaDevAttrMaxThreadsPerMultiProcessor, 0);
  const int kernel_limit = static_cast<int>(kernel.facts().max_threads);
  const int max_threads = limit <= 0 ? kernel_limit : std::min(limit, kernel_limit);
  int max_occupancy = 0;
  for (int aligned = (max_threads + warp - 1) / warp * warp; aligned > 0; aligned -= warp) {
    const int threads = std::min(aligned, max_threads);
    const int ctas = ctas_per_multiprocessor(
        kernel, threads, shared_bytes_of == nullptr ? shared_bytes : shared_bytes_of(threads));
    if (threads * ctas <= max_occupancy) continue;
    max_occupancy = threads * ctas;
    block = threads;
    grid = ctas * static_cast<int>(device().info().sm_count);
    if (max_occupancy == threads_per_multiprocessor) return;
  }
  if (max_occupancy == 0)
    throw Failure(cudaErrorInvalidValue, "no block of the kernel fits a multiprocessor");
}

}  // namespace

extern "C" {

CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  return driver_guarded(
      __func__, [&] { store(module, [&] { return reinterpret_cast<CUmodule>(&add_module(image)); }); });
}
CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned, CUjit_option*, void**) {
  return cuModuleLoadData(module, image);
}
CUresult cuModuleLoadFatBinary(CUmodule* module, const void* image) {
  return cuModuleLoadData(module, image);
}
CUresult cuModuleLoad(CUmodule* module, const char* path) {
  return driver_guarded(
      __func__, [&] { store(module, [&] { return reinterpret_cast<CUmodule>(&add_module_file(path)); }); });
}
CUresult cuModuleUnload(CUmodule module) {
  return driver_guarded(__func__, [&] { remove_module(module); });
}
CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  return driver_guarded(__func__, [&] {
    Kernel* const found = module_at(module).kernel(&require_non_null(name, "the name"));
    if (found == nullptr)
      throw Failure(cudaErrorSymbolNotFound, std::string("the module has no kernel \"") + name + '"');
    require_non_null(function, "the result") = reinterpret_cast<CUfunction>(found);
  });
}
CUresult cuModuleGetGlobal(CUdeviceptr* address, std::size_t* bytes, CUmodule module, const char* name) {
  return driver_guarded(__func__, [&] {
    const auto found = module_at(module).simulated().variable(&require_non_null(name, "the name"));
    if (!found)
      throw Failure(cudaErrorSymbolNotFound, std::string("the module has no variable \"") + name + '"');
    if (found->address == 0 && address != nullptr)
      throw Failure(cudaErrorNotSupported,
                    '"' + found->name + "\" is in constant memory, which has no address");
    if (address != nullptr) *address = found->address;
    if (bytes != nullptr) *bytes = found->bytes;
  });
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
  return driver_guarded(__func__,
                        [&] { set_attribute(kernel_of(function), runtime_attribute(attribute), value); });
}
CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction function) {
  return driver_guarded(__func__, [&] {
    const cudaFuncAttributes all = attributes_of(kernel_of(function));
    int& result = require_non_null(value, "the result");
    switch (attribute) {
      case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: result = all.maxThreadsPerBlock; break;
      case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: result = static_cast<int>(all.sharedSizeBytes); break;
      case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES: result = static_cast<int>(all.constSizeBytes); break;
      case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: result = static_cast<int>(all.localSizeBytes); break;
      case CU_FUNC_ATTRIBUTE_NUM_REGS: result = all.numRegs; break;
      case CU_FUNC_ATTRIBUTE_PTX_VERSION: result = all.ptxVersion; break;
      case CU_FUNC_ATTRIBUTE_BINARY_VERSION: result = all.binaryVersion; break;
      case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: result = all.maxDynamicSharedSizeBytes; break;
      default:
        throw Failure(cudaErrorNotSupported,
                      "attribute " + std::to_string(attribute) + " of a function is not supported");
    }
  });
}
CUresult cuFuncSetCacheConfig(CUfunction function, CUfunc_cache) {
  return driver_guarded(__func__, [&] { (void)kernel_of(function); });
}
CUresult cuFuncGetName(const char** name, CUfunction function) {
  return driver_guarded(__func__,
                        [&] { require_non_null(name, "the result") = kernel_of(function).name().c_str(); });
}
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* count, CUfunction function, int threads,
                                                     std::size_t shared_bytes) {
  return driver_guarded(__func__, [&] {
    require_non_null(count, "the result") =
        ctas_per_multiprocessor(kernel_of(function), threads, shared_bytes);
  });
}
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* count, CUfunction function, int threads,
                                                              std::size_t shared_bytes, unsigned) {
  return cuOccupancyMaxActiveBlocksPerMultiprocessor(count, function, threads, shared_bytes);
}
CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int* grid, int* block, CUfunction function,
                                                   CUoccupancyB2DSize shared_bytes_of,
                                                   std::size_t shared_bytes, int limit, unsigned) {
  return driver_guarded(__func__, [&] {
    find_block_size(require_non_null(grid, "the grid"), require_non_null(block, "the block"),
                    kernel_of(function), shared_bytes_of, shared_bytes, limit);
  });
}
CUresult cuOccupancyMaxPotentialBlockSize(int* grid, int* block, CUfunction function,
                                          CUoccupancyB2DSize shared_bytes_of, std::size_t shared_bytes,
                                          int limit) {
  return cuOccupancyMaxPotentialBlockSizeWithFlags(grid, block, function, shared_bytes_of, shared_bytes,
                                                   limit, 0);
}

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                        CUstream stream, void** parameters, void** extra) {
  return driver_guarded(__func__, [&] {
    launch(function, shape_of({grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes), stream,
           parameters, extra);
  });
}
CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                   unsigned block_x, unsigned block_y, unsigned block_z,
                                   unsigned shared_bytes, CUstream stream, void** parameters) {
  return driver_guarded(__func__, [&] {
    LaunchShape shape = shape_of({grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes);
    shape.cooperative = true;
    launch(function, shape, stream, parameters, nullptr);
  });
}
CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** parameters,
                          void** extra) {
  return driver_guarded(__func__, [&] {
    const CUlaunchConfig& c = require_non_null(config, "the configuration");
    // The runtime and the driver have the same attributes.
    static_assert(sizeof(CUlaunchAttribute) == sizeof(cudaLaunchAttribute));
    cudaLaunchConfig_t converted{};
    converted.gridDim = {c.gridDimX, c.gridDimY, c.gridDimZ};
    converted.blockDim = {c.blockDimX, c.blockDimY, c.blockDimZ};
    converted.dynamicSmemBytes = c.sharedMemBytes;
    converted.attrs = reinterpret_cast<cudaLaunchAttribute*>(c.attrs);
    converted.numAttrs = c.numAttrs;
    launch(function, shape_of(converted), c.hStream, parameters, extra);
  });
}

}  // extern "C"
