#pragma once

#include "driver/api.hpp"

#include <tmajit/device.hpp>

#include <catch2/catch_test_macros.hpp>

namespace gpu {

/// Makes the device's primary context current in this thread while the object lives. Direct calls of the
/// driver need a current context, and the library leaves none.
class CurrentContext {
 public:
  explicit CurrentContext(const tmajit::Device& device) : ordinal_(device.info().ordinal) {
    CUcontext context = nullptr;
    REQUIRE(api().primary_ctx_retain(&context, ordinal_) == CUDA_SUCCESS);
    REQUIRE(api().ctx_push_current(context) == CUDA_SUCCESS);
  }
  ~CurrentContext() {
    CUcontext popped = nullptr;
    api().ctx_pop_current(&popped);
    api().primary_ctx_release(ordinal_);
  }
  CurrentContext(const CurrentContext&) = delete;
  CurrentContext& operator=(const CurrentContext&) = delete;

  static const tmajit::driver::Api& api() { return *tmajit::driver::library().api; }

 private:
  int ordinal_;
};

}  // namespace gpu
