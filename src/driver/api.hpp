#pragma once

#include <tmajit/error.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <cuda.h>
#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace driver {

/// The driver's entry points that tmajit calls, found at run time. It is a table instead of linked symbols,
/// so that the library loads without a driver, and a test can replace functions.
struct Api {
  using GetProcAddress = decltype(&::cuGetProcAddress);
  /// Without `get` every entry point is null.
  explicit Api(GetProcAddress get = nullptr) : get_proc_address(get) {}

  GetProcAddress get_proc_address;
  std::string missing;  ///< entry points that the driver lacks, separated by commas

  /// Declares the enum parameters as integers, as the ABI passes them. So the driver can be given, and can
  /// refuse, a TensorMapSpec whose values are no enumerators.
  using EncodeTiled = CUresult (*)(CUtensorMap*, std::uint32_t type, cuuint32_t rank, void* address,
                                   const cuuint64_t* dims, const cuuint64_t* strides, const cuuint32_t* box,
                                   const cuuint32_t* element_strides, std::uint32_t interleave,
                                   std::uint32_t swizzle, std::uint32_t l2_promotion, std::uint32_t oob_fill);

  using EncodeIm2col = CUresult (*)(CUtensorMap*, std::uint32_t type, cuuint32_t rank, void* address,
                                    const cuuint64_t* dims, const cuuint64_t* strides,
                                    const int* lower_corner, const int* upper_corner, cuuint32_t channels,
                                    cuuint32_t pixels, const cuuint32_t* element_strides,
                                    std::uint32_t interleave, std::uint32_t swizzle,
                                    std::uint32_t l2_promotion, std::uint32_t oob_fill);

  decltype(&::cuInit) init = find("cuInit");
  decltype(&::cuGetErrorName) get_error_name = find("cuGetErrorName");
  decltype(&::cuGetErrorString) get_error_string = find("cuGetErrorString");

  decltype(&::cuDeviceGetCount) device_get_count = find("cuDeviceGetCount");
  decltype(&::cuDeviceGet) device_get = find("cuDeviceGet");
  decltype(&::cuDeviceGetName) device_get_name = find("cuDeviceGetName");
  decltype(&::cuDeviceGetAttribute) device_get_attribute = find("cuDeviceGetAttribute");
  decltype(&::cuDeviceTotalMem) device_total_mem = find("cuDeviceTotalMem");
  decltype(&::cuDevicePrimaryCtxGetState) primary_ctx_get_state = find("cuDevicePrimaryCtxGetState");
  decltype(&::cuDevicePrimaryCtxRetain) primary_ctx_retain = find("cuDevicePrimaryCtxRetain");
  decltype(&::cuDevicePrimaryCtxRelease) primary_ctx_release = find("cuDevicePrimaryCtxRelease");
  decltype(&::cuCtxGetCurrent) ctx_get_current = find("cuCtxGetCurrent");
  decltype(&::cuCtxGetDevice) ctx_get_device = find("cuCtxGetDevice");
  decltype(&::cuCtxPushCurrent) ctx_push_current = find("cuCtxPushCurrent");
  decltype(&::cuCtxPopCurrent) ctx_pop_current = find("cuCtxPopCurrent");
  decltype(&::cuCtxSynchronize) ctx_synchronize = find("cuCtxSynchronize");

  decltype(&::cuMemAlloc) mem_alloc = find("cuMemAlloc");
  decltype(&::cuMemFree) mem_free = find("cuMemFree");
  decltype(&::cuMemGetInfo) mem_get_info = find("cuMemGetInfo");
  decltype(&::cuMemcpyHtoDAsync) memcpy_htod_async = find("cuMemcpyHtoDAsync");
  decltype(&::cuMemcpyDtoHAsync) memcpy_dtoh_async = find("cuMemcpyDtoHAsync");
  decltype(&::cuMemcpyDtoDAsync) memcpy_dtod_async = find("cuMemcpyDtoDAsync");
  decltype(&::cuMemsetD8Async) memset_d8_async = find("cuMemsetD8Async");

  decltype(&::cuStreamCreate) stream_create = find("cuStreamCreate");
  decltype(&::cuStreamDestroy) stream_destroy = find("cuStreamDestroy");
  decltype(&::cuStreamSynchronize) stream_synchronize = find("cuStreamSynchronize");
  decltype(&::cuStreamGetId) stream_get_id = find("cuStreamGetId");
  decltype(&::cuEventCreate) event_create = find("cuEventCreate");
  decltype(&::cuEventDestroy) event_destroy = find("cuEventDestroy");
  decltype(&::cuEventRecord) event_record = find("cuEventRecord");
  decltype(&::cuEventQuery) event_query = find("cuEventQuery");
  decltype(&::cuEventSynchronize) event_synchronize = find("cuEventSynchronize");
  decltype(&::cuEventElapsedTime) event_elapsed_time = find("cuEventElapsedTime");
  decltype(&::cuStreamBeginCapture) stream_begin_capture = find("cuStreamBeginCapture");
  decltype(&::cuStreamEndCapture) stream_end_capture = find("cuStreamEndCapture");
  decltype(&::cuGraphInstantiateWithFlags) graph_instantiate = find("cuGraphInstantiateWithFlags");
  decltype(&::cuGraphLaunch) graph_launch = find("cuGraphLaunch");
  decltype(&::cuGraphExecDestroy) graph_exec_destroy = find("cuGraphExecDestroy");
  decltype(&::cuGraphDestroy) graph_destroy = find("cuGraphDestroy");

  decltype(&::cuGraphRetainUserObject) graph_retain_user_object = find("cuGraphRetainUserObject");
  decltype(&::cuUserObjectCreate) user_object_create = find("cuUserObjectCreate");
  decltype(&::cuUserObjectRelease) user_object_release = find("cuUserObjectRelease");
  decltype(&::cuThreadExchangeStreamCaptureMode) thread_exchange_stream_capture_mode =
      find("cuThreadExchangeStreamCaptureMode");
  /// The signature of CUDA 12, whatever the headers declare under this name.
  using GetCaptureInfo = CUresult (*)(CUstream, CUstreamCaptureStatus*, cuuint64_t* id, CUgraph*,
                                      const CUgraphNode** dependencies, std::size_t* count);
  GetCaptureInfo stream_get_capture_info = find("cuStreamGetCaptureInfo");

  EncodeTiled tensor_map_encode_tiled = find("cuTensorMapEncodeTiled");
  EncodeIm2col tensor_map_encode_im2col = find("cuTensorMapEncodeIm2col");
  decltype(&::cuTensorMapReplaceAddress) tensor_map_replace_address = find("cuTensorMapReplaceAddress");
  decltype(&::cuLibraryLoadData) library_load_data = find("cuLibraryLoadData");
  decltype(&::cuLibraryUnload) library_unload = find("cuLibraryUnload");
  decltype(&::cuLibraryGetKernel) library_get_kernel = find("cuLibraryGetKernel");
  decltype(&::cuKernelGetFunction) kernel_get_function = find("cuKernelGetFunction");
  decltype(&::cuKernelSetAttribute) kernel_set_attribute = find("cuKernelSetAttribute");
  decltype(&::cuOccupancyMaxActiveBlocksPerMultiprocessor) occupancy_max_active_blocks =
      find("cuOccupancyMaxActiveBlocksPerMultiprocessor");
  decltype(&::cuLaunchKernelEx) launch_kernel_ex = find("cuLaunchKernelEx");
  /// Since CUDA 12.4; null in an older driver.
  using KernelGetParamInfo = CUresult (*)(CUkernel, std::size_t index, std::size_t* offset,
                                          std::size_t* bytes);
  KernelGetParamInfo kernel_get_param_info = find_newer("cuKernelGetParamInfo", 12040);

 private:
  /// An address that converts to any type of function pointer.
  struct Address {
    void* address = nullptr;
    template <class Function>
    operator Function*() const noexcept {
      return reinterpret_cast<Function*>(address);
    }
  };
  /// The entry point with its CUDA 12.0 signature, whatever the versions of the driver and the headers are.
  Address find(const char* name);
  /// An entry point that only drivers of CUDA `version` (12040 is 12.4) and later have; null in older
  /// drivers.
  Address find_newer(const char* name, int version) const;
};

/// A driver that was loaded and initialised, or the reason why there is none.
struct Library {
  std::optional<Api> api;
  std::string reason;  ///< a clause without a full stop; empty if there is an api
};

/// Loads the driver that `soname` names and initialises it. If that fails, nothing is thrown: `reason` says
/// why.
[[nodiscard]] Library load_library(const char* soname);
/// This machine's driver, loaded on first use and kept.
[[nodiscard]] const Library& library();

/// "cuMemFree(0x7f…) failed: CUDA_ERROR_INVALID_VALUE (invalid argument). <usual cause>", without a full stop
/// at the end. `call` is the entry point with the values that matter.
[[nodiscard]] std::string describe(const Api& api, CUresult result, std::string_view call);

/// Whether `result` is a fault after which every call on the context fails.
[[nodiscard]] bool kills_context(CUresult result) noexcept;

/// Whether `result` means that the code itself cannot run on this GPU, whatever state the GPU is in.
[[nodiscard]] bool refuses_image(CUresult result) noexcept;

/// Throws an error with the text of describe(): Error{out_of_memory} with the free bytes of the current
/// context's device for CUDA_ERROR_OUT_OF_MEMORY, Error{invalid_image} if refuses_image(), else
/// Error{device_failed}.
[[noreturn]] void fail(const Api& api, CUresult result, std::string_view call);

/// Calls fail() unless `result` is success. `format` and `values` describe the call; they are formatted only
/// for an error.
template <class... Values>
void check(const Api& api, CUresult result, fmt::format_string<const Values&...> format,
           const Values&... values) {
  if (result != CUDA_SUCCESS) [[unlikely]]
    fail(api, result, fmt::format(format, values...));
}

/// "1.5 GiB (1610612736 bytes)"
[[nodiscard]] std::string human_bytes(std::uint64_t bytes);

}  // namespace driver
TMAJIT_END
