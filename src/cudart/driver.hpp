#pragma once

#include "cudart/device.hpp"

#include <cuda.h>

TMAJIT_BEGIN
namespace cudart {

/// The same as attempt(), for a function of the driver: the runtime's errors have the driver's numbers.
template <class Body>
CUresult driven(const char* function, const Body& body) noexcept {
  const cudaError_t code = attempt(function, body);
  return static_cast<CUresult>(code == cudaErrorInvalidDeviceFunction ? cudaErrorSymbolNotFound : code);
}

/// A function of the driver that does what one of the runtime does.
[[nodiscard]] inline CUresult as_result(cudaError_t code) noexcept {
  (void)last_error(true);
  return static_cast<CUresult>(code);
}

}  // namespace cudart
TMAJIT_END
