#include "sim/cluster.hpp"
#include "sim/memory_access.hpp"

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace sim {
namespace {

/// The CTA whose shared memory an address outside the lane's own names.
Cta& peer_of(Warp& warp, std::uint32_t lane, std::uint64_t address, bool peers, bool writes) {
  Cta& cta = *warp.cta;
  Cluster& cluster = cta.cluster;
  const auto named = static_cast<std::uint32_t>(address >> rank_shift) - 1;
  if (named >= cluster.size()) {
    cta.fail(warp, lane, "shared.cluster-rank",
             fmt::format("shared address {:#x} is of the CTA with rank {} of the cluster", address, named),
             fmt::format("a rank below %cluster_nctarank, which is {}", cluster.size()),
             "check the rank that mapa was given, and the cluster's dimensions of the launch");
  }
  if (!peers) {
    cta.fail(warp, lane, "shared.cluster-rank",
             fmt::format("shared address {:#x} is of the CTA with rank {}, not of the thread's own, {}",
                         address, named, cta.rank),
             "an address in the thread's own CTA for a .shared::cta access",
             "use the .shared::cluster form, or the address before mapa");
  }
  Cta& peer = cluster.cta(named);
  if (!peer.started) {
    cta.fail(warp, lane, "shared.peer-not-started",
             fmt::format("an access to shared memory of the CTA with rank {}, which has not begun", named),
             "barrier.cluster.arrive and wait by all threads of the cluster before the first such access",
             "synchronise the cluster when the kernel begins, after mbarrier.init");
  }
  if (peer.ended) {
    cta.fail(warp, lane, writes ? "exit.peer-writes" : "exit.peer-reads",
             fmt::format("{} shared memory of the CTA with rank {}, which has exited",
                         writes ? "a write to" : "a read of", named),
             "a CTA that lives as long as others access its shared memory",
             "synchronise the cluster (barrier.cluster) before its CTAs exit");
  }
  return peer;
}

}  // namespace

SharedPlace reach_shared(Warp& warp, std::uint32_t lane, std::uint64_t address, std::uint32_t bytes,
                         bool peers, bool writes) {
  Cta& cta = *warp.cta;
  if (const auto offset = cta.shared_offset(address, bytes)) return {&cta, *offset};
  Cta* owner = &cta;
  if (cta.is_peer_address(address, Space::shared)) {
    if (address >= shared_window) address -= shared_window;
    owner = &peer_of(warp, lane, address, peers, writes);
    // The peer knows the address as its own.
    if (const auto offset = owner->shared_offset(address, bytes)) return {owner, *offset};
  }
  cta.fail(warp, lane, "shared.out-of-bounds",
           fmt::format("{} {} bytes at {:#x}: the CTA has {} bytes from {:#x}",
                       writes ? "a store to shared memory of" : "a load from shared memory of", bytes,
                       address, owner->shared_bytes(), shared_base),
           "an address inside the memory that the launch has", "check the index against the size");
}

SharedPlace completion_barrier(Warp& warp, std::uint32_t lane, std::uint64_t address, bool peers,
                               const Cta& target) {
  Cta& cta = *warp.cta;
  const auto own = cta.shared_offset(address, 8);
  SharedPlace at{&cta, own.value_or(0)};
  const bool peer = !own && cta.is_peer_address(address, Space::shared);
  if (peer) at = reach_shared(warp, lane, address, 8, peers, true);
  if ((!own && !peer) || address % 8 != 0 || at.owner->mbarrier(at.offset) == nullptr) {
    cta.fail(warp, lane, "mbarrier.uninitialised",
             fmt::format("a load completes on shared address {:#x}, where no mbarrier is", address),
             "an initialised mbarrier", "mbarrier.init, fence and synchronise before the load is issued");
  }
  if (at.owner != &target) {
    cta.fail(warp, lane, "mbarrier.other-cta",
             fmt::format("a copy into the shared memory of the CTA with rank {} completes on an mbarrier of "
                         "that with rank {}",
                         target.rank, at.owner->rank),
             "an mbarrier in the CTA that the bytes go to", "map both addresses to the same rank");
  }
  return at;
}

}  // namespace sim
TMAJIT_END
