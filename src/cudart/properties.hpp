#pragma once

#include "cudart/device.hpp"

TMAJIT_BEGIN
namespace cudart {

inline constexpr int driver_version = 99'000;  ///< newer than any real driver, see cudaDriverGetVersion()
inline constexpr char device_uuid[17] = "tmajit simulated";

/// An attribute by its number, which is the same for the runtime and the driver. Throws Failure for
/// an unknown number.
[[nodiscard]] int device_attribute(int number);

}  // namespace cudart
TMAJIT_END
