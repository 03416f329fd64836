#include "sim/causes/causes.hpp"

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace sim {
namespace {

/// The CTA that a shared address outside the lane's own CTA names.
Cta& peer_of(Warp& warp, std::uint32_t lane, std::uint64_t address, bool peers, bool writes) {
  Cta& cta = *warp.cta;
  Cluster& cluster = cta.cluster;
  const auto peer_rank = static_cast<std::uint32_t>(address >> rank_shift) - 1;
  if (peer_rank >= cluster.size()) {
    warp.fail(
        lane, "shared.cluster-rank",
        fmt::format("shared address {:#x} is of the CTA with rank {} of the cluster", address, peer_rank),
        fmt::format("a rank below %cluster_nctarank, which is {}", cluster.size()));
  }
  if (!peers) {
    warp.fail(lane, "shared.cluster-rank",
              fmt::format("shared address {:#x} is of the CTA with rank {}, not of the thread's own, {}",
                          address, peer_rank, cta.rank),
              "an address in the thread's own CTA for a .shared::cta access",
              "use the .shared::cluster form, or the address before mapa");
  }
  Cta& peer = cluster.cta(peer_rank);
  if (!peer.started) {
    warp.fail(
        lane, "shared.peer-not-started",
        fmt::format("an access to shared memory of the CTA with rank {}, which has not begun", peer_rank));
  }
  if (peer.ended) {
    warp.fail(lane, writes ? check::RuleId("exit.peer-writes") : check::RuleId("exit.peer-reads"),
              fmt::format("{} shared memory of the CTA with rank {}, which has exited",
                          writes ? "a write to" : "a read of", peer_rank));
  }
  return peer;
}

}  // namespace

SharedAddress reach_shared(Warp& warp, std::uint32_t lane, std::uint64_t address, std::uint32_t bytes,
                           bool peers, bool writes) {
  Cta& cta = *warp.cta;
  if (const auto offset = cta.shared_offset(address, bytes)) return {&cta, *offset};
  Cta* owner = &cta;
  if (cta.is_peer_address(address, Space::shared)) {
    if (address >= shared_window) address -= shared_window;
    owner = &peer_of(warp, lane, address, peers, writes);
    // shared_offset() of the owner accepts an address with the owner's rank.
    if (const auto offset = owner->shared_offset(address, bytes)) return {owner, *offset};
  }
  warp.fail(lane, "shared.out-of-bounds",
            fmt::format("{} {} bytes at {:#x}: the CTA has {} bytes from {:#x}",
                        writes ? "a store to shared memory of" : "a load from shared memory of", bytes,
                        address, owner->shared_bytes(), shared_base));
}

SharedAddress completion_barrier(Warp& warp, std::uint32_t lane, std::uint64_t address, bool peers,
                                 const Cta& target) {
  const bool named = warp.cta->names_shared(address, 8);
  const SharedAddress at = named ? reach_shared(warp, lane, address, 8, peers, true) : SharedAddress{};
  if (!named || address % 8 != 0 || at.owner->mbarrier(at.offset) == nullptr) {
    warp.fail(lane, "mbarrier.uninitialised",
              fmt::format("a load completes on shared address {:#x}, which holds no mbarrier", address));
  }
  if (at.owner != &target) {
    warp.fail(lane, "mbarrier.other-cta",
              fmt::format("a copy into the shared memory of the CTA with rank {} completes on an mbarrier of "
                          "that with rank {}",
                          target.rank, at.owner->rank));
  }
  return at;
}

Target resolve(Warp& warp, std::uint32_t lane, Space space, std::uint64_t address, std::uint32_t bytes,
               std::uint32_t alignment, bool writes, bool peers) {
  Cta& cta = *warp.cta;
  if (space == Space::generic) space = take_space(address);
  if (address % alignment != 0) {
    warp.fail(lane, "address.misaligned", fmt::format("an access of {} bytes at {:#x}", bytes, address),
              fmt::format("an address that is a multiple of {}", alignment));
  }
  const auto in_bank = [&](std::byte* bank, std::uint64_t size) {
    if (address > size || bytes > size - address) {
      warp.fail(
          lane, "bank.out-of-bounds",
          fmt::format("an access of {} bytes at {:#x}: the parameter, constant or local memory has {} bytes",
                      bytes, address, size));
    }
    return Target{bank + address, false, 0, nullptr, false};
  };
  switch (space) {
    case Space::shared: {
      const SharedAddress at = reach_shared(warp, lane, address, bytes, peers, writes);
      return {at.owner->shared() + at.offset, true, at.offset, at.owner, false};
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
        warp.fail(
            lane, cta.unmapped_rule(address),
            fmt::format("{} global memory of {} bytes at {:#x}: {}", writes ? "a store to" : "a load from",
                        bytes, address, cta.describe_global(address, bytes)));
      }
      return {memory, false, 0, nullptr, true};
    }
  }
  warp.fail(lane, "address.read-only", fmt::format("a store of {} bytes at {:#x}", bytes, address));
}

Target resolve_or_zeros(Warp& warp, std::uint32_t lane, Space space, std::uint64_t address,
                        std::uint32_t bytes, std::uint32_t alignment, bool writes, bool peers) {
  try {
    return resolve(warp, lane, space, address, bytes, alignment, writes, peers);
  } catch (const Skip&) {
    warp.cta->scratch.fill(std::byte{0});
    return {warp.cta->scratch.data(), false, 0, nullptr, false};
  }
}

bool check_shadow(Warp& warp, std::uint32_t lane, const Target& at, std::uint32_t bytes, bool writes,
                  bool* maybe_undefined) {
  if (!at.shared) return true;
  Cta& cta = *at.owner;
  std::uint8_t* const shadow = cta.shadow() + at.offset;
  std::uint8_t all = 0xff;
  std::uint8_t any = 0;
  for (std::uint32_t i = 0; i < bytes; ++i) {
    all &= shadow[i];
    any |= shadow[i];
  }
  if (writes) {
    ++cta.changes;
    for (std::uint32_t i = 0; i < bytes; ++i)
      shadow[i] = static_cast<std::uint8_t>((shadow[i] & ~undefined) | initialised);
    // A tag names a thread of the CTA that owns the memory, so a write by a peer has no tag.
    const std::uint32_t tag = at.owner == warp.cta ? cta.thread_tag(warp.thread(lane)) : 0;
    for (std::uint32_t i = at.offset / 4; i <= (at.offset + bytes - 1) / 4; ++i) cta.writers()[i] = tag;
    if (tag == 0) cta.set_loaded(at.offset, bytes, {});
  }
  if (maybe_undefined != nullptr) *maybe_undefined = (all & initialised) == 0 || (any & undefined) != 0;
  const std::uint8_t wrong = any & (in_mbarrier | loading | (writes ? storing : 0));
  if (wrong == 0 && (writes || (all & initialised) != 0)) [[likely]]
    return true;
  if (wrong == 0 && maybe_undefined != nullptr) return false;
  const auto report_misuse = [&](check::RuleId rule, std::string_view what, std::string_view why = {},
                                 Shadow conflict = initialised) {
    if (cta.launch.reports.count_repeat(rule->id, warp.program->locations[warp.location()].line))
      return false;
    Copy access;
    access.shared = at.offset;
    access.bytes = bytes;
    const auto copy =
        conflict == initialised ? Engine::InFlight{} : cta.engine.find_in_flight(access, conflict);
    if (conflict == loading && report_read_early(warp, lane, cta, copy, rule)) return false;
    if (copy.store != nullptr && warp.cta->races != nullptr &&
        warp.cta->races->report_unsynchronised_write(warp, lane, at.offset + shared_base, *copy.store,
                                                     copy.group))
      return false;
    About about(copy.location);
    if (conflict == initialised)
      about.cause = fmt::format("in segment {}", warp.program->locations[warp.location()].segment);
    if (copy.store != nullptr && warp.cta->races != nullptr)
      about.replacement = warp.cta->races->missing_barrier(warp, lane, *copy.store, copy.group);
    warp.cta->report(warp.thread(lane), warp.location(), rule,
                     fmt::format("{} at {:#x}{}{}", what, at.offset + shared_base, why, copy.text), {}, {},
                     std::move(about));
    return false;
  };
  const std::string_view access = writes ? "a store to shared memory" : "a load of shared memory";
  if ((any & in_mbarrier) != 0) {
    return report_misuse("mbarrier.plain-access",
                         writes ? "a plain store onto the mbarrier" : "a plain load of the mbarrier");
  }
  if ((any & loading) != 0) {
    return writes ? report_misuse("shared.in-flight-write", access,
                                  " that an asynchronous load in flight writes too", loading)
                  : report_misuse("shared.in-flight-read", access,
                                  " that an asynchronous load has not delivered yet", loading);
  }
  return writes ? report_misuse("shared.overwritten-before-store-read", access,
                                " that a bulk store has not read yet", storing)
                : report_misuse("shared.uninitialised", access, " that no thread or copy has written");
}

}  // namespace sim
TMAJIT_END
