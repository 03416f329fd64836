#pragma once

#include <tmajit/sim.hpp>

#include <cstdint>

TMAJIT_BEGIN
namespace sim {

/// Like Device::allocate(), but the allocation begins `past` bytes (below 512) after an aligned address. A
/// tensor of any alignment can then fill its allocation, so that an access to any byte beside it is reported.
/// For tests of what kernels read. Throws Error{invalid_argument} if make_sim_device() has not made the
/// device.
[[nodiscard]] DevicePtr allocate_between(Device& device, std::uint64_t bytes, std::uint64_t past);

}  // namespace sim
TMAJIT_END
