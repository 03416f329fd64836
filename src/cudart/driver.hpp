#pragma once

#include "cudart/device.hpp"

#include <cuda.h>

TMAJIT_BEGIN
namespace cudart {

/// attempt() for a function of the driver. Returns the runtime's error number, which most errors share with
/// the driver; cudaErrorInvalidDeviceFunction becomes CUDA_ERROR_NOT_FOUND.
template <class Body>
CUresult driven(const char* function, const Body& body) noexcept {
  const cudaError_t code = attempt(function, body);
  return static_cast<CUresult>(code == cudaErrorInvalidDeviceFunction ? cudaErrorSymbolNotFound : code);
}

/// The result of a driver function that calls a runtime function. Resets cudaGetLastError(), which only
/// runtime functions may set.
[[nodiscard]] inline CUresult as_result(cudaError_t code) noexcept {
  (void)last_error(true);
  return static_cast<CUresult>(code);
}

}  // namespace cudart
TMAJIT_END
