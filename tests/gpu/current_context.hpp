#pragma once

#include "driver/api.hpp"

#include <tmajit/device.hpp>

#include <catch2/catch_test_macros.hpp>

namespace gpu {

/// The device's primary context, current in this thread for as long as this lives: the library leaves no
/// context behind, and the driver's own calls need one.
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
