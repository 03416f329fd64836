/// Operations in one call, on a device that counts launches and runs none.
#pragma once

#include "lib/allocations.hpp"
#include "runtime/fake_device.hpp"

#include <tmajit/runtime.hpp>
#include <tmajit/tensor.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <catch2/catch_test_macros.hpp>

namespace tests {

inline constexpr tmajit::DevicePtr called_destination = 0x7f00'0000'0000;
inline constexpr tmajit::DevicePtr called_source = 0x7e00'0000'0000;

/// A dense tensor.
inline tmajit::Tensor tensor_of(const std::vector<std::uint64_t>& shape, tmajit::DevicePtr address,
                                tmajit::ElementType type = tmajit::ElementType::f32) {
  return {tmajit::TensorView::contiguous(type, shape), address};
}

struct CallFixture {
  std::shared_ptr<FakeDevice> device = std::make_shared<FakeDevice>();
  tmajit::Runtime runtime{{.device = device, .cache_directory = std::nullopt}};
  CallFixture() { device->on_launch = nullptr; }

  /// Checks that further calls, each on tensors at other addresses, neither allocate nor load a kernel.
  template <class OneCall>
  void check_repeats(const OneCall& call) const {
    const std::size_t before = allocations();
    for (tmajit::DevicePtr i = 0; i < 50; ++i) call(4096 * i);
    CHECK(allocations() == before);
    CHECK(device->loads == 1);
  }
};

}  // namespace tests
