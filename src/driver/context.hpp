#pragma once

#include "driver/api.hpp"

#include <memory>

TMAJIT_BEGIN
namespace driver {

/// The CUDA context of a GPU's calls: the context that was current on the device when the GPU was opened or,
/// if there was none, the device's primary context, which is then retained.
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

/// Makes a context current for as long as this object lives, then restores the caller's context. If the
/// context is current already, this costs one thread-local read.
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

/// Lets the calling thread make driver calls that a capture forbids, although they concern no stream: loading
/// code, or querying an event. Without it, such calls would invalidate a capture in global mode on any
/// thread.
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

/// Frees a resource of the context by the driver's function `give_back`. Does nothing if the context has been
/// destroyed, which freed its resources.
template <class Function, class Resource>
void release(const Context& context, Function give_back, Resource resource) noexcept try {
  const ContextScope scope(context);
  give_back(resource);
} catch (const Error&) {  // the context has been destroyed
}

}  // namespace driver
TMAJIT_END
