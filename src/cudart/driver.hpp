#pragma once

#include "cudart/device.hpp"

#include <cuda.h>

TMAJIT_BEGIN
namespace cudart {

/// attempt() for a function of the driver. The runtime's errors have the driver's numbers, except one.
template <class Body>
CUresult driven(const char* function, const Body& body) noexcept {
  const cudaError_t code = attempt(function, body);
  return static_cast<CUresult>(code == cudaErrorInvalidDeviceFunction ? cudaErrorSymbolNotFound : code);
}

/// The result of a function of the driver that calls a function of the runtime.
[[nodiscard]] inline CUresult as_result(cudaError_t code) noexcept {
  (void)last_error(true);
  return static_cast<CUresult>(code);
}

}  // namespace cudart
TMAJIT_END
