#pragma once

/// A cluster: CTAs that are scheduled together, reach each other's shared memory, and meet at one barrier
/// (PTX ISA 2.2.2, 9.7.13.3). A CTA launched without a cluster is a cluster of one.
#include "sim/cta.hpp"

#include <memory>
#include <vector>

TMAJIT_BEGIN
namespace sim {

/// A shared::cluster address names its CTA in the bits from here on: rank + 1, or 0 for the CTA that uses it.
inline constexpr std::uint32_t rank_shift = 24;
[[nodiscard]] constexpr std::uint64_t map_to_rank(std::uint64_t address, std::uint32_t rank) noexcept {
  constexpr std::uint64_t rank_bits = 0xffULL << rank_shift;
  return (address & ~rank_bits) | std::uint64_t{rank + 1} << rank_shift;
}

/// The barrier of barrier.cluster. A thread arrives, then waits, before it arrives again.
struct ClusterBarrier {
  std::uint64_t phase = 0;
  std::uint32_t arrived = 0;  ///< threads, of those that have not exited
};

class Cluster {
 public:
  explicit Cluster(Launch& launch);

  /// Runs one cluster from its first to its last instruction, on the calling thread.
  void run(std::array<std::uint32_t, 3> clusterid);

  [[nodiscard]] std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(ctas_.size()); }
  [[nodiscard]] Cta& cta(std::uint32_t rank) noexcept { return *ctas_[rank]; }
  [[nodiscard]] const ClusterBarrier& barrier() const noexcept { return barrier_; }
  [[nodiscard]] std::uint32_t live_threads() const noexcept;

  /// barrier.cluster.arrive by the lanes of `mask`, and what completes when threads have exited.
  void arrive(Warp& warp, Mask mask);
  void threads_exited(Warp& warp, Mask mask);

  /// Lets other threads go first where lanes of `mask` are about to reach into a peer: as late as a thread
  /// may be. True if they are parked, to execute the instruction again.
  [[nodiscard]] bool hold(Warp& warp, const MemoryAccess& access, Mask mask);

 private:
  [[nodiscard]] std::uint64_t changes() const noexcept;
  [[nodiscard]] bool turn(std::uint64_t round);
  [[nodiscard]] bool deliver();
  [[nodiscard]] bool release_held();
  [[nodiscard]] bool time_out();
  void complete_barrier();
  [[noreturn]] void report_deadlock();

  Launch& launch_;
  std::vector<std::unique_ptr<Cta>> ctas_;  ///< by rank
  std::vector<Cta*> order_;                 ///< in which they take turns
  ClusterBarrier barrier_;
  bool ascending_ = true;
  std::uint64_t changes_at_time_out_ = ~0ULL;
};

}  // namespace sim
TMAJIT_END
