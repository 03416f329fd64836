#pragma once

#include "driver/api.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

/// A fake driver with the GPUs that the test sets and a context stack. It records every call that changes
/// state. At most one exists at a time, and only one thread may use it.
class FakeDriver {
 public:
  FakeDriver();
  ~FakeDriver();
  FakeDriver(const FakeDriver&) = delete;
  FakeDriver& operator=(const FakeDriver&) = delete;

  struct Gpu {
    std::string name = "NVIDIA H200";
    int major = 9;
    int minor = 0;
  };
  /// The arguments of a call of cuTensorMapEncodeTiled, or of cuTensorMapEncodeIm2col if it has corners
  /// instead of a box.
  struct Encoded {
    std::uint32_t type, rank, interleave, swizzle, l2_promotion, oob_fill;
    void* address;
    std::vector<std::uint64_t> dims, strides;
    std::vector<std::uint32_t> box, element_strides;
    std::vector<int> lower{}, upper{};
    std::uint32_t channels = 0, pixels = 0;
  };
  struct Launched {
    CUlaunchConfig config;
    CUfunction function;
    void** parameters;
    CUcontext context;
    std::vector<CUlaunchAttribute> attributes;
  };

  const tmajit::driver::Api api;
  std::vector<Gpu> gpus{Gpu{}};
  std::map<std::string, CUresult> failures;  ///< driver function → the error that it returns
  std::vector<CUcontext> contexts;           ///< context stack of the calling thread
  std::map<CUdevice, int> retained;          ///< reference counts of primary contexts
  std::size_t free_bytes = 1000;
  std::vector<Encoded> encoded;
  std::vector<Launched> launched;
  std::vector<void*> replaced;  ///< addresses passed to cuTensorMapReplaceAddress
  CUgraph captured = nullptr;   ///< graph into which every stream is captured
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;  ///< capture mode of the calling thread
  std::vector<std::pair<CUhostFn, void*>> user_objects;      ///< user objects that graphs keep
  std::size_t kernel_parameters = 3;                         ///< parameters of every kernel
  std::vector<std::string> calls;                            ///< names of the functions called, in order

  [[nodiscard]] static CUcontext primary(CUdevice device);
  [[nodiscard]] static CUcontext user_context(CUdevice device);
  [[nodiscard]] std::size_t count(const std::string& call) const;

  /// Records `call` and returns its result: success, or the error in `failures`.
  CUresult answer(const char* call);
};
