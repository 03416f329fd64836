// Errors of the runtime and of the driver. With few exceptions, they have the same numbers under two names.
#include "cudart/device.hpp"

#include <array>
#include <cctype>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include <cuda.h>

TMAJIT_BEGIN
namespace cudart {
namespace {

constexpr std::array driver_names{
    std::pair{CUDA_SUCCESS, "CUDA_SUCCESS"},
    std::pair{CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE"},
    std::pair{CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY"},
    std::pair{CUDA_ERROR_NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED"},
    std::pair{CUDA_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE"},
    std::pair{CUDA_ERROR_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE"},
    std::pair{CUDA_ERROR_INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE"},
    std::pair{CUDA_ERROR_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT"},
    std::pair{CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED"},
    std::pair{CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, "CUDA_ERROR_PEER_ACCESS_NOT_ENABLED"},
    std::pair{CUDA_ERROR_ASSERT, "CUDA_ERROR_ASSERT"},
    std::pair{CUDA_ERROR_NO_BINARY_FOR_GPU, "CUDA_ERROR_NO_BINARY_FOR_GPU"},
    std::pair{CUDA_ERROR_INVALID_PTX, "CUDA_ERROR_INVALID_PTX"},
    std::pair{CUDA_ERROR_FILE_NOT_FOUND, "CUDA_ERROR_FILE_NOT_FOUND"},
    std::pair{CUDA_ERROR_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE"},
    std::pair{CUDA_ERROR_NOT_FOUND, "CUDA_ERROR_NOT_FOUND"},
    std::pair{CUDA_ERROR_NOT_READY, "CUDA_ERROR_NOT_READY"},
    std::pair{CUDA_ERROR_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS"},
    std::pair{CUDA_ERROR_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED"},
    std::pair{CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE"},
    std::pair{CUDA_ERROR_NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED"},
    std::pair{CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED"},
    std::pair{CUDA_ERROR_UNKNOWN, "CUDA_ERROR_UNKNOWN"}};

const char* driver_name(CUresult result) noexcept {
  for (const auto& [each, name] : driver_names) {
    if (each == result) return name;
  }
  return nullptr;
}

/// "invalid value" of "cudaErrorInvalidValue"
std::string words_of(std::string_view name) {
  if (name == "cudaSuccess") return "no error";
  std::string words;
  for (const char c : name.substr(std::string_view("cudaError").size())) {
    if (std::isupper(static_cast<unsigned char>(c)) != 0 && !words.empty()) words += ' ';
    words += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return words;
}

const char* text_of(cudaError_t error) {
  static std::mutex mutex;
  static auto& texts = *new std::map<cudaError_t, std::string>;
  const std::lock_guard lock(mutex);
  return texts.try_emplace(error, words_of(name_of(error))).first->second.c_str();
}

}  // namespace

const char* name_of(cudaError_t error) noexcept {
  switch (error) {
#define TMAJIT_NAMED(error_name) \
  case error_name: return #error_name;
    TMAJIT_NAMED(cudaSuccess)
    TMAJIT_NAMED(cudaErrorInvalidValue)
    TMAJIT_NAMED(cudaErrorMemoryAllocation)
    TMAJIT_NAMED(cudaErrorInitializationError)
    TMAJIT_NAMED(cudaErrorCudartUnloading)
    TMAJIT_NAMED(cudaErrorProfilerDisabled)
    TMAJIT_NAMED(cudaErrorProfilerNotInitialized)
    TMAJIT_NAMED(cudaErrorProfilerAlreadyStarted)
    TMAJIT_NAMED(cudaErrorProfilerAlreadyStopped)
    TMAJIT_NAMED(cudaErrorInvalidConfiguration)
    TMAJIT_NAMED(cudaErrorInvalidPitchValue)
    TMAJIT_NAMED(cudaErrorInvalidSymbol)
    TMAJIT_NAMED(cudaErrorInvalidHostPointer)
    TMAJIT_NAMED(cudaErrorInvalidDevicePointer)
    TMAJIT_NAMED(cudaErrorInvalidTexture)
    TMAJIT_NAMED(cudaErrorInvalidTextureBinding)
    TMAJIT_NAMED(cudaErrorInvalidChannelDescriptor)
    TMAJIT_NAMED(cudaErrorInvalidMemcpyDirection)
    TMAJIT_NAMED(cudaErrorAddressOfConstant)
    TMAJIT_NAMED(cudaErrorTextureFetchFailed)
    TMAJIT_NAMED(cudaErrorTextureNotBound)
    TMAJIT_NAMED(cudaErrorSynchronizationError)
    TMAJIT_NAMED(cudaErrorInvalidFilterSetting)
    TMAJIT_NAMED(cudaErrorInvalidNormSetting)
    TMAJIT_NAMED(cudaErrorMixedDeviceExecution)
    TMAJIT_NAMED(cudaErrorNotYetImplemented)
    TMAJIT_NAMED(cudaErrorMemoryValueTooLarge)
    TMAJIT_NAMED(cudaErrorStubLibrary)
    TMAJIT_NAMED(cudaErrorInsufficientDriver)
    TMAJIT_NAMED(cudaErrorCallRequiresNewerDriver)
    TMAJIT_NAMED(cudaErrorInvalidSurface)
    TMAJIT_NAMED(cudaErrorDuplicateVariableName)
    TMAJIT_NAMED(cudaErrorDuplicateTextureName)
    TMAJIT_NAMED(cudaErrorDuplicateSurfaceName)
    TMAJIT_NAMED(cudaErrorDevicesUnavailable)
    TMAJIT_NAMED(cudaErrorIncompatibleDriverContext)
    TMAJIT_NAMED(cudaErrorMissingConfiguration)
    TMAJIT_NAMED(cudaErrorPriorLaunchFailure)
    TMAJIT_NAMED(cudaErrorLaunchMaxDepthExceeded)
    TMAJIT_NAMED(cudaErrorLaunchFileScopedTex)
    TMAJIT_NAMED(cudaErrorLaunchFileScopedSurf)
    TMAJIT_NAMED(cudaErrorSyncDepthExceeded)
    TMAJIT_NAMED(cudaErrorLaunchPendingCountExceeded)
    TMAJIT_NAMED(cudaErrorInvalidDeviceFunction)
    TMAJIT_NAMED(cudaErrorNoDevice)
    TMAJIT_NAMED(cudaErrorInvalidDevice)
    TMAJIT_NAMED(cudaErrorDeviceNotLicensed)
    TMAJIT_NAMED(cudaErrorSoftwareValidityNotEstablished)
    TMAJIT_NAMED(cudaErrorStartupFailure)
    TMAJIT_NAMED(cudaErrorInvalidKernelImage)
    TMAJIT_NAMED(cudaErrorDeviceUninitialized)
    TMAJIT_NAMED(cudaErrorMapBufferObjectFailed)
    TMAJIT_NAMED(cudaErrorUnmapBufferObjectFailed)
    TMAJIT_NAMED(cudaErrorArrayIsMapped)
    TMAJIT_NAMED(cudaErrorAlreadyMapped)
    TMAJIT_NAMED(cudaErrorNoKernelImageForDevice)
    TMAJIT_NAMED(cudaErrorAlreadyAcquired)
    TMAJIT_NAMED(cudaErrorNotMapped)
    TMAJIT_NAMED(cudaErrorNotMappedAsArray)
    TMAJIT_NAMED(cudaErrorNotMappedAsPointer)
    TMAJIT_NAMED(cudaErrorECCUncorrectable)
    TMAJIT_NAMED(cudaErrorUnsupportedLimit)
    TMAJIT_NAMED(cudaErrorDeviceAlreadyInUse)
    TMAJIT_NAMED(cudaErrorPeerAccessUnsupported)
    TMAJIT_NAMED(cudaErrorInvalidPtx)
    TMAJIT_NAMED(cudaErrorInvalidGraphicsContext)
    TMAJIT_NAMED(cudaErrorNvlinkUncorrectable)
    TMAJIT_NAMED(cudaErrorJitCompilerNotFound)
    TMAJIT_NAMED(cudaErrorUnsupportedPtxVersion)
    TMAJIT_NAMED(cudaErrorJitCompilationDisabled)
    TMAJIT_NAMED(cudaErrorUnsupportedExecAffinity)
    TMAJIT_NAMED(cudaErrorInvalidSource)
    TMAJIT_NAMED(cudaErrorFileNotFound)
    TMAJIT_NAMED(cudaErrorSharedObjectSymbolNotFound)
    TMAJIT_NAMED(cudaErrorSharedObjectInitFailed)
    TMAJIT_NAMED(cudaErrorOperatingSystem)
    TMAJIT_NAMED(cudaErrorInvalidResourceHandle)
    TMAJIT_NAMED(cudaErrorIllegalState)
    TMAJIT_NAMED(cudaErrorLossyQuery)
    TMAJIT_NAMED(cudaErrorSymbolNotFound)
    TMAJIT_NAMED(cudaErrorNotReady)
    TMAJIT_NAMED(cudaErrorIllegalAddress)
    TMAJIT_NAMED(cudaErrorLaunchOutOfResources)
    TMAJIT_NAMED(cudaErrorLaunchTimeout)
    TMAJIT_NAMED(cudaErrorLaunchIncompatibleTexturing)
    TMAJIT_NAMED(cudaErrorPeerAccessAlreadyEnabled)
    TMAJIT_NAMED(cudaErrorPeerAccessNotEnabled)
    TMAJIT_NAMED(cudaErrorSetOnActiveProcess)
    TMAJIT_NAMED(cudaErrorContextIsDestroyed)
    TMAJIT_NAMED(cudaErrorAssert)
    TMAJIT_NAMED(cudaErrorTooManyPeers)
    TMAJIT_NAMED(cudaErrorHostMemoryAlreadyRegistered)
    TMAJIT_NAMED(cudaErrorHostMemoryNotRegistered)
    TMAJIT_NAMED(cudaErrorHardwareStackError)
    TMAJIT_NAMED(cudaErrorIllegalInstruction)
    TMAJIT_NAMED(cudaErrorMisalignedAddress)
    TMAJIT_NAMED(cudaErrorInvalidAddressSpace)
    TMAJIT_NAMED(cudaErrorInvalidPc)
    TMAJIT_NAMED(cudaErrorLaunchFailure)
    TMAJIT_NAMED(cudaErrorCooperativeLaunchTooLarge)
    TMAJIT_NAMED(cudaErrorNotPermitted)
    TMAJIT_NAMED(cudaErrorNotSupported)
    TMAJIT_NAMED(cudaErrorSystemNotReady)
    TMAJIT_NAMED(cudaErrorSystemDriverMismatch)
    TMAJIT_NAMED(cudaErrorCompatNotSupportedOnDevice)
    TMAJIT_NAMED(cudaErrorMpsConnectionFailed)
    TMAJIT_NAMED(cudaErrorMpsRpcFailure)
    TMAJIT_NAMED(cudaErrorMpsServerNotReady)
    TMAJIT_NAMED(cudaErrorMpsMaxClientsReached)
    TMAJIT_NAMED(cudaErrorMpsMaxConnectionsReached)
    TMAJIT_NAMED(cudaErrorMpsClientTerminated)
    TMAJIT_NAMED(cudaErrorCdpNotSupported)
    TMAJIT_NAMED(cudaErrorCdpVersionMismatch)
    TMAJIT_NAMED(cudaErrorStreamCaptureUnsupported)
    TMAJIT_NAMED(cudaErrorStreamCaptureInvalidated)
    TMAJIT_NAMED(cudaErrorStreamCaptureMerge)
    TMAJIT_NAMED(cudaErrorStreamCaptureUnmatched)
    TMAJIT_NAMED(cudaErrorStreamCaptureUnjoined)
    TMAJIT_NAMED(cudaErrorStreamCaptureIsolation)
    TMAJIT_NAMED(cudaErrorStreamCaptureImplicit)
    TMAJIT_NAMED(cudaErrorCapturedEvent)
    TMAJIT_NAMED(cudaErrorStreamCaptureWrongThread)
    TMAJIT_NAMED(cudaErrorTimeout)
    TMAJIT_NAMED(cudaErrorGraphExecUpdateFailure)
    TMAJIT_NAMED(cudaErrorExternalDevice)
    TMAJIT_NAMED(cudaErrorInvalidClusterSize)
    TMAJIT_NAMED(cudaErrorUnknown)
    TMAJIT_NAMED(cudaErrorApiFailureBase)
#undef TMAJIT_NAMED
    default: return "cudaErrorUnrecognized";
  }
}

}  // namespace cudart
TMAJIT_END

using namespace tmajit::cudart;

extern "C" {

cudaError_t cudaGetLastError() {
  return last_error(true);
}
cudaError_t cudaPeekAtLastError() {
  return last_error(false);
}
const char* cudaGetErrorName(cudaError_t error) {
  return name_of(error);
}
const char* cudaGetErrorString(cudaError_t error) {
  return text_of(error);
}

CUresult cuGetErrorName(CUresult error, const char** name) {
  if (name == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *name = driver_name(error);
  return *name == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}
CUresult cuGetErrorString(CUresult error, const char** text) {
  if (text == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *text = driver_name(error) == nullptr ? nullptr : text_of(static_cast<cudaError_t>(error));
  return *text == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

// For accepted.cpp, which includes no CUDA header.
int tmajit_not_supported(const char* function) {
  print_error(function, cudaErrorNotSupported, "the simulated device does not have this function");
  const bool is_runtime_function = std::string_view(function).starts_with("cuda");
  return is_runtime_function ? set_last_error(cudaErrorNotSupported) : cudaErrorNotSupported;
}

}  // extern "C"
