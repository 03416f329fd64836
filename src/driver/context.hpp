#pragma once

#include "driver/api.hpp"

#include <memory>

TMAJIT_BEGIN
namespace driver {

/// The CUDA context that a GPU's calls run in: the one that was current on that device when it was opened, or
/// the device's primary context, which is then kept alive.
class Context {
 public:
  /// Throws Error{device_failed}.
  Context(const Api& api, CUdevice device);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  [[nodiscard]] const Api& api() const noexcept { return api_; }
  [[nodiscard]] CUcontext handle() const noexcept { return handle_; }
  [[nodiscard]] CUdevice device() const noexcept { return device_; }

 private:
  const Api& api_;
  CUdevice device_;
  CUcontext handle_ = nullptr;
  bool retained_ = false;
};

/// Makes a context current for as long as it lives; leaves the caller's as it was. Where the context is
/// current already this is one thread-local read.
class ContextScope {
 public:
  explicit ContextScope(const Context& context) : api_(context.api()) {
    CUcontext current = nullptr;
    if (api_.ctx_get_current(&current) != CUDA_SUCCESS || current != context.handle()) push(context);
  }
  ~ContextScope() {
    if (pushed_) pop();
  }
  ContextScope(const ContextScope&) = delete;
  ContextScope& operator=(const ContextScope&) = delete;

 private:
  void push(const Context& context);
  void pop() noexcept;

  const Api& api_;
  bool pushed_ = false;
};

/// Lets the calling thread make calls that a capture forbids, such as loading code or asking whether an
/// event was reached: they concern no stream. While a capture in the global mode is under way, on any thread,
/// such calls would spoil it.
class RelaxedCapture {
 public:
  explicit RelaxedCapture(const Api& api) : api_(api) { exchange(); }
  ~RelaxedCapture() { exchange(); }
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;

 private:
  void exchange() { api_.thread_exchange_stream_capture_mode(&mode_); }
  const Api& api_;
  CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;
};

/// Has the driver's function `give_back` take a resource of the context. A context that is gone has taken its
/// resources with it.
template <class Function, class Resource>
void release(const Context& context, Function give_back, Resource resource) noexcept try {
  const ContextScope scope(context);
  give_back(resource);
} catch (const Error&) {  // the context is gone
}

}  // namespace driver
TMAJIT_END
