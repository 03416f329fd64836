#include "raw_driver.hpp"

#include <tmajit/error.hpp>

#include <dlfcn.h>
#include <spdlog/fmt/fmt.h>

namespace bench {
namespace {

using tmajit::Error;
using tmajit::ErrorCode;

template <class Function>
void bind(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function == nullptr) {
    throw Error(ErrorCode::unavailable,
                fmt::format("libcuda.so.1 has no {}: the bench needs a driver of CUDA 12 or later", name));
  }
}

}  // namespace

RawDriver::RawDriver(int ordinal) : library_(dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL)) {
  if (library_ == nullptr) {
    throw Error(ErrorCode::unavailable, fmt::format("the CUDA driver cannot be loaded: {}", dlerror()));
  }
  decltype(&::cuInit) init = nullptr;
  decltype(&::cuDeviceGet) device_get = nullptr;
  decltype(&::cuDevicePrimaryCtxRetain) retain = nullptr;
  decltype(&::cuCtxSetCurrent) set_current = nullptr;
  bind(library_, "cuInit", init);
  bind(library_, "cuDeviceGet", device_get);
  bind(library_, "cuDevicePrimaryCtxRetain", retain);
  bind(library_, "cuCtxSetCurrent", set_current);
  bind(library_, "cuGetErrorString", get_error_string_);
  bind(library_, "cuDriverGetVersion", driver_get_version_);
  bind(library_, "cuLaunchKernelEx", launch_kernel);
  bind(library_, "cuLibraryLoadData", library_load_data_);
  bind(library_, "cuLibraryUnload", library_unload_);
  bind(library_, "cuLibraryGetKernel", library_get_kernel_);
  bind(library_, "cuKernelSetAttribute", kernel_set_attribute_);
  bind(library_, "cuStreamBeginCapture_v2", stream_begin_capture_);
  bind(library_, "cuStreamEndCapture", stream_end_capture_);
  bind(library_, "cuGraphInstantiateWithFlags", graph_instantiate_);
  bind(library_, "cuGraphLaunch", graph_launch_);
  bind(library_, "cuGraphExecDestroy", graph_exec_destroy_);
  bind(library_, "cuGraphDestroy", graph_destroy_);

  CUcontext context = nullptr;
  check(init(0), "cuInit");
  check(device_get(&device_, ordinal), "cuDeviceGet");
  check(retain(&context, device_), "cuDevicePrimaryCtxRetain");
  check(set_current(context), "cuCtxSetCurrent");
}

void RawDriver::check(CUresult result, const char* call) const {
  if (result == CUDA_SUCCESS) return;
  const char* text = nullptr;
  if (get_error_string_(result, &text) != CUDA_SUCCESS || text == nullptr) text = "unknown error";
  throw Error(ErrorCode::device_failed, fmt::format("{} failed: {}", call, text));
}

std::string RawDriver::version() const {
  int version = 0;
  check(driver_get_version_(&version), "cuDriverGetVersion");
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

RawKernel::RawKernel(const RawDriver& driver, const tmajit::Artifact& artifact, std::uint32_t shared_bytes)
    : driver_(driver) {
  driver.check(
      driver.library_load_data_(&library_, artifact.cubin.data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
      "cuLibraryLoadData");
  driver.check(driver.library_get_kernel_(&kernel_, library_, artifact.entry.c_str()), "cuLibraryGetKernel");
  driver.check(driver.kernel_set_attribute_(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                            static_cast<int>(shared_bytes), kernel_, driver.device_),
               "cuKernelSetAttribute");
}

RawKernel::~RawKernel() {
  if (library_ != nullptr) driver_.library_unload_(library_);
}

void Graph::begin(tmajit::Stream stream) const {
  driver_.check(driver_.stream_begin_capture_(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
                "cuStreamBeginCapture");
}

void Graph::end(tmajit::Stream stream) {
  CUgraph graph = nullptr;
  driver_.check(driver_.stream_end_capture_(stream, &graph), "cuStreamEndCapture");
  const CUresult result = driver_.graph_instantiate_(&exec_, graph, 0);
  driver_.graph_destroy_(graph);
  driver_.check(result, "cuGraphInstantiateWithFlags");
}

void Graph::abandon(tmajit::Stream stream) const noexcept {
  CUgraph graph = nullptr;
  if (driver_.stream_end_capture_(stream, &graph) == CUDA_SUCCESS && graph != nullptr) {
    driver_.graph_destroy_(graph);
  }
}

Graph::~Graph() {
  if (exec_ != nullptr) driver_.graph_exec_destroy_(exec_);
}

void Graph::launch(tmajit::Stream stream) const {
  driver_.check(driver_.graph_launch_(exec_, stream), "cuGraphLaunch");
}

}  // namespace bench
