#pragma once

#include <tmajit/version.hpp>

#include <cstdint>
#include <string>

TMAJIT_BEGIN

/// What planning must know of a GPU. Plain data: plans can be made for a chip that is not there.
struct Chip {
  std::string name = "NVIDIA H200";  ///< as the driver spells it; tuned choices are kept by it
  double gbps = 4260;  ///< 10⁹ bytes a second, read and written, of the driver's copy of 1 GiB
  std::uint32_t sm_count = 132;
  friend bool operator==(const Chip&, const Chip&) = default;
};

struct DeviceInfo;
/// The chip of a device. The simulated device counts as an H200.
[[nodiscard]] TMAJIT_API Chip chip_of(const DeviceInfo& info);

TMAJIT_END
