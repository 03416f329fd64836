#pragma once

// A stand-in for CUDA's runtime and driver on a simulated device: a program that is linked with it in place
// of libcudart and libcuda runs its kernels without a GPU. docs/programs.md describes its use, and lists
// the supported functions and the environment variables.

#include <tmajit/error.hpp>
#include <tmajit/sim.hpp>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>

#include <cuda_runtime_api.h>

TMAJIT_BEGIN
namespace cudart {

/// The error that a function returns, with its reason.
class Failure : public std::runtime_error {
 public:
  Failure(cudaError_t code, const std::string& message) : std::runtime_error(message), code_(code) {}
  [[nodiscard]] cudaError_t code() const noexcept { return code_; }

 private:
  cudaError_t code_;
};

/// The process's only device, made on first use. It is never destroyed: destructors of the program's globals
/// may still free device memory.
[[nodiscard]] const std::shared_ptr<SimDevice>& shared_device();
[[nodiscard]] inline SimDevice& device() {
  return *shared_device();
}
/// Throws Failure unless `ordinal` is 0, the only device.
void require_device(int ordinal);
/// Sets the size of the heap from which kernels allocate. Has no effect after the device is made.
void set_heap_bytes(std::uint64_t bytes) noexcept;

/// Stores a kernel's PTX, from which reports read source lines.
void add_artifact(const std::string& kernel, const std::string& ptx);

/// The value of an environment variable, or `fallback` if it is empty or not set.
[[nodiscard]] std::string environment(const char* name, const char* fallback);

/// Stores `code` for cudaGetLastError(), and returns it.
cudaError_t set_last_error(cudaError_t code) noexcept;
/// The error that this thread last passed to set_last_error(). `reset` resets it to cudaSuccess.
[[nodiscard]] cudaError_t last_error(bool reset) noexcept;
/// Prints to stderr that `function` failed.
void print_error(const char* function, cudaError_t code, const char* message) noexcept;
[[nodiscard]] const char* name_of(cudaError_t error) noexcept;  ///< "cudaErrorInvalidValue"
/// The error code of the runtime for an exception of the library.
[[nodiscard]] cudaError_t code_of(const Error& error) noexcept;

/// Runs `body`, which does the work of the CUDA function `function`. Turns an exception into an error code,
/// and prints its message to stderr.
template <class Body>
cudaError_t attempt(const char* function, const Body& body) noexcept {
  const auto fail = [&](cudaError_t code, const char* message) {
    print_error(function, code, message);
    return code;
  };
  try {
    body();
    return cudaSuccess;
  } catch (const Failure& failure) {
    return fail(failure.code(), failure.what());
  } catch (const Error& error) {
    return fail(code_of(error), error.what());
  } catch (const std::exception& error) {
    return fail(cudaErrorUnknown, error.what());
  }
}

/// attempt() for a function of the runtime: cudaGetLastError() then returns the error.
template <class Body>
cudaError_t guarded(const char* function, const Body& body) noexcept {
  const cudaError_t code = attempt(function, body);
  return code == cudaSuccess ? code : set_last_error(code);
}

/// The object at the pointer. Throws Failure if the pointer is null; `what` names it in the message.
template <class T>
T& require_non_null(T* pointer, const char* what) {
  if (pointer == nullptr) throw Failure(cudaErrorInvalidValue, std::string(what) + " is null");
  return *pointer;
}
/// Stores what `make` returns in `*result`. If `result` is null, throws Failure before `make` allocates
/// anything.
template <class T, class Make>
void store(T* result, const Make& make) {
  T& destination = require_non_null(result, "the result");
  destination = make();
}

}  // namespace cudart
TMAJIT_END
