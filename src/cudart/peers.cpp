// Peer access between devices. The only device is no peer of itself, so the calls fail, with the errors of a
// GPU.
#include "cudart/driver.hpp"

using namespace tmajit::cudart;

namespace {

[[noreturn]] void throw_no_peer(cudaError_t code) {
  throw Failure(code, "a device is no peer of itself");
}

void require_context(CUcontext context) {
  CUcontext current = nullptr;
  cuCtxGetCurrent(&current);
  if (context != current) throw Failure(cudaErrorDeviceUninitialized, "there is no such context");
}

void require_two_devices(int first, int second) {
  require_device(first);
  require_device(second);
  throw_no_peer(cudaErrorInvalidDevice);
}

}  // namespace

extern "C" {

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  return guarded(__func__, [&] {
    require_device(peer);
    if (flags != 0) throw Failure(cudaErrorInvalidValue, "the flags must be 0");
    throw_no_peer(cudaErrorPeerAccessUnsupported);
  });
}
cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  return guarded(__func__, [&] {
    require_device(peer);
    throw_no_peer(cudaErrorPeerAccessNotEnabled);
  });
}
cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr, int source, int destination) {
  return guarded(__func__, [&] {
    require_non_null(value, "the result");
    require_two_devices(source, destination);
  });
}

CUresult cuCtxEnablePeerAccess(CUcontext context, unsigned flags) {
  return driver_guarded(__func__, [&] {
    require_context(context);
    if (flags != 0) throw Failure(cudaErrorInvalidValue, "the flags must be 0");
    throw_no_peer(cudaErrorPeerAccessUnsupported);
  });
}
CUresult cuCtxDisablePeerAccess(CUcontext context) {
  return driver_guarded(__func__, [&] {
    require_context(context);
    throw_no_peer(cudaErrorPeerAccessNotEnabled);
  });
}
CUresult cuDeviceGetP2PAttribute(int* value, CUdevice_P2PAttribute, CUdevice source, CUdevice destination) {
  return driver_guarded(__func__, [&] {
    require_non_null(value, "the result");
    require_two_devices(source, destination);
  });
}

}  // extern "C"
