#pragma once

/// The race detector of a cluster. It finds conflicting accesses without a happens-before edge, whatever the
/// order in which the simulator ran them (docs/sim.md, "Happens-before"). The rest of the simulator calls it
/// for each access and each synchronisation.
#include "sim/races/gather.hpp"
#include "sim/races/releases.hpp"
#include "sim/races/shadow.hpp"
#include "sim/warp/warp.hpp"

#include <string>

TMAJIT_BEGIN
namespace sim {

class Cluster;
class Cta;
struct Copy;

/// The part of a launch's state that all its clusters share.
struct LaunchOrder {
  explicit LaunchOrder(const std::vector<Region>& regions) : shadow(regions, slabs) {}

  Slabs slabs;
  GlobalShadow shadow;
  std::atomic<std::uint64_t> release_numbers = 0;
  Releases releases{release_numbers};
};

/// The scope and strength of a fence.
struct FenceKind {
  bool cta_scope = false;   ///< else the scope is wider
  bool sequential = false;  ///< fence.sc, membar
};

/// The memory access of an instruction.
struct WarpAccess {
  Memory memory = Memory::shared;
  std::uint32_t bytes = 0;  ///< bytes per lane
  bool write = false;
  Ordering ordering;
  bool same_value = false;  ///< every byte is written with the value that is in memory already
};

class Races {
 public:
  /// For a cluster whose CTAs exist already.
  Races(Cluster& cluster, const Launch& launch);

  /// Resets all state. Called when the cluster with this linear index in its grid begins.
  void start(std::uint32_t number);

  // Shared addresses are offsets in the concatenated shared memory of all CTAs of the cluster, as
  // Cta::in_cluster() returns them.

  /// Distance in bytes between the shared memory of consecutive CTAs, which have `bytes` each.
  [[nodiscard]] static constexpr std::uint32_t pitch(std::uint32_t bytes) noexcept {
    return (bytes + Block::bytes - 1) / Block::bytes * Block::bytes;
  }

  // Accesses of threads.

  /// Prefetches the shadow for an access of global memory.
  void prefetch(std::uint64_t at) noexcept { launch_.shadow.prefetch(at, region_hint_); }
  /// Checks and records an access by a full warp, in which lane i accesses address `at` + i · bytes.
  void access(const Warp& warp, const WarpAccess& access, std::uint64_t at);
  /// Checks and records an access in which lane i of `mask` accesses address at[i].
  void access(const Warp& warp, const WarpAccess& access, const std::array<std::uint64_t, lanes>& at,
              Mask mask);
  /// before() must be called before a strong access, after() after it: the lanes release in before() and
  /// acquire in after(). Other host threads run other CTAs meanwhile, so each release must be published
  /// before its value.
  void before(const Warp& warp, Mask mask, const WarpAccess& access,
              const std::array<std::uint64_t, lanes>& at);
  void after(const Warp& warp, Mask mask, const WarpAccess& access,
             const std::array<std::uint64_t, lanes>& at);
  void fence(const Warp& warp, Mask mask, FenceKind kind);

  /// Makes a warp's access to global memory and its access() one atomic step: while a Step exists, no other
  /// host thread can use the shadow of the lanes' addresses.
  class Step {
   public:
    Step(Races& races, const std::array<std::uint64_t, lanes>& at, Mask mask);
    ~Step();
    Step(const Step&) = delete;
    Step& operator=(const Step&) = delete;

   private:
    Races& races_;
    std::array<Block*, lanes> blocks_;  // NOLINT: only the first count_ are set
    std::size_t count_ = 0;
  };

  // Barriers and mbarriers: …_arrive() is called when lanes arrive, …_done() or …_phase() when all lanes have
  // arrived, …_pass() when the wait of lanes has ended.

  /// The lanes of `mask` have synchronised at a warp-wide instruction.
  void synchronise(const Warp& warp, Mask mask) {
    clocks_of(warp).synchronise(mask, warp.live);
    if (tracks_fence_sc_) share_seen(warp, mask);
  }
  void barrier_arrive(std::uint32_t id, const Warp& warp, Mask mask, bool waits);
  void barrier_pass(std::uint32_t id, const Warp& warp, Mask mask);
  void barrier_done(std::uint32_t id, const Cta& cta);

  // The cluster's barrier. A waiting thread has not arrived again, so its wait is for the last completed
  // phase.
  void cluster_arrive(const Warp& warp, Mask mask, bool releases);
  void cluster_phase() {
    cluster_completed_ = std::move(cluster_arriving_);
    cluster_arriving_ = {};
    completed_knowledge_ = std::move(arriving_knowledge_);
    arriving_knowledge_ = {};
  }
  void cluster_pass(const Warp& warp, Mask mask) {
    clocks_of(warp).acquire(mask, warp.live, cluster_completed_);
  }

  /// Called when all threads of the CTA have exited. Reports accesses by peers to its shared memory, and
  /// reads of it by copies to peers, that do not happen before the exit.
  void cta_exited(Cta& cta);

  // mbarriers.

  void mbarrier_init(const Warp& warp, std::uint32_t lane, std::uint32_t offset);
  /// A use of the mbarrier other than by init; `ends`: mbarrier.inval.
  void mbarrier_use(const Warp& warp, Mask mask, std::uint32_t offset, bool ends = false);
  void mbarrier_arrive(const Warp& warp, std::uint32_t lane, std::uint32_t offset, bool releases);
  void mbarrier_pass(const Warp& warp, Mask mask, std::uint32_t offset, bool acquires);
  void mbarrier_phase(std::uint32_t offset);
  /// Must be called after an instruction in which lanes have arrived at mbarriers.
  void arrived(const Warp& warp) { clocks_of(warp).tick(); }

  /// Whether the last write of 4 bytes of shared memory happens before the lane's present instruction.
  [[nodiscard]] bool follows_write(const Warp& warp, std::uint32_t lane, std::uint32_t offset);

  // Called when copies are issued. `quiet`: another rule has been reported already for the copy.

  /// A load into the shared memory of `target`. Returns false if the thread does not know that the previous
  /// phase of the copy's mbarrier is over: then the bytes may count for either phase.
  [[nodiscard]] bool load(const Copy& copy, const Warp& warp, std::uint32_t lane, const Cta& target,
                          bool quiet);
  void store(const Copy& copy, const Warp& warp, std::uint32_t lane, std::uint64_t group, bool quiet);
  /// Called when a lane writes memory that a bulk store has not read. If the mistake is a missing barrier
  /// after the wait for the store, reports it and returns true; else returns false.
  bool report_unsynchronised_write(const Warp& warp, std::uint32_t lane, std::uint32_t address,
                                   const Copy& store, std::uint64_t group);
  /// opposite_order() for the read by `store` and a write by the lane; nothing if the race detector does not
  /// know the store.
  [[nodiscard]] std::optional<Report> missing_barrier(const Warp& warp, std::uint32_t lane, const Copy& store,
                                                      std::uint64_t group);
  // wgmma products: a warp calls begin_product(), then product_read() for each read of shared memory.

  void begin_product(const Warp& warp, std::uint32_t lane) { begin_issue(warp, lane); }
  void product_read(const Warp& warp, std::uint32_t at, std::uint32_t bytes, std::uint64_t group, bool quiet);
  /// The lanes of `mask` execute fence.proxy.async.
  void fence_async(const Warp& warp, Mask mask);
  /// Whether the last write of 4 bytes of shared memory happens before the lane's last fence.proxy.async.
  [[nodiscard]] bool fenced(const Warp& warp, std::uint32_t lane, std::uint32_t offset);
  /// Whether the last write of 4 bytes precedes the last completed phase of the cluster's barrier, even if
  /// its arrivals were relaxed.
  [[nodiscard]] bool write_precedes_cluster_phase(std::uint32_t offset) {
    return knows_write(completed_knowledge_, offset);
  }
  /// `warp` learns that the products that `other` has issued in groups below `group` are done.
  void wait_products(const Warp& warp, const Warp& other, std::uint64_t group);

  /// A thread of `cta` learns that its bulk stores in groups below `group` have read their source, and unless
  /// `read_only` have written their destination.
  void wait_group(const Cta& cta, std::uint32_t thread, std::uint64_t group, bool read_only);

  /// griddepcontrol.wait: the launches that this one may overlap have ended (races/flights.cpp).
  void wait_for_flights(const Warp& warp, Mask mask);

 private:
  /// The edges of an mbarrier. Its loads are an agent whose time is the phase.
  struct Phases {
    Agent agent = 0;
    std::uint32_t time = 1;   ///< time of the loads of the current phase
    std::uint32_t first = 1;  ///< time of the loads of the first phase
    Clock arriving;           ///< knowledge of the threads that have arrived in the current phase
    Clock completed;          ///< knowledge of the threads that arrived in earlier phases
  };
  /// The agents of a thread's bulk stores. Their time is 1 + the number of the bulk group.
  struct StoreAgents {
    Agent reads = 0;   ///< of shared memory
    Agent writes = 0;  ///< of global memory
    std::vector<std::uint32_t>
        issued;  ///< by group: the warp's last time before it issued the group's first copy
  };
  /// The agent of a warp's wgmma products. Its time is 1 + the number of the wgmma group.
  struct ProductAgent {
    Agent agent = 0;
    std::vector<std::uint32_t> issued;  ///< by group, as in StoreAgents
  };
  /// The last fence of a lane: the knowledge that relaxed accesses after it publish.
  struct Fenced {
    std::shared_ptr<const Clock> clock;  ///< the lane's clock at the fence; null: no fence
    std::uint32_t time = 0;              ///< the warp's time at the fence
    bool sequential = false;             ///< fence.sc
    friend bool operator==(const Fenced&, const Fenced&) = default;
  };
  /// A release that a relaxed read has seen. It is acquired only by a later fence.
  struct Pending {
    const Release* release;
    bool cta_scope;  ///< scope of the read
    friend bool operator==(const Pending&, const Pending&) = default;
  };
  /// The state of a lane that its fences act on.
  struct LaneFences {
    Fenced cta_scope;           ///< the last fence of any scope
    Fenced wider_scope;         ///< the last fence with a scope wider than the CTA
    std::vector<Pending> seen;  ///< releases seen by relaxed reads; a fence acquires them
    Clock waited;               ///< knowledge of relaxed waits for mbarriers; a fence acquires it
    /// Address at which the last relaxed access since the fence published; ~0: none.
    std::uint64_t published_at = ~0ULL;
    /// Knowledge of other threads at their fence.sc, after which they have synchronised with this thread at a
    /// barrier. Relaxed accesses of this thread publish it, too.
    std::shared_ptr<const Clock> fenced_by_others;
    bool fenced_since_barrier = false;  ///< has executed a fence.sc since the last barrier
    /// Releases that other threads have seen before they synchronised with this thread at a barrier. A
    /// fence.sc acquires them.
    std::vector<Pending> seen_by_others;
  };
  /// The part of LaneFences that a fence acquires: lanes with equal parts acquire together.
  struct AcquiredPart {
    const LaneFences* lane;
    friend bool operator==(const AcquiredPart& a, const AcquiredPart& b) {
      return a.lane == b.lane ||
             (a.lane->seen == b.lane->seen && a.lane->seen_by_others == b.lane->seen_by_others &&
              a.lane->waited.empty() && b.lane->waited.empty());
    }
  };
  /// The part of LaneFences that a relaxed access publishes: lanes with equal parts publish together.
  struct PublishedPart {
    const LaneFences* lane;
    friend bool operator==(const PublishedPart& a, const PublishedPart& b) {
      return a.lane->cta_scope == b.lane->cta_scope && a.lane->wider_scope == b.lane->wider_scope &&
             a.lane->fenced_by_others == b.lane->fenced_by_others;
    }
  };

  [[nodiscard]] Agent agent_of(const Warp& warp) const noexcept;
  [[nodiscard]] Knowledge& clocks_of(const Warp& warp) noexcept { return warps_[agent_of(warp)]; }
  [[nodiscard]] const Knowledge& clocks_of(const Warp& warp) const noexcept { return warps_[agent_of(warp)]; }
  /// The number of a thread in the cluster.
  [[nodiscard]] std::uint32_t number_of(const Warp& warp, std::uint32_t lane) const noexcept {
    return agent_of(warp) * lanes + lane;
  }
  [[nodiscard]] Clock& barrier(std::uint32_t id, const Cta& cta) noexcept;
  /// Facts that threads learn at a CTA barrier about each other's fence.sc (comment in order.cpp).
  struct FenceFacts {
    std::vector<Pending> seen;  ///< becomes LaneFences::seen_by_others
    Clock fenced;               ///< becomes LaneFences::fenced_by_others
    bool has_fenced = false;    ///< some thread has executed a fence.sc since its last barrier
  };
  /// Adds to `target` the lanes' knowledge at a fence.sc that they have executed since the last barrier.
  void collect_fenced(const Warp& warp, Mask mask, FenceFacts& target);
  /// Adds to `target` the releases by a fence.sc in LaneFences::seen and LaneFences::seen_by_others of the
  /// lanes.
  void collect_seen(const Warp& warp, Mask mask, std::vector<Pending>& target) const;
  /// Sets LaneFences::seen_by_others of the lanes.
  void set_seen_by_others(const Warp& warp, Mask mask, const std::vector<Pending>& releases);
  /// The lanes of `mask` have synchronised: each gets the releases that collect_seen() finds for any of them.
  void share_seen(const Warp& warp, Mask mask);
  /// Joins into `target` what the lane's last fences release.
  void release_fenced(const Warp& warp, std::uint32_t lane, Clock& target);
  /// Joins LaneFences::waited of the lanes into `target`.
  void add_waited(const Warp& warp, Mask mask, Clock& target) const;
  /// Whether the clock includes the last write of 4 bytes of shared memory.
  [[nodiscard]] bool knows_write(const Clock& known, std::uint32_t offset);
  [[nodiscard]] Agent new_agent() noexcept { return next_agent_++; }
  [[nodiscard]] Phases& phases(std::uint32_t offset);
  [[nodiscard]] Touch touch_of(const Warp& warp, Mask mask, const WarpAccess& access);
  [[nodiscard]] Touch copy_touch(const Copy& copy, Memory memory, Agent agent, std::uint32_t time, bool write,
                                 bool quiet);

  /// Calls use(block, line in the block) for an address, with the block locked if the memory is global.
  template <typename Use>
  auto with_block(Memory memory, std::uint64_t at, const Use& use);
  void prefetch_pieces(const Gather& gather);
  // An access is checked against earlier accesses, and then recorded.

  /// Checks and records a piece; reports a conflict.
  void record(std::uint64_t line, const Piece& piece, const Touch& touch);
  [[nodiscard]] std::optional<Conflict> check(std::uint64_t line, const Piece& piece, const Touch& touch);
  void add(std::uint64_t line, const Piece& piece, const Touch& touch);
  /// Checks and records the access `now` to some bytes of a line.
  void record_bytes(std::uint64_t line, ByteMask bytes, const Access& now, const Touch& touch);
  /// record_range() checks and records an access to the bytes [at, end), record_lines() to the lines [line,
  /// end). `first` is Access::first in the first line; it grows by `step` from line to line.
  void record_range(std::uint64_t at, std::uint64_t end, const Touch& touch, int first, int step);
  void record_lines(std::uint64_t line, std::uint64_t end, const Touch& touch, int first, int step);
  /// Sets issue_ to the knowledge of the lane, which issues a copy or a product.
  void begin_issue(const Warp& warp, std::uint32_t lane);
  /// Checks and records the accesses of a copy in the shared memory of `cta` and in global memory.
  void record_copy(const Copy& copy, const Cta& cta, const Touch& in_shared, const Touch& in_global);
  void record_global(std::uint64_t at, std::uint64_t bytes, const Touch& touch);
  /// The lanes acquire a release. Lanes that acquire together are one agent of the imports.
  void acquire(const Warp& warp, Mask mask, const Release& release, bool cta_scope);
  void publish_fenced(const Warp& warp, Mask mask, const WarpAccess& access, std::uint64_t at);
  void publish(Releases& where, std::uint64_t at, Clock clock, std::uint32_t rank, bool cta_scope,
               bool sequential = false);
  /// Describes an access for a report about the CTA with rank `rank`; names the CTA only if the access is by
  /// another.
  [[nodiscard]] std::string describe(const Access& access, std::uint32_t lane, bool write, Memory memory,
                                     std::uint32_t rank) const;

  // Flights are earlier launches that may still run on a GPU (launch/flights.hpp).

  /// Checks an access of a lane or a copy against the accesses of flights. flights_ must not be null.
  void check_flights(std::uint64_t at, std::uint64_t bytes, std::uint32_t lane, const Touch& touch);
  /// If a flight has made a release at the address, the lanes count as ordered after all flights.
  void acquire_of_flights(const Warp& warp, Mask mask, std::uint64_t at);
  void report_flight(const Flight& flight, const Conflict& conflict, const Touch& touch, std::uint64_t line);
  void report(const Conflict& conflict, const Touch& touch, std::uint64_t line);
  // The functions from here to is_peer_copy_read() find the mistake behind a conflict: races/causes.cpp.

  /// StoreAgents::issued or ProductAgent::issued of the agent that made an access; null for any other agent.
  [[nodiscard]] const std::vector<std::uint32_t>* issued_by(const Access& access) const;
  /// Whether a thread with the clock `known` has synchronised with the thread that issued a store or a
  /// product, after the issue.
  [[nodiscard]] bool synchronised_since_issue(const Access& earlier, const Clock& known) const;
  /// About::cause of two accesses: names the segments (runs of instructions between waits or barriers) that
  /// contain them.
  [[nodiscard]] std::string cause_of(const Conflict& conflict, const Touch& touch) const;
  /// For an access by a load: the rank of the CTA and the offset of the mbarrier on which the load completes.
  [[nodiscard]] std::optional<std::pair<std::uint32_t, std::uint32_t>> load_of(const Access& access) const;
  /// Reports the mistake behind a conflict; returns false if it finds none. `where`: "shared memory at
  /// 0x400".
  bool report_cause(const Conflict& conflict, const Touch& touch, check::RuleId rule,
                    const std::string& where);
  /// For a write after a conflicting read: the report to use if the write should have come first
  /// (About::replacement).
  [[nodiscard]] std::optional<Report> opposite_order(const Conflict& conflict, const Touch& touch);
  /// The read by a bulk store as the earlier access, and a write by the lane as the later one.
  [[nodiscard]] std::optional<std::pair<Conflict, Touch>> conflict_with_store(const Warp& warp,
                                                                              std::uint32_t lane,
                                                                              const Copy& store,
                                                                              std::uint64_t group);
  void report_unsynchronised_write(const Conflict& conflict, const Touch& touch, const std::string& where);
  /// If a bulk store conflicts with a write by a thread that is an iteration ahead, returns the same conflict
  /// with the two accesses exchanged, so that the write comes after the store's read. Returns nothing in any
  /// other case.
  [[nodiscard]] std::optional<std::pair<Conflict, Touch>> as_next_iteration(const Conflict& conflict,
                                                                            const Touch& touch,
                                                                            std::uint64_t line);
  /// Whether the mistake is a missing barrier, not a missing wait, if a lane with the clock `writer`
  /// overwrites memory before a bulk store's `read`: the lane has not synchronised with the store's issuer
  /// since the issue, or the issuer waits for the store before its next barrier.
  [[nodiscard]] bool lacks_barrier(const Access& read, const Clock& writer) const;
  /// Whether the earlier access is a read by a copy to a peer.
  [[nodiscard]] bool is_peer_copy_read(const Conflict& conflict) const;
  /// Reports an access by a peer, or by a copy to a peer, that is not ordered before the end of the CTA.
  void report_after_exit(const Conflict& conflict, Cta& cta);

  Cluster& cluster_;
  LaunchOrder& launch_;
  std::uint32_t number_ = 0;  ///< number of the cluster in its grid
  std::uint32_t warps_each_;  ///< warps of a CTA
  std::uint32_t pitch_;
  std::vector<Knowledge> warps_;  ///< by agent
  std::deque<Block> shared_;      ///< shadow of the shared memory of all CTAs
  std::size_t region_hint_ = 0;
  bool in_step_ = false;  ///< a Step holds the locks of the blocks
  GatherPatterns patterns_;
  std::vector<Clock> barriers_;   ///< knowledge of the threads that have arrived; 16 barriers per CTA
  bool tracks_fence_sc_ = false;  ///< a thread has executed a fence.sc, or has seen a release by one
  /// By CTA barrier: the facts from the threads that have arrived.
  std::unordered_map<std::uint32_t, FenceFacts> fence_facts_;
  // The cluster's barrier: knowledge of arrivals in the current phase, and in the last completed one.
  Clock cluster_arriving_;     ///< what arrivals release
  Clock cluster_completed_;    ///< what waits acquire
  Clock arriving_knowledge_;   ///< all knowledge of arriving threads, even if they arrive relaxed
  Clock completed_knowledge_;  ///< arriving_knowledge_ of the last completed phase
  std::unordered_map<std::uint32_t, Phases> phases_;       ///< by offset of the mbarrier
  std::unordered_map<std::uint32_t, StoreAgents> stores_;  ///< by thread
  std::unordered_map<Agent, ProductAgent> products_;       ///< by warp
  /// A fence.proxy.async.
  struct AsyncFence {
    Mask last_of = 0;  ///< lanes that have not executed a later one
    Clock known;       ///< the lanes' knowledge at the fence
  };
  std::unordered_map<Agent, std::vector<AsyncFence>> async_fences_;  ///< by warp
  std::unordered_map<std::uint64_t, Agent> import_agents_;           ///< by warp and mask of lanes
  std::unordered_map<std::uint32_t, LaneFences> fences_;             ///< by thread
  Imports imports_;
  Releases shared_releases_{launch_.release_numbers};
  const Flights* flights_ = nullptr;  ///< null: there are none
  Agent flights_agent_ = 0;           ///< a thread that knows its time 1 is ordered after all flights
  Clock issue_;                       ///< knowledge of the thread that is issuing a copy
  Agent next_agent_ = 0;
};

}  // namespace sim
TMAJIT_END
