#pragma once

// A stand-in for CUDA's runtime, over the simulated device: what a program of somebody else's calls, so that
// its host part computes its launches as ever and its kernels run without a GPU. Programs are linked with it
// in place of libcudart (nvcc -cudart none). Built when the tests run, with the CUDA headers that the program
// itself was compiled with.
//
// It takes from the environment
//   TMAJIT_PTX       the file of PTX that nvcc made of the program, which has all of its kernels
//   TMAJIT_REPORTS   the file to which every report of the simulated device is added, a line each: rule,
//   kernel, line of the
//                    PTX and what was found, with tabs in between. Launches with reports go on.
//   TMAJIT_SIM_MODE  late (if it is not set), early or random; TMAJIT_SIM_SEED: a number
// A CUDA function that is not here is missed when the program is linked.

#include <tmajit/error.hpp>
#include <tmajit/sim.hpp>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>

#include <cuda_runtime_api.h>

namespace stand_in {

/// What a function of the runtime answers with instead of cudaSuccess.
class Failure : public std::runtime_error {
 public:
  Failure(cudaError_t code, const std::string& message) : std::runtime_error(message), code_(code) {}
  [[nodiscard]] cudaError_t code() const noexcept { return code_; }

 private:
  cudaError_t code_;
};

/// The process's one device, made on first use. It is never destroyed: a program's own globals may free
/// device memory after everything else is gone.
[[nodiscard]] tmajit::SimDevice& device();

/// The kernel whose stub on the host is `stub`, loaded on first use. Throws Failure if nobody registered it.
[[nodiscard]] tmajit::LoadedKernel& kernel_of(const void* stub);
/// Makes `name`, an entry of the PTX, the kernel of `stub`.
void register_kernel(const void* stub, const std::string& name);

/// Keeps `code` for cudaGetLastError() and returns it.
cudaError_t remember(cudaError_t code) noexcept;
/// What remember() was last given, which with `forget` is cudaSuccess from then on.
[[nodiscard]] cudaError_t last_error(bool forget) noexcept;
/// Says on stderr what went wrong in `function`.
void complain(const char* function, const char* message) noexcept;

/// Runs the body of a function of the runtime: no exception leaves it.
template <class Body>
cudaError_t guarded(const char* function, const Body& body) noexcept {
  try {
    body();
    return cudaSuccess;
  } catch (const Failure& failure) {
    complain(function, failure.what());
    return remember(failure.code());
  } catch (const tmajit::Error& error) {
    complain(function, error.what());
    return remember(error.code() == tmajit::ErrorCode::out_of_memory ? cudaErrorMemoryAllocation
                                                                     : cudaErrorLaunchFailure);
  } catch (const std::exception& error) {
    complain(function, error.what());
    return remember(cudaErrorUnknown);
  }
}

}  // namespace stand_in
