#pragma once

// A program that registers and launches kernels as nvcc's host code does.
#include <cstdint>
#include <string>
#include <vector>

#include <cuda_runtime_api.h>

namespace program {

/// Host stubs of kernels in the program's PTX. scale(values, factor, offset) multiplies and then adds the
/// module's variable `offset` and constant `bias`.
void scale(std::uint32_t* values, std::uint32_t factor);
/// Adds 1 to the module's variable `launches`.
void count();
/// Stores beyond the end of an allocation of 1 MiB or less.
void past(std::uint32_t* values);
/// Fails an assertion.
void asserts();
void not_in_ptx();

template <class Function>
[[nodiscard]] const void* stub(Function* function) {
  return reinterpret_cast<const void*>(function);
}

extern char launches;     ///< shadow of a variable in global memory
extern char bias;         ///< shadow of a variable in constant memory
extern char not_in_ptx_;  ///< shadow of a variable that the PTX does not have

/// Launches the stub with the arguments by the functions that `<<<>>>` calls.
cudaError_t launch(const void* kernel, dim3 grid, dim3 block, std::vector<void*> arguments,
                   cudaStream_t stream = nullptr, std::size_t shared_bytes = 0);
/// The program's PTX.
[[nodiscard]] const std::string& ptx();
/// The reports so far, a line of JSON each.
[[nodiscard]] std::vector<std::string> reports();

/// Device memory with these values.
[[nodiscard]] std::uint32_t* device_values(const std::vector<std::uint32_t>& values);
[[nodiscard]] std::vector<std::uint32_t> host_values(const std::uint32_t* values, std::size_t count);

}  // namespace program
