#pragma once

#include "cudart/device.hpp"

#include <cuda.h>

TMAJIT_BEGIN
namespace cudart {

/// The driver's number of an error of the runtime. Most errors have the same number in both.
[[nodiscard]] constexpr CUresult driver_result(cudaError_t code) noexcept {
  switch (code) {
    case cudaErrorInvalidDeviceFunction: return CUDA_ERROR_NOT_FOUND;
    case cudaErrorInvalidConfiguration:
    case cudaErrorInvalidPitchValue: return CUDA_ERROR_INVALID_VALUE;
    default: return static_cast<CUresult>(code);
  }
}

/// attempt() for a function of the driver.
template <class Body>
CUresult driver_guarded(const char* function, const Body& body) noexcept {
  return driver_result(attempt(function, body));
}

/// The result of a driver function that calls a runtime function. Resets cudaGetLastError(), which only
/// runtime functions may set.
[[nodiscard]] inline CUresult as_result(cudaError_t code) noexcept {
  (void)last_error(true);
  return driver_result(code);
}

}  // namespace cudart
TMAJIT_END
