#pragma once

#include <tmajit/device.hpp>
#include <tmajit/runtime.hpp>

#include <cstdint>
#include <functional>

namespace jitc {

/// How long something took that moves `bytes`, read and written ones together.
struct Measurement {
  std::uint64_t bytes = 0;
  double median_ms = 0;
  double min_ms = 0;
  std::uint32_t repeats = 0;

  [[nodiscard]] double gb_per_s() const {
    return median_ms > 0 ? static_cast<double>(bytes) / median_ms * 1e-6 : 0;
  }
};

/// Runs `work`, which moves `bytes`, once, waits for it (a fault shows here), and then times `repeats` more.
[[nodiscard]] Measurement measure(tmajit::Device& device, std::uint64_t bytes, std::uint32_t repeats,
                                  const std::function<void()>& work);
/// The same of a launch.
[[nodiscard]] Measurement measure_launch(tmajit::Device& device, const tmajit::PreparedLaunch& launch,
                                         std::uint32_t repeats);

/// Times the device's own copy of as many bytes of `source` as fit `destination`, which it overwrites.
[[nodiscard]] Measurement measure_copy(tmajit::Device& device, const tmajit::Operand& destination,
                                       const tmajit::Operand& source, std::uint32_t repeats);

}  // namespace jitc
