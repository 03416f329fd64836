#pragma once

/// Addresses of a memory instruction, lane by lane, checked and resolved to host memory.
#include "sim/cta.hpp"

#include <array>

TMAJIT_BEGIN
namespace sim {

/// The address that lane `lane` forms.
[[nodiscard]] inline std::uint64_t address_of(const Warp& warp, const MemoryAccess& access,
                                              std::uint32_t lane) {
  const std::byte* const slot = warp.registers + access.address;
  std::uint64_t base = 0;
  if (access.address_width == 8) base = get<std::uint64_t>(slot, lane);
  if (access.address_width == 4) base = get<std::uint32_t>(slot, lane);
  return base + static_cast<std::uint64_t>(access.offset);
}

/// Where an access of a lane goes.
struct Target {
  std::byte* memory = nullptr;
  bool shared = false;
  std::uint32_t offset = 0;  ///< shared: from the start of shared()
  Cta* owner = nullptr;      ///< shared: whose memory it is
};

/// A range of a CTA's shared memory.
struct SharedPlace {
  Cta* owner = nullptr;
  std::uint32_t offset = 0;
};

/// The shared memory that a lane names, its own CTA's or with `peers` that of another CTA of the cluster;
/// reports and stops if there is none, if the peer has not begun, or has ended.
[[nodiscard]] SharedPlace reach_shared(Warp& warp, std::uint32_t lane, std::uint64_t address,
                                       std::uint32_t bytes, bool peers, bool writes);

/// The initialised mbarrier at `address` that an asynchronous copy into `target`'s shared memory completes
/// on; it must lie there too.
[[nodiscard]] SharedPlace completion_barrier(Warp& warp, std::uint32_t lane, std::uint64_t address,
                                             bool peers, const Cta& target);

/// Resolves `bytes` at `address`, which must be a multiple of `alignment`; reports and stops if they are not
/// the kernel's to access.
[[nodiscard]] Target resolve(Warp& warp, std::uint32_t lane, Space space, std::uint64_t address,
                             std::uint32_t bytes, std::uint32_t alignment, bool writes, bool peers = false);

/// Shared memory through the generic proxy: checks the shadow of a range, and marks it written.
void check_shared_read(Warp& warp, std::uint32_t lane, const SharedPlace& at, std::uint32_t bytes);
void check_shared_write(Warp& warp, std::uint32_t lane, const SharedPlace& at, std::uint32_t bytes);

}  // namespace sim
TMAJIT_END
