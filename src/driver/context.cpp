#include "driver/context.hpp"

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace driver {
namespace {

/// The calling thread's context if it belongs to `device`, else null.
CUcontext current_on(const Api& api, CUdevice device) {
  CUcontext current = nullptr;
  CUdevice its_device = -1;
  if (api.ctx_get_current(&current) != CUDA_SUCCESS || current == nullptr) return nullptr;
  return api.ctx_get_device(&its_device) == CUDA_SUCCESS && its_device == device ? current : nullptr;
}

}  // namespace

Context::Context(const Api& api, CUdevice device)
    : api_(api), device_(device), handle_(current_on(api, device)) {
  // The current context is often the primary one, which the CUDA runtime has activated. It is then retained,
  // so that it outlives its other users. An inactive primary context is not created just for the comparison.
  unsigned flags = 0;
  int active = 0;
  if (handle_ != nullptr &&
      (api_.primary_ctx_get_state(device_, &flags, &active) != CUDA_SUCCESS || active == 0))
    return;
  CUcontext primary = nullptr;
  check(api_, api_.primary_ctx_retain(&primary, device_), "cuDevicePrimaryCtxRetain(device {})", device_);
  if (handle_ == nullptr || handle_ == primary) {
    handle_ = primary;
    retained_ = true;
  } else {
    api_.primary_ctx_release(device_);
  }
}

Context::~Context() {
  if (retained_) api_.primary_ctx_release(device_);
}

void ContextScope::push(const Context& context) {
  check(api_, api_.ctx_push_current(context.handle()), "cuCtxPushCurrent({}, device {})",
        static_cast<const void*>(context.handle()), context.device());
  pushed_ = true;
}

void ContextScope::pop() noexcept {
  CUcontext popped = nullptr;
  api_.ctx_pop_current(&popped);
}

}  // namespace driver
TMAJIT_END
