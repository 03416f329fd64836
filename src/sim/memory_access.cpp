#include "sim/memory_access.hpp"

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace sim {
namespace {

/// The bank that a generic address lies in; the address becomes one of that space.
Space space_of(std::uint64_t& address) {
  const auto in = [&](std::uint64_t window) {
    if (address < window || address >= window + window_bytes) return false;
    address -= window;
    return true;
  };
  if (in(shared_window)) return Space::shared;
  if (in(local_window)) return Space::local;
  if (in(param_window)) return Space::param;
  if (in(constant_window)) return Space::constant;
  return Space::global;
}

[[noreturn]] void out_of_bounds(Warp& warp, std::uint32_t lane, std::string_view rule, std::string_view what,
                                std::uint64_t address, std::uint32_t bytes, const std::string& detail) {
  warp.cta->fail(warp, lane, rule, fmt::format("{} of {} bytes at {:#x}: {}", what, bytes, address, detail),
                 "an address inside the memory that the launch has", "check the index against the size");
}

}  // namespace

Target resolve(Warp& warp, std::uint32_t lane, Space space, std::uint64_t address, std::uint32_t bytes,
               std::uint32_t alignment, bool writes, bool peers) {
  Cta& cta = *warp.cta;
  if (space == Space::generic) space = space_of(address);
  if (address % alignment != 0) {
    cta.fail(warp, lane, "address.misaligned", fmt::format("an access of {} bytes at {:#x}", bytes, address),
             fmt::format("an address that is a multiple of {}", alignment),
             "check the base's alignment and the index");
  }
  const auto in_bank = [&](std::byte* bank, std::uint64_t size) {
    if (address > size || bytes > size - address) {
      out_of_bounds(warp, lane, "bank.out-of-bounds", "an access", address, bytes,
                    fmt::format("the parameter, constant or local memory has {} bytes", size));
    }
    return Target{bank + address, false, 0, nullptr};
  };
  switch (space) {
    case Space::shared: {
      const SharedPlace at = reach_shared(warp, lane, address, bytes, peers, writes);
      return {at.owner->shared() + at.offset, true, at.offset, at.owner};
    }
    case Space::local:
      return in_bank(warp.local + std::size_t{lane} * cta.program.local_bytes, cta.program.local_bytes);
    case Space::param:
      if (writes) break;
      return in_bank(cta.launch.parameters.data(), cta.launch.parameters.size());
    case Space::constant:
      if (writes) break;
      return in_bank(const_cast<std::byte*>(cta.program.constant_bank.data()),
                     cta.program.constant_bank.size());
    default: {
      std::byte* const memory = cta.global(address, bytes);
      if (memory == nullptr) {
        out_of_bounds(warp, lane, "global.out-of-bounds",
                      writes ? "a store to global memory" : "a load from global memory", address, bytes,
                      cta.describe_global(address, bytes));
      }
      return {memory, false, 0, nullptr};
    }
  }
  cta.fail(warp, lane, "address.read-only", fmt::format("a store of {} bytes at {:#x}", bytes, address),
           "a store to memory that can be written", "parameters and constants are read-only");
}

void check_shared_read(Warp& warp, std::uint32_t lane, const SharedPlace& at, std::uint32_t bytes) {
  Cta& cta = *at.owner;
  const std::uint32_t offset = at.offset;
  std::uint8_t all = 0xff;
  std::uint8_t any = 0;
  for (std::uint32_t i = 0; i < bytes; ++i) {
    all &= cta.shadow()[offset + i];
    any |= cta.shadow()[offset + i];
  }
  if ((any & (in_mbarrier | loading)) == 0 && (all & initialised) != 0) [[likely]]
    return;
  const std::uint32_t address = offset + shared_base;
  if ((any & in_mbarrier) != 0) {
    warp.cta->report(
        warp, lane, "mbarrier.plain-access", fmt::format("a plain load of the mbarrier at {:#x}", address),
        "mbarrier instructions only", "an mbarrier is opaque: mbarrier.inval makes it memory again");
  } else if ((any & loading) != 0) {
    warp.cta->report(
        warp, lane, "shared.in-flight-read",
        fmt::format("a load of shared memory at {:#x} that an asynchronous load has not delivered yet",
                    address),
        "a wait on the load's mbarrier, of the phase the load completes, before its bytes are read",
        "wait with the parity of that phase; check that all readers wait, and that the stage is not loaded "
        "again before they have read");
  } else {
    warp.cta->report(warp, lane, "shared.uninitialised",
                     fmt::format("a load of shared memory at {:#x} that nobody has written", address),
                     "a write, or a delivered asynchronous load, before the read",
                     "check the address, and the barrier between writer and reader");
  }
}

void check_shared_write(Warp& warp, std::uint32_t lane, const SharedPlace& at, std::uint32_t bytes) {
  Cta& cta = *at.owner;
  const std::uint32_t offset = at.offset;
  ++cta.changes;
  std::uint8_t any = 0;
  for (std::uint32_t i = 0; i < bytes; ++i) {
    any |= cta.shadow()[offset + i];
    cta.shadow()[offset + i] |= initialised;
  }
  // Tags are of the CTA's own threads.
  const std::uint32_t tag = at.owner == warp.cta ? cta.thread_tag(warp.index * lanes + lane) : 0;
  for (std::uint32_t i = offset / 4; i <= (offset + bytes - 1) / 4; ++i) cta.writers()[i] = tag;
  if ((any & (in_mbarrier | loading | storing)) == 0) [[likely]]
    return;
  const std::uint32_t address = offset + shared_base;
  if ((any & in_mbarrier) != 0) {
    warp.cta->report(warp, lane, "mbarrier.plain-access",
                     fmt::format("a plain store onto the mbarrier at {:#x}", address),
                     "mbarrier instructions only", "move the data, or mbarrier.inval the barrier first");
  } else if ((any & loading) != 0) {
    warp.cta->report(
        warp, lane, "shared.in-flight-write",
        fmt::format("a store to shared memory at {:#x} that an asynchronous load in flight writes too",
                    address),
        "a wait on the load's mbarrier before the store", "wait for the load, or use another stage");
  } else {
    warp.cta->report(
        warp, lane, "shared.overwritten-before-store-read",
        fmt::format("a store to shared memory at {:#x} that a bulk store has not read yet", address),
        "cp.async.bulk.wait_group.read by the thread that issued the bulk store, then a barrier, before its "
        "source is written again",
        "wait for the group that used this stage last; check the group count for an off-by-one, and that all "
        "writers are behind the barrier");
  }
}

}  // namespace sim
TMAJIT_END
