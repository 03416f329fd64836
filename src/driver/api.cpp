#include "driver/api.hpp"

#include "driver/error.hpp"

#include <dlfcn.h>
#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace driver {
namespace {

/// The CUDA version whose forms of the entry points are asked for: the oldest that has them all. A later one
/// may answer to the same name with other parameters, as cuCtxGetDevice does since 13.0.
constexpr int api_version = 12000;

/// Looks entry points up in their CUDA 12.0 form, whatever the driver's and the headers' own versions are.
class Binder {
 public:
  explicit Binder(void* get_proc_address)
      : get_proc_address_(reinterpret_cast<decltype(&::cuGetProcAddress)>(get_proc_address)) {}

  template <class Function>
  void operator()(const char* name, Function& function) {
    void* address = nullptr;
    CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SUCCESS;
    const CUresult result =
        get_proc_address_(name, &address, api_version, CU_GET_PROC_ADDRESS_DEFAULT, &status);
    if (result == CUDA_SUCCESS && address != nullptr) {
      function = reinterpret_cast<Function>(address);
    } else {
      missing_ += missing_.empty() ? name : fmt::format(", {}", name);
    }
  }

  [[nodiscard]] const std::string& missing() const { return missing_; }

 private:
  decltype(&::cuGetProcAddress) get_proc_address_;
  std::string missing_;
};

void bind_all(Binder& bind, Api& api) {
  bind("cuInit", api.init);
  bind("cuGetErrorName", api.get_error_name);
  bind("cuGetErrorString", api.get_error_string);
  bind("cuDeviceGetCount", api.device_get_count);
  bind("cuDeviceGet", api.device_get);
  bind("cuDeviceGetName", api.device_get_name);
  bind("cuDeviceGetAttribute", api.device_get_attribute);
  bind("cuDeviceTotalMem", api.device_total_mem);
  bind("cuDevicePrimaryCtxGetState", api.primary_ctx_get_state);
  bind("cuDevicePrimaryCtxRetain", api.primary_ctx_retain);
  bind("cuDevicePrimaryCtxRelease", api.primary_ctx_release);
  bind("cuCtxGetCurrent", api.ctx_get_current);
  bind("cuCtxGetDevice", api.ctx_get_device);
  bind("cuCtxPushCurrent", api.ctx_push_current);
  bind("cuCtxPopCurrent", api.ctx_pop_current);
  bind("cuMemAlloc", api.mem_alloc);
  bind("cuMemFree", api.mem_free);
  bind("cuMemGetInfo", api.mem_get_info);
  bind("cuMemcpyHtoDAsync", api.memcpy_htod_async);
  bind("cuMemcpyDtoHAsync", api.memcpy_dtoh_async);
  bind("cuMemcpyDtoDAsync", api.memcpy_dtod_async);
  bind("cuMemsetD8Async", api.memset_d8_async);
  bind("cuStreamCreate", api.stream_create);
  bind("cuStreamDestroy", api.stream_destroy);
  bind("cuStreamSynchronize", api.stream_synchronize);
  bind("cuEventCreate", api.event_create);
  bind("cuEventDestroy", api.event_destroy);
  bind("cuEventRecord", api.event_record);
  bind("cuEventSynchronize", api.event_synchronize);
  bind("cuEventElapsedTime", api.event_elapsed_time);
  bind("cuStreamBeginCapture", api.stream_begin_capture);
  bind("cuStreamEndCapture", api.stream_end_capture);
  bind("cuGraphInstantiateWithFlags", api.graph_instantiate);
  bind("cuGraphLaunch", api.graph_launch);
  bind("cuGraphExecDestroy", api.graph_exec_destroy);
  bind("cuGraphDestroy", api.graph_destroy);
  bind("cuTensorMapEncodeTiled", api.tensor_map_encode_tiled);
  bind("cuLibraryLoadData", api.library_load_data);
  bind("cuLibraryUnload", api.library_unload);
  bind("cuLibraryGetKernel", api.library_get_kernel);
  bind("cuKernelGetFunction", api.kernel_get_function);
  bind("cuKernelSetAttribute", api.kernel_set_attribute);
  bind("cuOccupancyMaxActiveBlocksPerMultiprocessor", api.occupancy_max_active_blocks);
  bind("cuLaunchKernelEx", api.launch_kernel_ex);
}

}  // namespace

Library load_library(const char* soname) {
  // Never closed: the driver keeps threads and state of its own until the process ends.
  void* const handle = dlopen(soname, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* const why = dlerror();
    return {.api = {},
            .reason = fmt::format("no {} on this machine; install an NVIDIA driver ({})", soname,
                                  why != nullptr ? why : "unknown reason")};
  }
  // The versioned symbol: the plain one is the CUDA 11 form, without the query result.
  void* const get_proc_address = dlsym(handle, "cuGetProcAddress_v2");
  if (get_proc_address == nullptr) {
    return {.api = {},
            .reason =
                fmt::format("{} is older than CUDA 12.0; update the NVIDIA driver to 525 or later", soname)};
  }
  Api api;
  Binder bind(get_proc_address);
  bind_all(bind, api);
  if (!bind.missing().empty()) {
    return {.api = {},
            .reason =
                fmt::format("{} lacks {}; update the NVIDIA driver to 525 or later", soname, bind.missing())};
  }
  // NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): bound, or missing() would not be empty
  if (const CUresult result = api.init(0); result != CUDA_SUCCESS) {
    return {.api = {}, .reason = "the NVIDIA driver is installed, but " + describe(api, result, "cuInit")};
  }
  return {.api = api, .reason = {}};
}

const Library& library() {
  // Never destroyed: a Device that a static object of the application holds may outlive this one.
  static const Library& loaded = *new Library(load_library("libcuda.so.1"));
  return loaded;
}

}  // namespace driver
TMAJIT_END
