#pragma once

#include "driver/api.hpp"

#include <tmajit/error.hpp>

#include <string>
#include <string_view>

TMAJIT_BEGIN
namespace driver {

/// "cuMemFree(0x7f…) failed: CUDA_ERROR_INVALID_VALUE (invalid argument). <usual cause>", without a full stop
/// at the end. `call` is the entry point with the values that matter.
[[nodiscard]] std::string describe(const Api& api, CUresult result, std::string_view call);

/// Whether `result` is a fault after which every call on the context fails.
[[nodiscard]] bool kills_context(CUresult result) noexcept;

/// Throws what describe() says: Error{out_of_memory} with the free bytes of the current context's device for
/// CUDA_ERROR_OUT_OF_MEMORY, else Error{device_failed}.
[[noreturn]] void fail(const Api& api, CUresult result, std::string_view call);

inline void check(const Api& api, CUresult result, std::string_view call) {
  if (result != CUDA_SUCCESS) [[unlikely]]
    fail(api, result, call);
}

/// "1.5 GiB (1610612736 bytes)"
[[nodiscard]] std::string human_bytes(std::uint64_t bytes);

}  // namespace driver
TMAJIT_END
