#pragma once

#include <tmajit/sim.hpp>

#include <cstdint>

TMAJIT_BEGIN
namespace sim {

/// Like Device::allocate(), but the allocation begins `past` bytes (below 512) after where one would: a
/// tensor that begins anywhere can then be all of its allocation, and every byte beside it is reported. For
/// tests of what kernels read. Throws Error{invalid_argument} if the device is not one of make_sim_device().
[[nodiscard]] DevicePtr allocate_between(Device& device, std::uint64_t bytes, std::uint64_t past);

}  // namespace sim
TMAJIT_END
