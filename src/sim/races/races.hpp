#pragma once

/// Happens-before in a cluster: finds accesses that no edge orders, whatever order the simulator ran them in
/// (docs/sim.md, "Happens-before"). The rest of the simulator tells this class what threads and copies do.
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
  bool cta_scope = false;   ///< at CTA scope
  bool sequential = false;  ///< fence.sc, membar
};

/// An access of a warp's instruction.
struct WarpAccess {
  Memory memory = Memory::shared;
  std::uint32_t bytes = 0;  ///< bytes per lane
  bool write = false;
  Ordering ordering;
  bool repeats = false;  ///< a write of the value that is in memory already, in every byte
};

class Races {
 public:
  /// For a cluster whose CTAs exist already.
  Races(Cluster& cluster, const Launch& launch);

  /// The cluster with this number in its grid has begun.
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
  /// An access by a full warp, lane i at `at` + i · bytes.
  void access(const Warp& warp, const WarpAccess& access, std::uint64_t at);
  void access(const Warp& warp, const WarpAccess& access, const std::array<std::uint64_t, lanes>& at,
              Mask mask);
  /// Called before and after a strong access: in before() the lanes publish what they release, in after()
  /// they acquire. The order matters because other host threads run other CTAs meanwhile.
  void before(const Warp& warp, Mask mask, const WarpAccess& access,
              const std::array<std::uint64_t, lanes>& at);
  void after(const Warp& warp, Mask mask, const WarpAccess& access,
             const std::array<std::uint64_t, lanes>& at);
  void fence(const Warp& warp, Mask mask, FenceKind kind);

  /// Makes an access of a warp to global memory and its access() one atomic step: while a Step lives, no
  /// other host thread can use the shadow of the lanes' addresses.
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

  // Threads that meet.

  void meet(const Warp& warp, Mask mask) {
    clocks_of(warp).meet(mask, warp.live);
    if (tracks_fence_sc_) share_heard(warp, mask);
  }
  void barrier_arrive(std::uint32_t id, const Warp& warp, Mask mask, bool waits);
  void barrier_pass(std::uint32_t id, const Warp& warp, Mask mask);
  void barrier_done(std::uint32_t id, const Cta& cta);

  // The cluster's barrier. A thread that waits has not arrived again, so it waits for the last completed
  // phase.
  void cluster_arrive(const Warp& warp, Mask mask, bool releases);
  void cluster_phase() {
    cluster_completed_ = std::move(cluster_arriving_);
    cluster_arriving_ = {};
    met_ = std::move(meeting_);
    meeting_ = {};
  }
  void cluster_pass(const Warp& warp, Mask mask) {
    clocks_of(warp).acquire(mask, warp.live, cluster_completed_);
  }

  /// All threads of the CTA have exited. Accesses of peers to its shared memory, and reads of it by copies to
  /// peers, must happen before that.
  void leave(Cta& cta);

  // mbarriers.

  void mbarrier_init(const Warp& warp, std::uint32_t lane, std::uint32_t offset);
  /// Any other use of the mbarrier; `ends`: by mbarrier.inval.
  void mbarrier_use(const Warp& warp, Mask mask, std::uint32_t offset, bool ends = false);
  void mbarrier_arrive(const Warp& warp, std::uint32_t lane, std::uint32_t offset, bool releases);
  void mbarrier_pass(const Warp& warp, Mask mask, std::uint32_t offset, bool acquires);
  void mbarrier_phase(std::uint32_t offset);
  /// Called after an instruction in which lanes have arrived.
  void arrived(const Warp& warp) { clocks_of(warp).tick(); }

  /// Whether the last write of 4 bytes of shared memory happens before what the lane does now.
  [[nodiscard]] bool follows_write(const Warp& warp, std::uint32_t lane, std::uint32_t offset);

  // Copies, when they are issued. `quiet`: another rule has been reported already for the copy.

  /// A load into the shared memory of `target`. Returns false if the thread does not know that the phase
  /// before the present one of the copy's mbarrier is over: then the bytes may count for either phase.
  [[nodiscard]] bool load(const Copy& copy, const Warp& warp, std::uint32_t lane, const Cta& target,
                          bool quiet);
  void store(const Copy& copy, const Warp& warp, std::uint32_t lane, std::uint64_t group, bool quiet);
  /// A lane writes memory that a bulk store has not read. If a barrier is missing after the wait for the
  /// store, reports that; else returns false.
  bool report_unsynchronised_write(const Warp& warp, std::uint32_t lane, std::uint32_t address,
                                   const Copy& store, std::uint64_t group);
  /// The report that a read of `store` comes before the write of the lane in place of after it (swapped());
  /// nothing if the store's thread has issued none.
  [[nodiscard]] std::optional<Report> missing_barrier(const Warp& warp, std::uint32_t lane, const Copy& store,
                                                      std::uint64_t group);
  // Products of matrices, which a warp issues: begin_product(), then product_read() for each read of shared
  // memory.

  void begin_product(const Warp& warp, std::uint32_t lane) { begin_issue(warp, lane); }
  void product_read(const Warp& warp, std::uint32_t at, std::uint32_t bytes, std::uint64_t group, bool quiet);
  /// fence.proxy.async by the lanes.
  void fence_async(const Warp& warp, Mask mask);
  /// Whether the lane knew of the last write of 4 bytes of shared memory when it last executed
  /// fence.proxy.async.
  [[nodiscard]] bool fenced(const Warp& warp, std::uint32_t lane, std::uint32_t offset);
  /// Whether the last write of 4 bytes comes before the last phase of the cluster's barrier, even a relaxed
  /// one.
  [[nodiscard]] bool met_since_write(std::uint32_t offset) { return knows_write(met_, offset); }
  /// `warp` learns that the products that `other` has issued in groups below `group` are done.
  void wait_products(const Warp& warp, const Warp& other, std::uint64_t group);

  /// A thread of `cta` learns that its bulk stores in groups below `group` have read their source, and unless
  /// `read_only` have written their destination.
  void wait_group(const Cta& cta, std::uint32_t thread, std::uint64_t group, bool read_only);

  /// griddepcontrol.wait: the launches that this one may overlap have ended (races/flights.cpp).
  void wait_for_flights(const Warp& warp, Mask mask);

 private:
  /// The order that an mbarrier makes. Its loads are an agent whose time is the phase.
  struct Phases {
    Agent agent = 0;
    std::uint32_t time = 1;   ///< time of the loads of the current phase
    std::uint32_t first = 1;  ///< time of the loads of the first phase
    Clock arriving;           ///< knowledge of the threads that have arrived in the current phase
    Clock completed;          ///< knowledge of the threads that arrived in earlier phases
  };
  struct StoreAgents {
    Agent reads = 0;
    Agent writes = 0;
    std::vector<std::uint32_t>
        issued;  ///< by group: the warp's last time before it issued the group's first copy
  };
  struct ProductAgent {
    Agent agent = 0;
    std::vector<std::uint32_t> issued;  ///< by group, as in StoreAgents
  };
  /// The knowledge that relaxed accesses after a fence publish.
  struct Fenced {
    std::shared_ptr<const Clock> clock;  ///< knowledge of the lane at the fence, except of itself
    std::uint32_t time = 0;
    bool sequential = false;
    friend bool operator==(const Fenced&, const Fenced&) = default;
  };
  struct Pending {
    const Release* release;
    bool cta_scope;
    friend bool operator==(const Pending&, const Pending&) = default;
  };
  struct LaneFences {
    Fenced cta_scope;
    Fenced wider_scope;
    std::vector<Pending> seen;  ///< releases seen by relaxed reads; a fence acquires them
    Clock waited;               ///< knowledge seen by relaxed waits for mbarriers; a fence acquires it
    std::uint64_t published_at =
        ~0ULL;  ///< the last address where a relaxed access since the fence published
    /// Knowledge at the fence.sc of threads that have met this thread since: its relaxed accesses publish it,
    /// too.
    std::shared_ptr<const Clock> met;
    bool fresh = false;  ///< a fence.sc since the last barrier
    std::vector<Pending>
        heard;  ///< releases seen by threads before they met this thread; a fence.sc acquires them
  };
  /// The part of LaneFences that a fence acquires: lanes with equal parts acquire together.
  struct AcquiredPart {
    const LaneFences* of;
    friend bool operator==(const AcquiredPart& a, const AcquiredPart& b) {
      return a.of == b.of || (a.of->seen == b.of->seen && a.of->heard == b.of->heard &&
                              a.of->waited.empty() && b.of->waited.empty());
    }
  };
  /// The part of LaneFences that a relaxed access publishes: lanes with equal parts publish together.
  struct PublishedPart {
    const LaneFences* of;
    friend bool operator==(const PublishedPart& a, const PublishedPart& b) {
      return a.of->cta_scope == b.of->cta_scope && a.of->wider_scope == b.of->wider_scope &&
             a.of->met == b.of->met;
    }
  };

  [[nodiscard]] Agent agent_of(const Warp& warp) const noexcept;
  [[nodiscard]] Knowledge& clocks_of(const Warp& warp) noexcept { return warps_[agent_of(warp)]; }
  [[nodiscard]] const Knowledge& clocks_of(const Warp& warp) const noexcept { return warps_[agent_of(warp)]; }
  /// A number for each thread of the cluster.
  [[nodiscard]] std::uint32_t number_of(const Warp& warp, std::uint32_t lane) const noexcept {
    return agent_of(warp) * lanes + lane;
  }
  [[nodiscard]] Clock& barrier(std::uint32_t id, const Cta& cta) noexcept;
  /// The facts about each other's fence.sc that threads gain when they meet at a barrier.
  struct Met {
    std::vector<Pending> heard;
    Clock fenced;
    bool has_fenced = false;
  };
  void collect_fenced(const Warp& warp, Mask mask, Met& target);
  /// Collects the releases by a fence.sc that the lanes have seen or heard of.
  void collect_heard(const Warp& warp, Mask mask, std::vector<Pending>& target) const;
  void hear(const Warp& warp, Mask mask, const std::vector<Pending>& what);
  void share_heard(const Warp& warp, Mask mask);
  /// Adds to `target` what the lane released by its last fences.
  void release_fenced(const Warp& warp, std::uint32_t lane, Clock& target);
  /// Adds to `target` what the lanes' relaxed waits for mbarriers have seen.
  void add_waited(const Warp& warp, Mask mask, Clock& target) const;
  [[nodiscard]] bool knows_write(const Clock& known, std::uint32_t offset);
  [[nodiscard]] Agent new_agent() noexcept { return next_agent_++; }
  [[nodiscard]] Phases& phases(std::uint32_t offset);
  [[nodiscard]] Touch touch(const Warp& warp, Mask mask, const WarpAccess& access);
  [[nodiscard]] Touch copy_touch(const Copy& copy, Memory memory, Agent agent, std::uint32_t time, bool write,
                                 bool quiet);

  template <typename Use>
  auto with_block(Memory memory, std::uint64_t at, const Use& use);
  void prefetch_pieces(const Gather& gather);
  void piece(std::uint64_t line, const Piece& piece, const Touch& by);
  [[nodiscard]] std::optional<Conflict> check(std::uint64_t line, const Piece& piece, const Touch& by);
  void add(std::uint64_t line, const Piece& piece, const Touch& by);
  void part(std::uint64_t line, ByteMask bytes, const Access& now, const Touch& by);
  /// range() checks and records an access to [at, end), whole_lines() one to all lines from `line` to `end`.
  /// `first` is Access::first in the first line; each further line adds `step` to it.
  void range(std::uint64_t at, std::uint64_t end, const Touch& by, int first, int step);
  void whole_lines(std::uint64_t line, std::uint64_t end, const Touch& by, int first, int step);
  void begin_issue(const Warp& warp, std::uint32_t lane);
  /// Checks and records the accesses of a copy in the shared memory of `cta` and in global memory.
  void tile(const Copy& copy, const Cta& cta, const Touch& in_shared, const Touch& in_global);
  void global_range(std::uint64_t at, std::uint64_t bytes, const Touch& by);
  // Lanes that act alike on the same object are one agent of the imports.

  void acquire(const Warp& warp, Mask mask, const Release& release, bool cta_scope);
  void publish_fenced(const Warp& warp, Mask mask, const WarpAccess& access, std::uint64_t at);
  void publish(Releases& where, std::uint64_t at, Clock clock, std::uint32_t rank, bool cta_scope,
               bool sequential = false);
  /// Describes an access; `rank` is that of the CTA that the report names.
  [[nodiscard]] std::string describe(const Access& access, std::uint32_t lane, bool write, Memory memory,
                                     std::uint32_t rank) const;

  /// Checks an access of a lane or a copy against the accesses of launches that may still run. There must be
  /// at least one such launch.
  void check_flights(std::uint64_t at, std::uint64_t bytes, std::uint32_t lane, const Touch& by);
  /// The lanes acquire the releases of such launches at an address, and need no other wait then.
  void acquire_of_flights(const Warp& warp, Mask mask, std::uint64_t at);
  void report_flight(const Flight& flight, const Conflict& conflict, const Touch& by, std::uint64_t line);
  void report(const Conflict& conflict, const Touch& by, std::uint64_t line);
  // The mistake behind a conflict: races/causes.cpp.

  /// StoreAgents::issued or ProductAgent::issued of the agent that made an access; null for any other agent.
  [[nodiscard]] const std::vector<std::uint32_t>* issued_by(const Access& access) const;
  /// Whether a thread with the clock `known` has met the thread that issued a store or a product since the
  /// issue.
  [[nodiscard]] bool met_since_issue(const Access& earlier, const Clock& known) const;
  /// About::cause of two accesses: the waits and barriers between which they stand.
  [[nodiscard]] std::string cause_of(const Conflict& conflict, const Touch& by) const;
  /// For an access by a load: the rank of the CTA and the offset of the mbarrier on which the load completes.
  [[nodiscard]] std::optional<std::pair<std::uint32_t, std::uint32_t>> load_of(const Access& access) const;
  /// Reports the mistake behind a conflict, if it finds one; `where`: "shared memory at 0x400".
  bool report_cause(const Conflict& conflict, const Touch& by, check::RuleId rule, const std::string& where);
  /// For a write that comes after a conflicting read: the report of the opposite order, in which the write
  /// should have come first.
  [[nodiscard]] std::optional<Report> opposite_order(const Conflict& conflict, const Touch& by);
  [[nodiscard]] std::optional<std::pair<Conflict, Touch>> store_against(const Warp& warp, std::uint32_t lane,
                                                                        const Copy& store,
                                                                        std::uint64_t group);
  void report_unsynchronised_write(const Conflict& conflict, const Touch& by, const std::string& where);
  /// For a bulk store that finds a write of the loop's next turn: the same conflict, as a write after the
  /// store's read.
  [[nodiscard]] std::optional<std::pair<Conflict, Touch>> next_turn(const Conflict& conflict, const Touch& by,
                                                                    std::uint64_t line);
  /// Whether a conflict between a bulk store's `read` and a lane that writes, whose clock is `writer`, is a
  /// missing barrier: the lane has not met the issuer of the store since the issue, or the issuer waits for
  /// the store.
  [[nodiscard]] bool lacks_barrier(const Access& read, const Clock& writer) const;
  /// Whether the earlier access is a read by a copy to a peer.
  [[nodiscard]] bool is_sent(const Conflict& conflict) const;
  /// Reports an access by a peer, or by a copy to a peer, that is not ordered before the end of the CTA.
  void report_leaving(const Conflict& conflict, Cta& cta);

  Cluster& cluster_;
  LaunchOrder& launch_;
  std::uint32_t number_ = 0;  ///< number of the cluster in its grid
  std::uint32_t warps_each_;  ///< warps of a CTA
  std::uint32_t pitch_;
  std::vector<Knowledge> warps_;
  std::deque<Block> shared_;
  std::size_t region_hint_ = 0;
  bool in_step_ = false;
  GatherPatterns patterns_;
  std::vector<Clock> barriers_;   ///< 16 per CTA
  bool tracks_fence_sc_ = false;  ///< a thread has executed a fence.sc, or has seen a release by one
  std::unordered_map<std::uint32_t, Met> met_at_;  ///< by barrier: facts from the threads that arrive
  Clock cluster_arriving_;
  Clock cluster_completed_;
  Clock meeting_;  ///< knowledge of threads that arrive at the cluster's barrier, even relaxed
  Clock met_;      ///< meeting_ of the last completed phase
  std::unordered_map<std::uint32_t, Phases> phases_;
  std::unordered_map<std::uint32_t, StoreAgents> stores_;
  std::unordered_map<Agent, ProductAgent> products_;  ///< by warp
  struct AsyncFence {
    Mask by = 0;  ///< lanes whose last fence.proxy.async this is
    Clock known;
  };
  std::unordered_map<Agent, std::vector<AsyncFence>> async_fences_;  ///< by warp
  std::unordered_map<std::uint64_t, Agent> import_agents_;           ///< by warp and lanes
  std::unordered_map<std::uint32_t, LaneFences> fences_;
  Imports imports_;
  Releases shared_releases_{launch_.release_numbers};
  const Flights* flights_ = nullptr;  ///< null: there are none
  Agent flights_agent_ = 0;
  Clock issue_;  ///< knowledge of the thread that is issuing a copy
  Agent next_agent_ = 0;
};

}  // namespace sim
TMAJIT_END
