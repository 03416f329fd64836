// How programs register kernels, ask about them and launch them. The functions whose names begin with
// underscores are those that nvcc writes calls of, declared in crt/host_runtime.h and crt/device_functions.h.
#include "device.hpp"

#include <array>
#include <span>
#include <vector>

namespace {

using stand_in::device;
using stand_in::guarded;
using stand_in::kernel_of;

/// What stands between <<< and >>>.
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

std::array<std::uint32_t, 3> extents(const dim3& of) {
  return {of.x, of.y, of.z};
}

void launch(const void* stub, const tmajit::LaunchShape& shape, void** arguments) {
  const auto& kernel = kernel_of(stub);
  const auto count = kernel.parameter_count();
  kernel.launch(shape, std::span(arguments, count.value_or(0)), nullptr);
  // Its reports are written, and whoever started the program judges them: what follows runs all the same.
  try {
    device().streams().synchronize(nullptr);
  } catch (const tmajit::Error&) {
    device().clear_reports();
  }
}

tmajit::LaunchShape shape_of(const cudaLaunchConfig_t& config) {
  tmajit::LaunchShape shape{.grid = extents(config.gridDim),
                            .block = extents(config.blockDim),
                            .shared_bytes = static_cast<std::uint32_t>(config.dynamicSmemBytes)};
  for (const auto& attribute : std::span(config.attrs, config.numAttrs)) {
    if (attribute.id == cudaLaunchAttributeClusterDimension) {
      shape.cluster = {attribute.val.clusterDim.x, attribute.val.clusterDim.y, attribute.val.clusterDim.z};
    } else if (attribute.id == cudaLaunchAttributeProgrammaticStreamSerialization) {
      shape.overlaps = attribute.val.programmaticStreamSerializationAllowed != 0;
    } else if (attribute.id == cudaLaunchAttributeCooperative) {
      shape.cooperative = attribute.val.cooperative != 0;
    } else {
      throw stand_in::Failure(cudaErrorNotSupported, "launch attribute " + std::to_string(attribute.id));
    }
  }
  return shape;
}

/// Nobody looks into the program's image: the PTX is a file.
void* handle = nullptr;

}  // namespace

extern "C" {

void** __cudaRegisterFatBinary(void*) {
  return &handle;
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
char __cudaInitModule(void**) {
  return 1;
}
void __cudaRegisterVar(void**, char*, char*, const char*, int, std::size_t, int, int) {}
void __cudaRegisterFunction(void**, const char* stub, char*, const char* name, int, uint3*, uint3*, dim3*,
                            dim3*, int*) {
  stand_in::register_kernel(stub, name);
}

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared_bytes, CUstream_st* stream) {
  configurations().push_back({grid, block, shared_bytes, stream});
  return 0;
}
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared_bytes, void* stream) {
  const Configuration top = configurations().back();
  configurations().pop_back();
  *grid = top.grid;
  *block = top.block;
  *shared_bytes = top.shared_bytes;
  *static_cast<cudaStream_t*>(stream) = top.stream;
  return cudaSuccess;
}

cudaError_t cudaLaunchKernel(const void* stub, dim3 grid, dim3 block, void** arguments,
                             std::size_t shared_bytes, cudaStream_t) {
  return guarded("cudaLaunchKernel", [&] {
    launch(stub,
           {.grid = extents(grid),
            .block = extents(block),
            .shared_bytes = static_cast<std::uint32_t>(shared_bytes)},
           arguments);
  });
}
cudaError_t cudaLaunchCooperativeKernel(const void* stub, dim3 grid, dim3 block, void** arguments,
                                        std::size_t shared_bytes, cudaStream_t) {
  return guarded("cudaLaunchCooperativeKernel", [&] {
    launch(stub,
           {.grid = extents(grid),
            .block = extents(block),
            .shared_bytes = static_cast<std::uint32_t>(shared_bytes),
            .cooperative = true},
           arguments);
  });
}
// What nvcc's stubs launch by is whatever the runtime calls a kernel: here the stub itself.
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* stub) {
  *kernel = static_cast<cudaKernel_t>(const_cast<void*>(stub));
  return cudaSuccess;
}
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                               std::size_t shared_bytes, cudaStream_t stream) {
  return cudaLaunchKernel(kernel, grid, block, arguments, shared_bytes, stream);
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* stub, void** arguments) {
  return guarded("cudaLaunchKernelExC", [&] { launch(stub, shape_of(*config), arguments); });
}

cudaError_t cudaFuncSetAttribute(const void* stub, cudaFuncAttribute attribute, int value) {
  return guarded("cudaFuncSetAttribute", [&] {
    if (attribute == cudaFuncAttributeMaxDynamicSharedMemorySize)
      kernel_of(stub).allow_shared_bytes(static_cast<std::uint32_t>(value));
  });
}
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void*) {
  *attributes = {};
  attributes->maxThreadsPerBlock = 1024;
  return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* count, const void* stub, int threads,
                                                                   std::size_t shared_bytes, unsigned) {
  return guarded("cudaOccupancyMaxActiveBlocksPerMultiprocessor", [&] {
    *count = static_cast<int>(kernel_of(stub).ctas_per_sm(static_cast<std::uint32_t>(threads),
                                                          static_cast<std::uint32_t>(shared_bytes)));
  });
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* count, const void* stub, int threads,
                                                          std::size_t shared_bytes) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(count, stub, threads, shared_bytes, 0);
}
cudaError_t cudaOccupancyMaxActiveClusters(int* count, const void* stub, const cudaLaunchConfig_t* config) {
  return guarded("cudaOccupancyMaxActiveClusters", [&] {
    const auto shape = shape_of(*config);
    const auto threads = shape.block[0] * shape.block[1] * shape.block[2];
    const auto ctas = shape.cluster[0] * shape.cluster[1] * shape.cluster[2];
    *count = static_cast<int>(kernel_of(stub).ctas_per_sm(threads, shape.shared_bytes) *
                              device().info().sm_count / ctas);
  });
}

}  // extern "C"
