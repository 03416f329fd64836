#pragma once

#include "lib/null_device.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace tests {

using namespace tmajit;

/// A device that numbers the kernels that it loads from 0. The test sets the times of launches.
class ScriptedDevice : public tools::NullDevice {
 public:
  using Time = std::function<std::int64_t(int number, const LaunchShape& shape)>;
  explicit ScriptedDevice(Time time, std::string name = "scripted") : takes(std::move(time)) {
    info_.name = std::move(name);
    launched_.reserve(10'000);
  }

  Time takes;  ///< nanoseconds that a launch takes
  std::function<void(int number)> on_load = [](int) {};

  [[nodiscard]] std::vector<int> launched() {
    const std::lock_guard lock(mutex_);
    return launched_;
  }
  [[nodiscard]] int loaded() {
    const std::lock_guard lock(mutex_);
    return loaded_;
  }

  std::vector<float> time(Stream, std::uint32_t repeats, const std::function<void()>& work) override {
    std::vector<float> milliseconds;
    for (std::uint32_t i = 0; i < repeats; ++i) {
      const std::int64_t before = clock_ns;
      work();
      milliseconds.push_back(static_cast<float>(clock_ns - before) / 1e6F);
    }
    return milliseconds;
  }
  std::unique_ptr<LoadedKernel> load(const Artifact&) override {
    int number = 0;
    {
      const std::lock_guard lock(mutex_);
      number = loaded_++;
    }
    on_load(number);
    return std::make_unique<Numbered>(*this, number);
  }

 private:
  class Numbered final : public NullDevice::Kernel {
   public:
    Numbered(ScriptedDevice& device, int number) : Kernel(device), device_(device), number_(number) {}
    void launch(const LaunchShape& shape, std::span<void* const>, Stream) const override {
      device_.clock_ns += device_.takes(number_, shape);
      const std::lock_guard lock(device_.mutex_);
      device_.launched_.push_back(number_);
    }

   private:
    ScriptedDevice& device_;
    int number_;
  };
  std::mutex mutex_;
  std::vector<int> launched_;
  int loaded_ = 0;
};

/// Launch times in microseconds by the kernel's number. The last one applies to all further kernels.
inline ScriptedDevice::Time times(std::vector<std::int64_t> us) {
  return [us = std::move(us)](int number, const LaunchShape&) {
    return 1000 * us[std::min(static_cast<std::size_t>(number), us.size() - 1)];
  };
}

}  // namespace tests
