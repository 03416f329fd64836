#pragma once

#include <tmajit/device.hpp>

#include <cstddef>
#include <span>
#include <string>

#include <cuda.h>

namespace bench {

/// The CUDA driver without tmajit in between: what launches are compared with, and the graphs that keep the
/// host's launch time out of measurements of short kernels.
class RawDriver {
 public:
  /// Loads the driver and makes the primary context of GPU `ordinal` current, for the process's life.
  /// Throws tmajit::Error{unavailable}.
  explicit RawDriver(int ordinal);

  /// Throws tmajit::Error{device_failed} that names `call` unless `result` is success.
  void check(CUresult result, const char* call) const;
  /// "13.0": the newest CUDA that the driver supports.
  [[nodiscard]] std::string version() const;

  decltype(&::cuLaunchKernelEx) launch_kernel = nullptr;

 private:
  friend class RawKernel;
  friend class Graph;

  void* library_ = nullptr;
  decltype(&::cuGetErrorString) get_error_string_ = nullptr;
  decltype(&::cuDriverGetVersion) driver_get_version_ = nullptr;
  decltype(&::cuLibraryLoadData) library_load_data_ = nullptr;
  decltype(&::cuLibraryUnload) library_unload_ = nullptr;
  decltype(&::cuLibraryGetKernel) library_get_kernel_ = nullptr;
  decltype(&::cuKernelSetAttribute) kernel_set_attribute_ = nullptr;
  decltype(&::cuStreamBeginCapture) stream_begin_capture_ = nullptr;
  decltype(&::cuStreamEndCapture) stream_end_capture_ = nullptr;
  decltype(&::cuGraphInstantiateWithFlags) graph_instantiate_ = nullptr;
  decltype(&::cuGraphLaunch) graph_launch_ = nullptr;
  decltype(&::cuGraphExecDestroy) graph_exec_destroy_ = nullptr;
  decltype(&::cuGraphDestroy) graph_destroy_ = nullptr;
  CUdevice device_ = 0;
};

/// A kernel of a cubin, loaded with cuLibraryLoadData.
class RawKernel {
 public:
  RawKernel(const RawDriver& driver, const tmajit::Artifact& artifact, std::uint32_t shared_bytes);
  ~RawKernel();
  RawKernel(const RawKernel&) = delete;
  RawKernel& operator=(const RawKernel&) = delete;

  /// As cuLaunchKernelEx takes it.
  [[nodiscard]] CUfunction function() const { return reinterpret_cast<CUfunction>(kernel_); }

 private:
  const RawDriver& driver_;
  CUlibrary library_ = nullptr;
  CUkernel kernel_ = nullptr;
};

/// What a function enqueued, recorded once and launched as one.
class Graph {
 public:
  template <class Function>
  Graph(const RawDriver& driver, tmajit::Stream stream, const Function& enqueue) : driver_(driver) {
    begin(stream);
    try {
      enqueue();
    } catch (...) {
      abandon(stream);
      throw;
    }
    end(stream);
  }
  ~Graph();
  Graph(Graph&& other) noexcept : driver_(other.driver_), exec_(other.exec_) { other.exec_ = nullptr; }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  Graph& operator=(Graph&&) = delete;

  void launch(tmajit::Stream stream) const;

 private:
  void begin(tmajit::Stream stream) const;
  void end(tmajit::Stream stream);
  void abandon(tmajit::Stream stream) const noexcept;

  const RawDriver& driver_;
  CUgraphExec exec_ = nullptr;
};

}  // namespace bench
