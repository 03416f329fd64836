#include "driver/fake_driver.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace {

FakeDriver* fake = nullptr;

CUcontext context_at(std::uintptr_t address) {
  return reinterpret_cast<CUcontext>(address);
}

tmajit::driver::Api table() {
  tmajit::driver::Api api;
  api.init = [](unsigned) { return fake->answer("cuInit"); };
  api.get_error_name = [](CUresult result, const char** text) {
    *text = result == CUDA_ERROR_OUT_OF_MEMORY     ? "CUDA_ERROR_OUT_OF_MEMORY"
            : result == CUDA_ERROR_ILLEGAL_ADDRESS ? "CUDA_ERROR_ILLEGAL_ADDRESS"
            : result == CUDA_ERROR_INVALID_VALUE   ? "CUDA_ERROR_INVALID_VALUE"
                                                   : nullptr;
    return *text != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  };
  api.get_error_string = [](CUresult, const char** text) {
    *text = "the driver's words";
    return CUDA_SUCCESS;
  };
  api.device_get_count = [](int* count) {
    *count = static_cast<int>(fake->gpus.size());
    return fake->answer("cuDeviceGetCount");
  };
  api.device_get = [](CUdevice* device, int ordinal) {
    *device = ordinal;
    return fake->answer("cuDeviceGet");
  };
  api.device_get_name = [](char* name, int length, CUdevice device) {
    std::snprintf(name, static_cast<std::size_t>(length), "%s",
                  fake->gpus[static_cast<std::size_t>(device)].name.c_str());
    return fake->answer("cuDeviceGetName");
  };
  api.device_get_attribute = [](int* value, CUdevice_attribute attribute, CUdevice device) {
    const FakeDriver::Gpu& gpu = fake->gpus[static_cast<std::size_t>(device)];
    switch (attribute) {
      case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: *value = gpu.major; break;
      case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: *value = gpu.minor; break;
      case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT: *value = 132; break;
      case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: *value = 232448; break;
      case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE: *value = 50 << 20; break;
      default: return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
  };
  api.device_total_mem = [](std::size_t* bytes, CUdevice) {
    *bytes = 150'000'000'000;
    return fake->answer("cuDeviceTotalMem");
  };
  api.primary_ctx_get_state = [](CUdevice device, unsigned* flags, int* active) {
    *flags = 0;
    *active = fake->retained[device] > 0;
    return CUDA_SUCCESS;
  };
  api.primary_ctx_retain = [](CUcontext* context, CUdevice device) {
    *context = FakeDriver::primary(device);
    ++fake->retained[device];
    return fake->answer("cuDevicePrimaryCtxRetain");
  };
  api.primary_ctx_release = [](CUdevice device) {
    --fake->retained[device];
    return CUDA_SUCCESS;
  };
  api.ctx_get_current = [](CUcontext* context) {
    *context = fake->contexts.empty() ? nullptr : fake->contexts.back();
    return CUDA_SUCCESS;
  };
  api.ctx_get_device = [](CUdevice* device) {
    *device = static_cast<CUdevice>(reinterpret_cast<std::uintptr_t>(fake->contexts.back()) / 16 % 16);
    return CUDA_SUCCESS;
  };
  api.ctx_push_current = [](CUcontext context) {
    const CUresult result = fake->answer("cuCtxPushCurrent");
    if (result == CUDA_SUCCESS) fake->contexts.push_back(context);
    return result;
  };
  api.ctx_pop_current = [](CUcontext* context) {
    *context = fake->contexts.back();
    fake->contexts.pop_back();
    return fake->answer("cuCtxPopCurrent");
  };
  api.mem_alloc = [](CUdeviceptr* pointer, std::size_t bytes) {
    *pointer = 0x10000;
    const CUresult result = fake->answer("cuMemAlloc");
    return bytes > fake->free_bytes ? CUDA_ERROR_OUT_OF_MEMORY : result;
  };
  api.mem_free = [](CUdeviceptr) { return fake->answer("cuMemFree"); };
  api.mem_get_info = [](std::size_t* free, std::size_t* total) {
    *free = fake->free_bytes;
    *total = 2000;
    return CUDA_SUCCESS;
  };
  api.memcpy_htod_async = [](CUdeviceptr, const void*, std::size_t, CUstream) {
    return fake->answer("cuMemcpyHtoDAsync");
  };
  api.memcpy_dtoh_async = [](void*, CUdeviceptr, std::size_t, CUstream) {
    return fake->answer("cuMemcpyDtoHAsync");
  };
  api.memcpy_dtod_async = [](CUdeviceptr, CUdeviceptr, std::size_t, CUstream) {
    return fake->answer("cuMemcpyDtoDAsync");
  };
  api.memset_d8_async = [](CUdeviceptr, unsigned char, std::size_t, CUstream) {
    return fake->answer("cuMemsetD8Async");
  };
  api.stream_create = [](CUstream* stream, unsigned) {
    *stream = reinterpret_cast<CUstream>(std::uintptr_t{0x5000});
    return fake->answer("cuStreamCreate");
  };
  api.stream_destroy = [](CUstream) { return fake->answer("cuStreamDestroy"); };
  api.stream_get_id = [](CUstream stream,
                         unsigned long long* id) {  // NOLINT(google-runtime-int): the driver's
    *id = reinterpret_cast<std::uintptr_t>(stream);
    return CUDA_SUCCESS;
  };
  api.ctx_synchronize = [] { return fake->answer("cuCtxSynchronize"); };
  api.stream_synchronize = [](CUstream) { return fake->answer("cuStreamSynchronize"); };
  api.event_create = [](CUevent* event, unsigned) {
    const CUresult result = fake->answer("cuEventCreate");
    *event = reinterpret_cast<CUevent>(0x6000 + 16 * fake->count("cuEventCreate"));
    return result;
  };
  api.event_destroy = [](CUevent) { return fake->answer("cuEventDestroy"); };
  api.event_record = [](CUevent, CUstream) { return fake->answer("cuEventRecord"); };
  api.event_query = [](CUevent) {
    // As the driver does: unless the mode is relaxed, querying an event invalidates a capture.
    if (fake->captured != nullptr && fake->mode != CU_STREAM_CAPTURE_MODE_RELAXED) {
      return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    return fake->answer("cuEventQuery");
  };
  api.event_synchronize = [](CUevent) { return fake->answer("cuEventSynchronize"); };
  api.event_elapsed_time = [](float* milliseconds, CUevent, CUevent) {
    const CUresult result = fake->answer("cuEventElapsedTime");
    *milliseconds = static_cast<float>(fake->count("cuEventElapsedTime"));
    return result;
  };
  api.stream_begin_capture = [](CUstream, CUstreamCaptureMode) {
    return fake->answer("cuStreamBeginCapture");
  };
  api.stream_end_capture = [](CUstream, CUgraph* graph) {
    *graph = reinterpret_cast<CUgraph>(std::uintptr_t{0x9000});
    return fake->answer("cuStreamEndCapture");
  };
  api.graph_instantiate = [](CUgraphExec* exec, CUgraph, unsigned long long) {
    *exec = reinterpret_cast<CUgraphExec>(std::uintptr_t{0xa000});
    return fake->answer("cuGraphInstantiateWithFlags");
  };
  api.graph_launch = [](CUgraphExec, CUstream) { return fake->answer("cuGraphLaunch"); };
  api.graph_exec_destroy = [](CUgraphExec) { return fake->answer("cuGraphExecDestroy"); };
  api.graph_destroy = [](CUgraph) { return fake->answer("cuGraphDestroy"); };
  api.tensor_map_encode_tiled = [](CUtensorMap* map, std::uint32_t type, cuuint32_t rank, void* address,
                                   const cuuint64_t* dims, const cuuint64_t* strides, const cuuint32_t* box,
                                   const cuuint32_t* element_strides, std::uint32_t interleave,
                                   std::uint32_t swizzle, std::uint32_t l2_promotion,
                                   std::uint32_t oob_fill) {
    std::memset(map, 0x5a, sizeof *map);
    const std::uint32_t n = std::min(rank, 5U);
    fake->encoded.push_back({type,
                             rank,
                             interleave,
                             swizzle,
                             l2_promotion,
                             oob_fill,
                             address,
                             {dims, dims + n},
                             {strides, strides + (n == 0 ? 0 : n - 1)},
                             {box, box + n},
                             {element_strides, element_strides + n}});
    return fake->answer("cuTensorMapEncodeTiled");
  };
  api.tensor_map_encode_im2col =
      [](CUtensorMap* map, std::uint32_t type, cuuint32_t rank, void* address, const cuuint64_t* dims,
         const cuuint64_t* strides, const int* lower, const int* upper, cuuint32_t channels,
         cuuint32_t pixels, const cuuint32_t* element_strides, std::uint32_t interleave,
         std::uint32_t swizzle, std::uint32_t l2_promotion, std::uint32_t oob_fill) {
        std::memset(map, 0xa5, sizeof *map);
        const std::uint32_t n = std::min(rank, 5U);
        const std::uint32_t corners = std::max(n, 2U) - 2;
        fake->encoded.push_back({type,
                                 rank,
                                 interleave,
                                 swizzle,
                                 l2_promotion,
                                 oob_fill,
                                 address,
                                 {dims, dims + n},
                                 {strides, strides + (n == 0 ? 0 : n - 1)},
                                 {},
                                 {element_strides, element_strides + n},
                                 {lower, lower + corners},
                                 {upper, upper + corners},
                                 channels,
                                 pixels});
        return fake->answer("cuTensorMapEncodeIm2col");
      };
  api.tensor_map_replace_address = [](CUtensorMap*, void* address) {
    fake->replaced.push_back(address);
    return fake->answer("cuTensorMapReplaceAddress");
  };
  api.stream_get_capture_info = [](CUstream, CUstreamCaptureStatus* status, cuuint64_t*, CUgraph* graph,
                                   const CUgraphNode**, std::size_t*) {
    *status = fake->captured == nullptr ? CU_STREAM_CAPTURE_STATUS_NONE : CU_STREAM_CAPTURE_STATUS_ACTIVE;
    if (graph != nullptr) *graph = fake->captured;
    return CUDA_SUCCESS;
  };
  api.thread_exchange_stream_capture_mode = [](CUstreamCaptureMode* mode) {
    std::swap(fake->mode, *mode);
    return CUDA_SUCCESS;
  };
  api.user_object_create = [](CUuserObject* object, void* data, CUhostFn destroy, unsigned, unsigned) {
    fake->user_objects.emplace_back(destroy, data);
    *object = reinterpret_cast<CUuserObject>(std::uintptr_t{0xb000});
    return fake->answer("cuUserObjectCreate");
  };
  api.user_object_release = [](CUuserObject, unsigned) {
    const auto [destroy, data] = fake->user_objects.back();
    fake->user_objects.pop_back();
    destroy(data);
    return fake->answer("cuUserObjectRelease");
  };
  api.graph_retain_user_object = [](CUgraph, CUuserObject, unsigned, unsigned) {
    return fake->answer("cuGraphRetainUserObject");
  };
  api.kernel_get_param_info = [](CUkernel, std::size_t index, std::size_t*, std::size_t*) {
    return index < fake->kernel_parameters ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  };
  api.library_load_data = [](CUlibrary* library, const void*, CUjit_option*, void**, unsigned,
                             CUlibraryOption*, void**, unsigned) {
    *library = reinterpret_cast<CUlibrary>(std::uintptr_t{0x7000});
    if (fake->captured != nullptr && fake->mode != CU_STREAM_CAPTURE_MODE_RELAXED) {
      return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    return fake->answer("cuLibraryLoadData");
  };
  api.library_unload = [](CUlibrary) { return fake->answer("cuLibraryUnload"); };
  api.library_get_kernel = [](CUkernel* kernel, CUlibrary, const char*) {
    *kernel = reinterpret_cast<CUkernel>(std::uintptr_t{0x8000});
    return fake->answer("cuLibraryGetKernel");
  };
  api.kernel_get_function = [](CUfunction* function, CUkernel) {
    *function = nullptr;
    return fake->answer("cuKernelGetFunction");
  };
  api.kernel_set_attribute = [](CUfunction_attribute, int, CUkernel, CUdevice) {
    return fake->answer("cuKernelSetAttribute");
  };
  api.occupancy_max_active_blocks = [](int* blocks, CUfunction, int, std::size_t) {
    *blocks = 3;
    return fake->answer("cuOccupancyMaxActiveBlocksPerMultiprocessor");
  };
  api.launch_kernel_ex = [](const CUlaunchConfig* config, CUfunction function, void** parameters, void**) {
    fake->launched.push_back({*config,
                              function,
                              parameters,
                              fake->contexts.back(),
                              {config->attrs, config->attrs + config->numAttrs}});
    return fake->answer("cuLaunchKernelEx");
  };
  return api;
}

}  // namespace

FakeDriver::FakeDriver() : api(table()) {
  fake = this;
}
FakeDriver::~FakeDriver() {
  fake = nullptr;
}

CUcontext FakeDriver::primary(CUdevice device) {
  return context_at(0x1000 + 16 * static_cast<std::uintptr_t>(device));
}
CUcontext FakeDriver::user_context(CUdevice device) {
  return context_at(0x2000 + 16 * static_cast<std::uintptr_t>(device));
}

std::size_t FakeDriver::count(const std::string& call) const {
  return static_cast<std::size_t>(std::ranges::count(calls, call));
}

CUresult FakeDriver::answer(const char* call) {
  calls.emplace_back(call);
  const auto failure = failures.find(call);
  return failure == failures.end() ? CUDA_SUCCESS : failure->second;
}
