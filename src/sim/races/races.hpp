#pragma once

/// Happens-before in a cluster: which accesses no edge orders, whatever order the simulator ran them in
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
  bool narrow = false;      ///< at CTA scope
  bool sequential = false;  ///< fence.sc, membar
};

/// An access of a warp's instruction.
struct WarpAccess {
  Memory memory = Memory::shared;
  std::uint32_t bytes = 0;  ///< a lane
  bool write = false;
  Ordering ordering;
  bool repeats = false;  ///< a write of what stood there already, to the last byte
};

class Races {
 public:
  /// For a cluster whose CTAs exist already.
  Races(Cluster& cluster, const Launch& launch);

  /// The cluster with this number in its grid has begun.
  void start(std::uint32_t number);

  // Shared addresses are offsets in the shared memory of all CTAs of the cluster, one after the other: those
  // that Cta::in_cluster() gives.

  /// Bytes from one CTA's shared memory to the next's, of CTAs that have `bytes` each.
  [[nodiscard]] static constexpr std::uint32_t pitch(std::uint32_t bytes) noexcept {
    return (bytes + Block::bytes - 1) / Block::bytes * Block::bytes;
  }

  // Accesses of threads.

  /// Prefetches the shadow for an access of global memory.
  void prefetch(std::uint64_t at) noexcept { launch_.shadow.prefetch(at, region_hint_); }
  /// By a full warp, lane i at `at` + i · bytes.
  void access(const Warp& warp, const WarpAccess& access, std::uint64_t at);
  void access(const Warp& warp, const WarpAccess& access, const std::array<std::uint64_t, lanes>& at,
              Mask mask);
  /// Around a strong access: before it a lane publishes what it releases, after it the lanes have seen what
  /// others did. In this order, as threads of the host run other CTAs meanwhile.
  void before(const Warp& warp, Mask mask, const WarpAccess& access,
              const std::array<std::uint64_t, lanes>& at);
  void after(const Warp& warp, Mask mask, const WarpAccess& access,
             const std::array<std::uint64_t, lanes>& at);
  void fence(const Warp& warp, Mask mask, FenceKind kind);

  /// While one lives, no other thread of the host touches what the lanes of a warp reach of global memory:
  /// what they do there and their access() are one step.
  class Step {
   public:
    Step(Races& races, const std::array<std::uint64_t, lanes>& at, Mask mask);
    ~Step();
    Step(const Step&) = delete;
    Step& operator=(const Step&) = delete;

   private:
    Races& races_;
    std::array<Block*, lanes> blocks_;  // NOLINT: the first count_
    std::size_t count_ = 0;
  };

  // Threads that meet.

  void meet(const Warp& warp, Mask mask) {
    of(warp).meet(mask, warp.live);
    if (hears_) pass_on(warp, mask);
  }
  void barrier_arrive(std::uint32_t id, const Warp& warp, Mask mask, bool waits);
  void barrier_pass(std::uint32_t id, const Warp& warp, Mask mask);
  void barrier_done(std::uint32_t id, const Cta& cta);

  // The cluster's barrier. A thread that waits has not arrived anew, so the phase that it waits for is the
  // last that has completed.
  void cluster_arrive(const Warp& warp, Mask mask, bool releases);
  void cluster_phase() {
    cluster_completed_ = std::move(cluster_arriving_);
    cluster_arriving_ = {};
    met_ = std::move(meeting_);
    meeting_ = {};
  }
  void cluster_pass(const Warp& warp, Mask mask) { of(warp).acquire(mask, warp.live, cluster_completed_); }

  /// All threads of the CTA have exited: accesses of peers to its shared memory are to come before that, and
  /// so are the reads of it by copies to peers.
  void leave(Cta& cta);

  // mbarriers.

  void mbarrier_init(const Warp& warp, std::uint32_t lane, std::uint32_t offset);
  /// Any other use of the object; with `ends` mbarrier.inval.
  void mbarrier_use(const Warp& warp, Mask mask, std::uint32_t offset, bool ends = false);
  void mbarrier_arrive(const Warp& warp, std::uint32_t lane, std::uint32_t offset, bool releases);
  void mbarrier_pass(const Warp& warp, Mask mask, std::uint32_t offset, bool acquires);
  void mbarrier_phase(std::uint32_t offset);
  /// After an instruction in which lanes arrived.
  void arrived(const Warp& warp) { of(warp).tick(); }

  /// Whether the last write of 4 bytes of shared memory comes before what the lane does now.
  [[nodiscard]] bool follows_write(const Warp& warp, std::uint32_t lane, std::uint32_t offset);

  // Copies, at issue. With `quiet` a rule has been reported already.

  /// Into the shared memory of `target`. False if the thread does not know that the phase before the present
  /// one of the copy's mbarrier is over: its bytes may then count for either.
  [[nodiscard]] bool load(const Copy& copy, const Warp& warp, std::uint32_t lane, const Cta& target,
                          bool quiet);
  void store(const Copy& copy, const Warp& warp, std::uint32_t lane, std::uint64_t group, bool quiet);
  /// Reports that a lane writes what a bulk store has not read as a missing barrier, if one is missing behind
  /// the wait for the store. False if none is.
  bool report_unmet(const Warp& warp, std::uint32_t lane, std::uint32_t address, const Copy& store,
                    std::uint64_t group);
  /// The report of a write by the lane to memory that a store has read before.
  [[nodiscard]] std::optional<Report> missing_barrier(const Warp& warp, std::uint32_t lane, const Copy& store,
                                                      std::uint64_t group);
  // Products of matrices, which a warp issues: begin_product(), then what each reads of shared memory.

  void begin_product(const Warp& warp, std::uint32_t lane) { begin_issue(warp, lane); }
  void product_read(const Warp& warp, std::uint32_t at, std::uint32_t bytes, std::uint64_t group, bool quiet);
  /// fence.proxy.async by the lanes.
  void fence_async(const Warp& warp, Mask mask);
  /// Whether the lane knew of the last write of 4 bytes of shared memory when it last executed that fence.
  [[nodiscard]] bool fenced(const Warp& warp, std::uint32_t lane, std::uint32_t offset);
  /// Whether the last write of 4 bytes comes before the cluster's last barrier, a relaxed one too.
  [[nodiscard]] bool met_since_write(std::uint32_t offset) { return knows_write(met_, offset); }
  /// `warp` knows that the products of the groups below `group` that `other` has issued are done.
  void wait_products(const Warp& warp, const Warp& other, std::uint64_t group);

  /// The groups below `group` of a thread of `cta` have read their source, and unless `read_only` written.
  void wait_group(const Cta& cta, std::uint32_t thread, std::uint64_t group, bool read_only);

  /// griddepcontrol.wait: the launches that this one may overlap have ended (races/flights.cpp).
  void wait_for_flights(const Warp& warp, Mask mask);

 private:
  /// The order that an mbarrier makes. Its loads are an agent whose time is the phase.
  struct Phases {
    Agent agent = 0;
    std::uint32_t time = 1;   ///< of the loads of the current phase
    std::uint32_t first = 1;  ///< of those of the first
    Clock arriving;           ///< of those who have arrived in it
    Clock completed;          ///< of those before
  };
  struct StoreAgents {
    Agent reads = 0;
    Agent writes = 0;
    std::vector<std::uint32_t> issued;  ///< by group: the time of the warp that issued its last
  };
  struct ProductAgent {
    Agent agent = 0;
    std::vector<std::uint32_t> issued;  ///< by group, as in StoreAgents
  };
  /// The knowledge that relaxed accesses after a fence publish.
  struct Fenced {
    std::shared_ptr<const Clock> clock;  ///< but of the lane itself
    std::uint32_t time = 0;
    bool sequential = false;
    friend bool operator==(const Fenced&, const Fenced&) = default;
  };
  struct Pending {
    const Release* release;
    bool narrow;
    friend bool operator==(const Pending&, const Pending&) = default;
  };
  struct LaneFences {
    Fenced narrow;
    Fenced wide;
    std::vector<Pending> seen;  ///< by relaxed reads; a fence acquires them
    Clock waited;               ///< by relaxed waits for mbarriers; a fence acquires it
    std::uint64_t published_at =
        ~0ULL;  ///< the last address where a relaxed access since the fence published
    /// Before the fence.sc of others who have met this thread: what its relaxed accesses publish, too.
    std::shared_ptr<const Clock> met;
    bool fresh = false;          ///< a fence.sc since the last barrier
    std::vector<Pending> heard;  ///< seen by others before they met this thread; a fence.sc acquires them
  };
  /// The part of LaneFences that a fence acquires: lanes with equal parts acquire together.
  struct Finds {
    const LaneFences* of;
    friend bool operator==(const Finds& a, const Finds& b) {
      return a.of == b.of || (a.of->seen == b.of->seen && a.of->heard == b.of->heard &&
                              a.of->waited.empty() && b.of->waited.empty());
    }
  };
  /// The part of LaneFences that a relaxed access publishes: lanes with equal parts publish together.
  struct Publishes {
    const LaneFences* of;
    friend bool operator==(const Publishes& a, const Publishes& b) {
      return a.of->narrow == b.of->narrow && a.of->wide == b.of->wide && a.of->met == b.of->met;
    }
  };

  [[nodiscard]] Agent agent_of(const Warp& warp) const noexcept;
  [[nodiscard]] Knowledge& of(const Warp& warp) noexcept { return warps_[agent_of(warp)]; }
  [[nodiscard]] const Knowledge& of(const Warp& warp) const noexcept { return warps_[agent_of(warp)]; }
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
  void pass_on(const Warp& warp, Mask mask);
  /// Adds to `target` what the lane released by its last fences.
  void release_fenced(const Warp& warp, std::uint32_t lane, Clock& target);
  /// Adds what the lanes' relaxed waits for mbarriers have seen.
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
  /// Touches [at, end), and the lines from `line` to `end`, all of each. `first` is Access::first in the
  /// first line, `step` what each further line adds to it.
  void range(std::uint64_t at, std::uint64_t end, const Touch& by, int first, int step);
  void whole_lines(std::uint64_t line, std::uint64_t end, const Touch& by, int first, int step);
  void begin_issue(const Warp& warp, std::uint32_t lane);
  /// Touches the memory of a copy: in the shared memory of `cta`, and in global memory.
  void tile(const Copy& copy, const Cta& cta, const Touch& in_shared, const Touch& in_global);
  void global_range(std::uint64_t at, std::uint64_t bytes, const Touch& by);
  // Lanes that act alike on the same object know the same about it: they are one agent.

  void acquire(const Warp& warp, Mask mask, const Release& release, bool narrow);
  void publish_fenced(const Warp& warp, Mask mask, const WarpAccess& access, std::uint64_t at);
  void publish(Releases& where, std::uint64_t at, Clock clock, std::uint32_t rank, bool narrow,
               bool sequential = false);
  /// `rank`: of the CTA that the report names.
  [[nodiscard]] std::string describe(const Access& access, std::uint32_t lane, bool write, Memory memory,
                                     std::uint32_t rank) const;

  /// Checks what a lane or a copy touches against the accesses of launches that may still run. There must be
  /// such launches.
  void meet_flights(std::uint64_t at, std::uint64_t bytes, std::uint32_t lane, const Touch& by);
  /// A thread that acquires a release of such a launch needs no other wait.
  void acquire_of_flights(const Warp& warp, Mask mask, std::uint64_t at);
  void report_flight(const Flight& flight, const Conflict& conflict, const Touch& by, std::uint64_t line);
  void report(const Conflict& conflict, const Touch& by, std::uint64_t line);
  // Which mistake it is: races/causes.cpp.

  /// When the groups were issued of whose copies or products an access is one; null of others.
  [[nodiscard]] const std::vector<std::uint32_t>* issued_by(const Access& access) const;
  /// Whether `known` is of a thread that has met, since then, the one that issued a store or a product.
  [[nodiscard]] bool met_since_issue(const Access& earlier, const Clock& known) const;
  /// About::cause of two accesses: the waits and barriers that they stand between.
  [[nodiscard]] std::string cause_of(const Conflict& conflict, const Touch& by) const;
  /// The rank of the CTA and the offset of the mbarrier on which a load completes that made the access.
  [[nodiscard]] std::optional<std::pair<std::uint32_t, std::uint32_t>> load_of(const Access& access) const;
  /// Reports the mistake behind a conflict, if it shows; `where`: "shared memory at 0x400".
  bool report_cause(const Conflict& conflict, const Touch& by, check::RuleId rule, const std::string& where);
  /// The report of a write after a read, as that of a read after a write which has come too late.
  [[nodiscard]] std::optional<Report> swapped(const Conflict& conflict, const Touch& by);
  [[nodiscard]] std::optional<std::pair<Conflict, Touch>> store_against(const Warp& warp, std::uint32_t lane,
                                                                        const Copy& store,
                                                                        std::uint64_t group);
  void report_unmet(const Conflict& conflict, const Touch& by, const std::string& where);
  /// The write of the next turn that a bulk store has found, as a write that comes after the store's read.
  [[nodiscard]] std::optional<std::pair<Conflict, Touch>> next_turn(const Conflict& conflict, const Touch& by,
                                                                    std::uint64_t line);
  /// Whether no barrier stands between the wait for the store that made the access, and a lane that writes.
  [[nodiscard]] bool lacks_barrier(const Access& read, const Clock& writer) const;
  /// Whether the earlier access is the read by a copy to a peer.
  [[nodiscard]] bool is_sent(const Conflict& conflict) const;
  /// An access by a peer, or by a copy to one, of which the CTA knows nothing when it ends.
  void report_leaving(const Conflict& conflict, Cta& cta);

  Cluster& cluster_;
  LaunchOrder& launch_;
  std::uint32_t number_ = 0;  ///< of the cluster in its grid
  std::uint32_t warps_each_;  ///< of a CTA
  std::uint32_t pitch_;
  std::vector<Knowledge> warps_;
  std::deque<Block> shared_;
  std::size_t region_hint_ = 0;
  bool in_step_ = false;
  GatherPatterns patterns_;
  std::vector<Clock> barriers_;  ///< 16 a CTA
  bool hears_ = false;           ///< a thread has executed a fence.sc, or has seen a release by one
  std::unordered_map<std::uint32_t, Met> met_at_;  ///< of those who arrive, by barrier
  Clock cluster_arriving_;
  Clock cluster_completed_;
  Clock meeting_;  ///< of those who arrive in whatever way, relaxed too
  Clock met_;      ///< of those who last met
  std::unordered_map<std::uint32_t, Phases> phases_;
  std::unordered_map<std::uint32_t, StoreAgents> stores_;
  std::unordered_map<Agent, ProductAgent> products_;  ///< by warp
  struct AsyncFence {
    Mask by = 0;  ///< lanes whose last one it is
    Clock known;
  };
  std::unordered_map<Agent, std::vector<AsyncFence>> async_fences_;  ///< by warp
  std::unordered_map<std::uint64_t, Agent> import_agents_;           ///< by warp and lanes
  std::unordered_map<std::uint32_t, LaneFences> fences_;
  Imports imports_;
  Releases shared_releases_{launch_.release_numbers};
  const Flights* flights_ = nullptr;  ///< null: there are none
  Agent flights_agent_ = 0;
  Clock issue_;  ///< of the thread that issues a copy, while it does
  Agent next_agent_ = 0;
};

}  // namespace sim
TMAJIT_END
