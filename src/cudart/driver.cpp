// The driver's devices, contexts, streams and events.
#include "cudart/driver.hpp"

#include "cudart/properties.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <vector>

using namespace tmajit::cudart;

namespace {

/// The only context. It is current even if no context was pushed.
CUcontext only_context() {
  static char context;
  return reinterpret_cast<CUcontext>(&context);
}
std::vector<CUcontext>& context_stack() {
  thread_local std::vector<CUcontext> stack;
  return stack;
}

}  // namespace

extern "C" {

CUresult cuInit(unsigned flags) {
  return driver_guarded(__func__, [&] {
    if (flags != 0) throw Failure(cudaErrorInvalidValue, "the flags must be 0");
  });
}
CUresult cuDriverGetVersion(int* version) {
  return as_result(cudaDriverGetVersion(version));
}
CUresult cuDeviceGetCount(int* count) {
  return as_result(cudaGetDeviceCount(count));
}
CUresult cuDeviceGet(CUdevice* result, int ordinal) {
  return driver_guarded(__func__, [&] {
    require_device(ordinal);
    require_non_null(result, "the result") = ordinal;
  });
}
CUresult cuDeviceGetName(char* name, int length, CUdevice ordinal) {
  return driver_guarded(__func__, [&] {
    require_device(ordinal);
    std::snprintf(&require_non_null(name, "the result"), static_cast<std::size_t>(std::max(length, 0)), "%s",
                  device().info().name.c_str());
  });
}
CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice ordinal) {
  return driver_guarded(__func__, [&] {
    require_device(ordinal);
    std::memcpy(require_non_null(uuid, "the result").bytes, device_uuid, sizeof uuid->bytes);
  });
}
CUresult cuDeviceTotalMem(std::size_t* bytes, CUdevice ordinal) {
  return driver_guarded(__func__, [&] {
    require_device(ordinal);
    require_non_null(bytes, "the result") = device().info().memory_bytes;
  });
}
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice ordinal) {
  return driver_guarded(__func__, [&] {
    require_device(ordinal);
    require_non_null(value, "the result") = device_attribute(attribute);
  });
}
CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice ordinal) {
  return driver_guarded(__func__, [&] {
    require_device(ordinal);
    require_non_null(major, "the result") = device().info().compute_major;
    require_non_null(minor, "the result") = device().info().compute_minor;
  });
}
CUresult cuDeviceCanAccessPeer(int* answer, CUdevice ordinal, CUdevice peer) {
  return as_result(cudaDeviceCanAccessPeer(answer, ordinal, peer));
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice ordinal) {
  return driver_guarded(__func__, [&] {
    require_device(ordinal);
    require_non_null(context, "the result") = only_context();
  });
}
CUresult cuDevicePrimaryCtxRelease(CUdevice ordinal) {
  return driver_guarded(__func__, [&] { require_device(ordinal); });
}
CUresult cuDevicePrimaryCtxGetState(CUdevice ordinal, unsigned* flags, int* active) {
  return driver_guarded(__func__, [&] {
    require_device(ordinal);
    require_non_null(flags, "the flags") = 0;
    require_non_null(active, "the result") = 1;
  });
}
CUresult cuDevicePrimaryCtxSetFlags(CUdevice ordinal, unsigned) {
  return driver_guarded(__func__, [&] { require_device(ordinal); });
}
// All versions of cuCtxCreate take the result first; their other parameters differ.
#undef cuCtxCreate
CUresult tmajit_create_context(CUcontext* context) {
  return driver_guarded("cuCtxCreate", [&] {
    require_non_null(context, "the result") = only_context();
    context_stack().push_back(only_context());
  });
}
CUresult cuCtxDestroy(CUcontext context) {
  return driver_guarded(__func__, [&] {
    if (context != only_context()) throw Failure(cudaErrorDeviceUninitialized, "there is no such context");
    if (!context_stack().empty()) context_stack().pop_back();
  });
}
CUresult cuCtxGetCurrent(CUcontext* context) {
  return driver_guarded(__func__, [&] { require_non_null(context, "the result") = only_context(); });
}
CUresult cuCtxSetCurrent(CUcontext context) {
  return driver_guarded(__func__, [&] {
    if (context != nullptr && context != only_context())
      throw Failure(cudaErrorDeviceUninitialized, "there is no such context");
  });
}
CUresult cuCtxPushCurrent(CUcontext context) {
  return driver_guarded(__func__, [&] {
    if (context != only_context()) throw Failure(cudaErrorDeviceUninitialized, "there is no such context");
    context_stack().push_back(context);
  });
}
CUresult cuCtxPopCurrent(CUcontext* context) {
  return driver_guarded(__func__, [&] {
    if (context_stack().empty()) throw Failure(cudaErrorDeviceUninitialized, "no context was pushed");
    if (context != nullptr) *context = context_stack().back();
    context_stack().pop_back();
  });
}
CUresult cuCtxGetDevice(CUdevice* ordinal) {
  return driver_guarded(__func__, [&] { require_non_null(ordinal, "the result") = 0; });
}
CUresult cuCtxGetApiVersion(CUcontext, unsigned* version) {
  return driver_guarded(__func__, [&] { require_non_null(version, "the result") = CUDA_VERSION; });
}
CUresult cuCtxSynchronize() {
  return as_result(cudaDeviceSynchronize());
}

CUresult cuStreamCreate(CUstream* stream, unsigned flags) {
  return as_result(cudaStreamCreateWithFlags(stream, flags));
}
CUresult cuStreamCreateWithPriority(CUstream* stream, unsigned flags, int priority) {
  return as_result(cudaStreamCreateWithPriority(stream, flags, priority));
}
CUresult cuStreamDestroy(CUstream stream) {
  return as_result(cudaStreamDestroy(stream));
}
CUresult cuStreamSynchronize(CUstream stream) {
  return as_result(cudaStreamSynchronize(stream));
}
CUresult cuStreamQuery(CUstream stream) {
  return as_result(cudaStreamQuery(stream));
}
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
  return as_result(cudaStreamWaitEvent(stream, event, flags));
}
CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* status) {
  cudaStreamCaptureStatus answer = cudaStreamCaptureStatusNone;
  const CUresult result = as_result(cudaStreamIsCapturing(stream, &answer));
  if (status != nullptr) *status = static_cast<CUstreamCaptureStatus>(answer);
  return result;
}
CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void* data) {
  return as_result(cudaLaunchHostFunc(stream, function, data));
}
CUresult cuEventCreate(CUevent* event, unsigned flags) {
  return as_result(cudaEventCreateWithFlags(event, flags));
}
CUresult cuEventDestroy(CUevent event) {
  return as_result(cudaEventDestroy(event));
}
CUresult cuEventRecord(CUevent event, CUstream stream) {
  return as_result(cudaEventRecord(event, stream));
}
CUresult cuEventQuery(CUevent event) {
  return as_result(cudaEventQuery(event));
}
CUresult cuEventSynchronize(CUevent event) {
  return as_result(cudaEventSynchronize(event));
}
CUresult cuEventElapsedTime(float* milliseconds, CUevent from, CUevent to) {
  return as_result(cudaEventElapsedTime(milliseconds, from, to));
}

}  // extern "C"
