#include "driver/api.hpp"

#include <array>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace driver {
namespace {

/// The most frequent cause of an error; empty if the driver's own text suffices.
std::string_view likely_cause(CUresult result) noexcept {
  switch (result) {
    case CUDA_ERROR_INVALID_VALUE:
      return "usually a grid or block of zero or too many, more dynamic shared memory than the kernel was "
             "allowed, or an address that is not of this device";
    case CUDA_ERROR_DEINITIALIZED: return "the process is ending and the driver has shut down already";
    case CUDA_ERROR_NO_DEVICE:
      return "no GPU is visible; look at nvidia-smi, CUDA_VISIBLE_DEVICES and the container's GPU options";
    case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
      return "the user-space driver and the kernel module differ; restart the machine after a driver update";
    case CUDA_ERROR_SYSTEM_NOT_READY:
      return "a system service is not up yet, usually nvidia-fabricmanager on machines with NVSwitch";
    case CUDA_ERROR_INVALID_IMAGE:
    case CUDA_ERROR_NO_BINARY_FOR_GPU:
      return "the cubin is damaged or was built for another architecture (sm_90a runs on compute capability "
             "9.0 only), or the driver is older than the NVRTC that made it";
    case CUDA_ERROR_INVALID_CONTEXT:
    case CUDA_ERROR_CONTEXT_IS_DESTROYED:
      return "usually the context was destroyed or reset while a Device, Kernel or Buffer still used it";
    case CUDA_ERROR_INVALID_HANDLE:
      return "usually a stream that was destroyed or belongs to another context or device";
    case CUDA_ERROR_NOT_FOUND:
      return "usually the entry is not declared extern \"C\" __global__, so that its name is mangled";
    case CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES:
      return "usually more threads times registers than an SM has; use fewer warps";
    case CUDA_ERROR_ILLEGAL_ADDRESS:
      return "a kernel read or wrote memory that is not allocated: a freed or too small tensor, or a wrong "
             "address or stride; compute-sanitizer names the instruction";
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
      return "for TMA usually a tensor map that is damaged or not in parameter, constant or global memory, "
             "or an innermost coordinate that is not a multiple of 16 bytes";
    case CUDA_ERROR_MISALIGNED_ADDRESS:
      return "a kernel used an address that is not aligned: tensor copies need 128 bytes of shared memory, "
             "bulk copies 16, mbarriers 8";
    case CUDA_ERROR_LAUNCH_TIMEOUT:
      return "a kernel ran longer than a GPU with a display allows, usually waiting on a barrier for ever";
    case CUDA_ERROR_ASSERT: return "a kernel's assert failed";
    case CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED:
    case CUDA_ERROR_STREAM_CAPTURE_IMPLICIT:
      return "the stream is being captured into a graph and this call cannot be; load and allocate before "
             "the capture begins";
    default: return {};
  }
}

const char* text_of(decltype(&::cuGetErrorName) get, CUresult result, const char* fallback) noexcept {
  const char* text = nullptr;
  return get(result, &text) == CUDA_SUCCESS && text != nullptr ? text : fallback;
}

}  // namespace

std::string describe(const Api& api, CUresult result, std::string_view call) {
  std::string text =
      fmt::format("{} failed: {} ({})", call, text_of(api.get_error_name, result, "unknown CUDA error"),
                  text_of(api.get_error_string, result, fmt::to_string(+result).c_str()));
  if (const std::string_view cause = likely_cause(result); !cause.empty()) {
    text += fmt::format(": {}", cause);
  }
  return text;
}

bool kills_context(CUresult result) noexcept {
  switch (result) {
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_NVLINK_UNCORRECTABLE:
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_LAUNCH_FAILED:
    case CUDA_ERROR_EXTERNAL_DEVICE: return true;
    default: return false;
  }
}

bool refuses_image(CUresult result) noexcept {
  switch (result) {
    case CUDA_ERROR_INVALID_IMAGE:
    case CUDA_ERROR_NO_BINARY_FOR_GPU:
    case CUDA_ERROR_INVALID_SOURCE:
    case CUDA_ERROR_INVALID_PTX:
    case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
    case CUDA_ERROR_JIT_COMPILER_NOT_FOUND:  // the driver takes a damaged cubin for PTX
    case CUDA_ERROR_JIT_COMPILATION_DISABLED:
    case CUDA_ERROR_NOT_FOUND: return true;
    default: return false;
  }
}

void fail(const Api& api, CUresult result, std::string_view call) {
  std::string text = describe(api, result, call);
  if (result == CUDA_ERROR_OUT_OF_MEMORY) {
    std::size_t free = 0;
    std::size_t total = 0;
    if (api.mem_get_info(&free, &total) == CUDA_SUCCESS) {
      text += fmt::format(": {} free of {}", human_bytes(free), human_bytes(total));
    }
    throw Error(ErrorCode::out_of_memory, text + ". Free device memory or use smaller tensors.");
  }
  if (kills_context(result)) {
    throw Error(ErrorCode::device_failed,
                text +
                    ". The CUDA context is dead: every further call on it fails the same way, and only a "
                    "new process, or a new context, can use this GPU again.");
  }
  throw Error(refuses_image(result) ? ErrorCode::invalid_image : ErrorCode::device_failed, text + ".");
}

std::string human_bytes(std::uint64_t bytes) {
  constexpr std::array units{"bytes", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < units.size()) {
    value /= 1024;
    ++unit;
  }
  return unit == 0 ? fmt::format("{} bytes", bytes)
                   : fmt::format("{:.1f} {} ({} bytes)", value, units[unit], bytes);
}

}  // namespace driver
TMAJIT_END
