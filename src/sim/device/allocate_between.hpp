#pragma once

#include <tmajit/sim.hpp>

#include <cstdint>

TMAJIT_BEGIN
namespace sim {

/// Like DeviceMemory::allocate(), but the allocation begins `past` bytes after a multiple of 512. So a tensor
/// of any alignment can fill its allocation, and the device reports accesses to bytes next to the tensor. For
/// tests. Throws Error{invalid_argument} if `past` is 512 or more, or if `device` is not a simulated one.
[[nodiscard]] DevicePtr allocate_between(Device& device, std::uint64_t bytes, std::uint64_t past);

}  // namespace sim
TMAJIT_END
