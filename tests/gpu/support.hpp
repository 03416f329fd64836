#pragma once

#include "seed.hpp"

#include <tmajit/device.hpp>
#include <tmajit/runtime.hpp>

#include <cstdint>
#include <iostream>
#include <memory>
#include <random>
#include <string>

#include <catch2/catch_test_macros.hpp>

namespace gpu {

/// The first Hopper GPU, or null.
inline std::shared_ptr<tmajit::Device> device() {
  for (const tmajit::DeviceInfo& info : tmajit::list_gpus()) {
    if (info.compute_major == 9 && info.compute_minor == 0) return tmajit::open_gpu(info.ordinal);
  }
  return nullptr;
}

using tests::from_environment;

/// The seed of a random test, printed so that a failure can be run again with $TMAJIT_SEED.
inline std::uint64_t seed() {
  static const std::uint64_t value = [] {
    const std::uint64_t chosen = tests::seed(std::random_device{}());
    std::cout << "TMAJIT_SEED=" << chosen << std::endl;
    return chosen;
  }();
  return value;
}

}  // namespace gpu

/// Declares `device`. Skips the test case, with the reason, if there is no Hopper GPU.
#define REQUIRE_HOPPER(device)                                                         \
  const std::shared_ptr<tmajit::Device> device = gpu::device();                        \
  if (!(device)) {                                                                     \
    const std::string why = tmajit::why_no_gpu();                                      \
    SKIP("no Hopper GPU: " << (why.empty() ? "none of compute capability 9.0" : why)); \
  }
