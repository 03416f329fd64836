#pragma once

/// One CTA: its warps, its shared memory and the state of each byte (the shadow), its barriers, and the
/// scheduler that runs the warps on one host thread. Also the cluster that the CTA belongs to.
#include "sim/engine/engine.hpp"
#include "sim/engine/mbarrier_uses.hpp"
#include "sim/engine/transactions.hpp"
#include "sim/launch/launch.hpp"
#include "sim/races/races.hpp"
#include "sim/undefined/undefined.hpp"
#include "sim/warp/warp.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <unordered_map>

TMAJIT_BEGIN
namespace sim {

/// Thrown where a launch cannot continue, after the reason has been reported.
struct Stop {
  std::string_view rule = {};  ///< the rule of that report
};

/// Thrown by a micro-operation that has broken a rule after which the launch continues. Its remaining effects
/// are skipped.
struct Skip {};

/// The state of an mbarrier, kept apart from its 8 bytes of shared memory (PTX ISA, "mbarrier").
struct Mbarrier {
  std::uint32_t expected = 0;  ///< arrivals that the next phase needs
  std::int64_t pending = 0;    ///< arrivals that the present phase still needs
  std::int64_t bytes = 0;      ///< transaction count
  std::uint64_t phase = 0;
  std::uint32_t location = 0;  ///< index into Program::locations of its init
  std::uint32_t writer = 0;    ///< thread_tag() of the thread that initialised it
  bool fenced = false;         ///< fence.mbarrier_init has made the init visible to the copy engine
  Transactions transactions{};
  MbarrierUses uses{};
};

/// A CTA barrier (bar.sync).
struct NamedBarrier {
  std::uint32_t arrived = 0;          ///< threads
  std::uint32_t expected = 0;         ///< threads; 0: all threads of the CTA
  std::uint32_t true_predicates = 0;  ///< bar.red: threads whose predicate was true
};

class Cluster;

/// Further facts of a report, besides its rule and its instruction.
struct About {
  About() = default;
  About(std::optional<std::uint32_t> location) : other(location) {}  // NOLINT: most reports have no more
  About(std::optional<std::uint32_t> location, std::string why) : other(location), cause(std::move(why)) {}

  std::optional<std::uint32_t> other;  ///< location of a second instruction
  /// Becomes Reports::Cause::name: reports of one rule and one cause are merged. If it is empty and `other`
  /// is set, the segments of both instructions form the name.
  std::string cause;
  std::string_view symptom;        ///< the rule that the mistake's consequence breaks, if it is another one
  std::uint32_t symptom_line = 0;  ///< the PTX line of that consequence
  /// The report that replaces this one if the second instruction proves to have read memory that no thread
  /// had written.
  std::optional<Report> replacement;
  bool leads = false;  ///< earlier reports are consequences of this one, which must come first
};

class Cta {
 public:
  Cta(Launch& launch, Cluster& cluster, std::uint32_t rank);

  // Cluster calls these functions.

  /// Begins the CTA with this position in the grid: resets all state.
  void start(const Triple& index);
  /// Runs a slice of instructions of each warp that is ready, a short one if `quiet`: nothing changed in the
  /// last round. Returns false if no warp was ready.
  [[nodiscard]] bool turn(std::uint64_t round, bool quiet);
  /// Wakes the threads that wait on mbarriers; their try_wait returns false. Returns false if no thread
  /// waits.
  [[nodiscard]] bool time_out();
  /// Called when the last thread has exited: completes copies in flight, and reports those that the CTA
  /// should have waited for.
  void finish();
  /// Called when the launch ends for this CTA, even if threads still run.
  void stop();
  /// Returns a line of text for each group of waiting threads.
  [[nodiscard]] std::string describe_waits();
  /// Reports `found` at the first waiting thread, and throws Stop.
  [[noreturn]] void report_deadlock(std::string found);

  Launch& launch;
  Cluster& cluster;
  const Program& program;
  const std::uint32_t rank;  ///< in the cluster
  bool started = false;      ///< has executed an instruction
  bool ended = false;        ///< all threads have exited; its shared memory is gone
  bool reported = false;     ///< a mistake of its threads has been reported
  Triple ctaid{};
  /// The linear index of the CTA in its grid.
  [[nodiscard]] std::uint32_t number() const noexcept {
    const Triple& grid = launch.shape.grid;
    return ctaid[0] + grid[0] * (ctaid[1] + grid[1] * ctaid[2]);
  }
  Engine engine;
  SmallCopies small_copies;
  std::mt19937_64 random;
  /// Counts every event that another thread may wait for: stores, arrivals, deliveries.
  std::uint64_t changes = 0;
  std::uint32_t live_threads = 0;
  /// Registers that setmaxnreg.dec has returned to the CTA's pool, counted per thread of a warp.
  std::uint64_t free_registers = 0;
  std::array<NamedBarrier, 16> barriers{};
  /// By thread whose arrival beyond an mbarrier's count is delayed: the mbarrier's state at the arrival.
  std::unordered_map<std::uint32_t, Mbarrier> surplus_arrivals;
  std::vector<std::unique_ptr<Warp>> warps;
  Races* races = nullptr;  ///< the cluster's race detector; null: SimOptions::races is off
  /// Memory for accesses that broke a rule, if the launch continues.
  alignas(16) std::array<std::byte, 32> scratch{};

  // Memory.

  [[nodiscard]] std::uint32_t shared_bytes() const noexcept { return shared_bytes_; }
  /// The offset in the concatenated shared memory of the cluster's CTAs, which Races uses as an address.
  [[nodiscard]] std::uint32_t in_cluster(std::uint32_t offset) const noexcept {
    return rank * Races::pitch(shared_bytes_) + offset;
  }
  /// Shared memory from address `shared_base` on.
  [[nodiscard]] std::byte* shared() noexcept { return shared_.data(); }
  /// The state of each byte of shared(): bits of Shadow.
  [[nodiscard]] std::uint8_t* shadow() noexcept { return shadow_.data(); }
  /// For each 4 bytes of shared(), the thread_tag() of the last write through the generic proxy; 0: none.
  [[nodiscard]] std::uint32_t* writers() noexcept { return writers_.data(); }
  /// The last tensor load that has written 16 bytes.
  struct Loaded {
    std::uint32_t location = 0;  ///< index into Program::locations
    Swizzle swizzle = Swizzle::none;
  };
  /// The load that has written the 16 bytes at `offset`; nothing if a thread has written them since.
  [[nodiscard]] std::optional<Loaded> loaded(std::uint32_t offset) const noexcept {
    const std::uint32_t tag = loaded_[offset / 16];
    const auto words = std::span(writers_).subspan(std::size_t{offset} / 16 * 4, 4);
    if (tag == 0 || std::ranges::any_of(words, [](std::uint32_t writer) { return writer != 0; })) return {};
    return Loaded{(tag - 1) >> 2, static_cast<Swizzle>((tag - 1) & 3)};
  }
  /// Records that `load` has written a range; nullopt: a peer's thread or a bulk copy has.
  void set_loaded(std::uint32_t offset, std::uint32_t bytes, std::optional<Loaded> load) noexcept {
    const std::uint32_t tag =
        load ? (load->location << 2 | static_cast<std::uint32_t>(load->swizzle)) + 1 : 0;
    std::fill(loaded_.begin() + offset / 16, loaded_.begin() + (offset + bytes + 15) / 16, tag);
  }
  /// Bit of a tag: a cp.async of the thread wrote the bytes, not a store.
  static constexpr std::uint32_t by_small_copy = 1U << 31;
  /// The tag of a write by a thread: 1 plus a number whose bits 0 to 9 are the thread's number, and whose
  /// bits 10 to 29 count the fence.proxy.async that the thread has executed before.
  [[nodiscard]] std::uint32_t thread_tag(std::uint32_t thread) const noexcept {
    return (fences_[thread] << 10 | thread) + 1;
  }
  /// The thread that a tag names.
  [[nodiscard]] static std::uint32_t thread_of_tag(std::uint32_t tag) noexcept {
    return ((tag & ~by_small_copy) - 1) & 1023;
  }
  /// Whether the writer of `tag` has executed fence.proxy.async since the write. Sets `thread` to the writer.
  [[nodiscard]] bool published(std::uint32_t tag, std::uint32_t& thread) const noexcept {
    if (tag == 0) return true;
    const std::uint32_t fences_and_thread = (tag & ~by_small_copy) - 1;
    thread = thread_of_tag(tag);
    return fences_and_thread >> 10 != fences_[thread];
  }
  /// Whether the writer of `tag` seems to be ahead of `thread` by an iteration of a common loop that executes
  /// fence.proxy.async. True if `thread` has executed the fence at least once, and the writer had executed it
  /// at least as often before the write.
  [[nodiscard]] bool is_iteration_ahead(std::uint32_t tag, std::uint32_t thread) const noexcept {
    return tag != 0 && fences_[thread] != 0 && ((tag & ~by_small_copy) - 1) >> 10 >= fences_[thread];
  }
  /// Whether copies and products that the lane issues may read a word of shared memory (4 bytes). True if the
  /// word's writer has executed fence.proxy.async since the write, or if the lane has executed it since it
  /// synchronised with the write. Without race detection, any fence of the lane counts. Sets `writer` to the
  /// writer.
  [[nodiscard]] bool visible(const Warp& warp, std::uint32_t lane, std::uint32_t word,
                             std::uint32_t& writer) const {
    if (published(writers_[word], writer)) return true;
    return races != nullptr ? races->fenced(warp, lane, in_cluster(4 * word))
                            : fences_[warp.thread(lane)] != 0;
  }
  void fence_async(std::uint32_t thread) noexcept { fences_[thread] = (fences_[thread] + 1) & 0xfffff; }

  /// The value of %clock: it grows with every instruction executed, and with every read.
  [[nodiscard]] std::uint64_t tick() noexcept { return executed_ + ++clock_reads_; }

  /// The host memory of a global range; null if no allocation contains the range.
  [[nodiscard]] std::byte* global(std::uint64_t address, std::uint64_t bytes) noexcept;
  /// Offset in shared() of a range of this CTA's shared memory; nothing if the range is outside.
  [[nodiscard]] std::optional<std::uint32_t> shared_offset(std::uint64_t address,
                                                           std::uint64_t bytes) const noexcept;
  /// Whether a shared address names a range of this CTA's shared memory, or any address of another CTA's.
  [[nodiscard]] bool names_shared(std::uint64_t address, std::uint64_t bytes) const noexcept {
    return shared_offset(address, bytes) || is_peer_address(address, Space::shared);
  }
  /// Whether a shared or generic address names the shared memory of another CTA.
  [[nodiscard]] bool is_peer_address(std::uint64_t address, Space space) const noexcept;
  /// The rule that an access breaks if global() returns null for it.
  [[nodiscard]] check::RuleId unmapped_rule(std::uint64_t address) const;
  /// "no allocation holds it; the one before, 4096 bytes at 0x…, ends 16 bytes earlier"
  [[nodiscard]] std::string describe_global(std::uint64_t address, std::uint64_t bytes) const;

  // mbarriers, by offset in shared().

  /// Null if there is no mbarrier at the offset.
  [[nodiscard]] Mbarrier* mbarrier(std::uint32_t offset) noexcept;
  Mbarrier& make_mbarrier(std::uint32_t offset);
  void drop_mbarrier(std::uint32_t offset);
  [[nodiscard]] const std::unordered_map<std::uint32_t, Mbarrier>& mbarriers() const noexcept {
    return mbarriers_;
  }
  /// Executes fence.mbarrier_init for `thread`.
  void fence_mbarriers(std::uint32_t thread);
  /// Whether the mbarrier's init is visible to the copy engine.
  [[nodiscard]] bool visible(const Mbarrier& barrier) const noexcept {
    std::uint32_t thread = 0;
    return barrier.fenced || published(barrier.writer, thread);
  }
  /// Called after `pending` or `bytes` has changed: if both are 0, completes the phase and wakes its waiters.
  void settle(std::uint32_t offset, Mbarrier& barrier);

  /// Completes CTA barrier `id`, and wakes its waiters.
  void release_barrier(std::uint32_t id);
  /// Called after the lanes of `mask` have exited: releases CTA barriers that waited only for these.
  void threads_exited(Warp& warp, Mask mask);

  /// Reports what a thread did at an instruction (`location`: index into Program::locations). An empty
  /// `expected` or `remedy` stands for the text of the rule.
  void report(std::uint32_t thread, std::uint32_t location, check::RuleId rule, std::string found,
              std::string expected = {}, std::string_view remedy = {}, About about = {});
  /// Returns the report in place of adding it to those of the launch.
  [[nodiscard]] Report make_report(std::uint32_t thread, std::uint32_t location, check::RuleId rule,
                                   std::string found, std::string expected = {},
                                   std::string_view remedy = {});
  /// Reports that the CTA ends, or can end, before a copy that `thread` has sent to a peer has read the CTA's
  /// shared memory.
  void report_unread_source(std::uint32_t thread, std::uint32_t location, std::string found);
  /// Threads of a CTA, rounded up to whole warps.
  [[nodiscard]] std::uint32_t threads_each() const noexcept {
    return static_cast<std::uint32_t>(warps.size()) * lanes;
  }
  /// The number of a thread in the cluster.
  [[nodiscard]] std::uint32_t number_of(std::uint32_t thread) const noexcept {
    return rank * threads_each() + thread;
  }
  /// Records that a thread's wait for the mbarrier at `offset` has ended.
  void waited(const Warp& warp, std::uint32_t lane, std::uint32_t offset, Mbarrier& barrier);
  /// The offset of the mbarrier that the thread has waited for last; nothing if it has not waited for any.
  [[nodiscard]] std::optional<std::uint32_t> last_wait(std::uint32_t thread) const noexcept {
    return last_waits_[thread] == 0 ? std::nullopt : std::optional(last_waits_[thread] - 1);
  }
  [[nodiscard]] Triple thread_index(std::uint32_t thread) const noexcept {
    return position_in(launch.shape.block, thread);
  }

 private:
  void order_warps(std::uint64_t round);
  void execute(Warp& warp, std::uint32_t limit);
  /// Executes up to `limit` micro-operations and returns their number. `checks_products`: checks registers
  /// that wgmma products use. `tracks_undefined` is for warps with undefined values. Returns early if the
  /// warp gets its first undefined value or loses its last.
  template <bool checks_products, bool tracks_undefined>
  std::uint32_t run(Warp& warp, std::uint32_t limit);
  [[noreturn]] void report_limit(const Warp& warp);
  [[noreturn]] void report_late(const Warp& warp);
  /// Writes the literals and the true predicate into the warp's registers.
  void fill_constants(Warp& warp);

  std::uint32_t shared_bytes_;
  std::vector<std::byte> shared_;
  std::vector<std::uint8_t> shadow_;
  std::vector<std::uint32_t> writers_;     ///< tags, one for each 4 bytes
  std::vector<std::uint32_t> loaded_;      ///< an encoded Loaded for each 16 bytes; 0: none
  std::vector<std::uint32_t> fences_;      ///< by thread: number of fence.proxy.async executed
  std::vector<std::uint32_t> last_waits_;  ///< by thread: 1 + the offset of an mbarrier; 0: none
  std::vector<std::uint64_t> registers_;   // 64-bit for alignment
  std::vector<std::byte> local_;
  std::unordered_map<std::uint32_t, Mbarrier> mbarriers_;
  std::vector<Warp*> order_;       ///< the order in which the warps take turns
  std::size_t last_region_ = 0;    ///< index in Launch::regions that global() tries first
  std::uint64_t executed_ = 0;     ///< micro-operations
  std::uint64_t clock_reads_ = 0;  ///< reads of %clock
  std::uint64_t thread_instructions_ = 0;
};

/// From this bit on, a shared::cluster address holds the CTA's rank + 1, or 0 for the CTA of the thread that
/// uses the address.
inline constexpr std::uint32_t rank_shift = 24;
/// The shared::cluster address of the same position in the CTA with rank `rank`.
[[nodiscard]] constexpr std::uint64_t map_to_rank(std::uint64_t address, std::uint32_t rank) noexcept {
  constexpr std::uint64_t rank_bits = 0xffULL << rank_shift;
  return (address & ~rank_bits) | std::uint64_t{rank + 1} << rank_shift;
}

/// The barrier of barrier.cluster. After each arrival a thread must wait before it arrives again.
struct ClusterBarrier {
  std::uint64_t phase = 0;
  std::uint32_t arrived = 0;  ///< threads that have arrived and not exited
};

/// CTAs that are scheduled together, access each other's shared memory, and share a barrier (PTX ISA 2.2.2,
/// 9.7.13.3). A CTA launched without a cluster is a cluster of one.
class Cluster {
 public:
  explicit Cluster(Launch& launch);

  /// Begins the cluster with this linear index in its grid: resets all state.
  void begin(std::uint64_t number);
  /// Runs a turn of every CTA on the calling host thread. Returns false once all threads have exited or the
  /// launch has stopped.
  [[nodiscard]] bool step();

  [[nodiscard]] std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(ctas_.size()); }
  [[nodiscard]] Cta& cta(std::uint32_t rank) noexcept { return *ctas_[rank]; }
  [[nodiscard]] const ClusterBarrier& barrier() const noexcept { return barrier_; }
  [[nodiscard]] std::uint32_t live_threads() const noexcept;
  [[nodiscard]] Origins& origins() noexcept { return origins_; }

  /// Executes barrier.cluster.arrive for the lanes of `mask`.
  void arrive(Warp& warp, Mask mask);
  /// Called after the lanes of `mask` have exited: completes the phase of the cluster's barrier if it waited
  /// only for these.
  void threads_exited(Warp& warp, Mask mask);

  /// If lanes of `mask` are about to access a peer's shared memory, parks all of `mask` until no other thread
  /// can run, and returns true. They then execute the instruction again. Returns false for no delay.
  [[nodiscard]] bool delay_peer_access(Warp& warp, const MemoryAccess& access, Mask mask);

 private:
  /// The sum of Cta::changes.
  [[nodiscard]] std::uint64_t changes() const noexcept;
  /// Runs a turn of every CTA. When the warps only wait or spin, lets a copy or the delayed accesses act. If
  /// there are none and no warp can run, ends the waits of try_wait, or else reports a deadlock.
  void play_round();
  /// Runs a turn of every CTA. Returns false if no warp was ready.
  [[nodiscard]] bool turn(std::uint64_t round);
  /// Delivers one copy. Returns false if none is in flight.
  [[nodiscard]] bool deliver();
  /// Lets the delayed accesses act. Returns false if there are none.
  [[nodiscard]] bool release_delayed();
  /// Cta::time_out() of all CTAs. Returns false if no thread waits, or nothing has changed since the last
  /// call.
  [[nodiscard]] bool time_out();
  void complete_barrier();
  [[noreturn]] void report_deadlock();

  Launch& launch_;
  std::vector<std::unique_ptr<Cta>> ctas_;  ///< by rank
  std::vector<Cta*> order_;                 ///< the order in which the CTAs take turns
  std::unique_ptr<Races> races_;            ///< null: SimOptions::races is off
  ClusterBarrier barrier_;
  Origins origins_;
  bool ascending_ = true;                      ///< CTA of rank 0 runs first in the first round
  std::uint64_t changes_at_time_out_ = ~0ULL;  ///< changes() at the last time_out()
  std::uint64_t round_ = 0;
  bool quiet_ = false;      ///< the last round changed nothing
  std::uint64_t busy_ = 0;  ///< rounds with changes since delayed accesses and copies last acted
};

/// "thread 7", or "lanes 0xf0 of warp 2"
[[nodiscard]] std::string describe_threads(const Warp& warp, Mask mask);

// The address of each lane is checked and resolved to host memory.

/// The address that lane `lane` accesses.
[[nodiscard]] inline std::uint64_t address_of(const Warp& warp, const MemoryAccess& access,
                                              std::uint32_t lane) {
  const std::byte* const slot = warp.registers + access.address;
  std::uint64_t base = 0;
  if (access.address_width == 8) base = get<std::uint64_t>(slot, lane);
  if (access.address_width == 4) base = get<std::uint32_t>(slot, lane);
  return base + static_cast<std::uint64_t>(access.offset);
}

/// The memory that an access of a lane resolves to.
struct Target {
  std::byte* memory = nullptr;  ///< host memory
  bool shared = false;
  std::uint32_t offset = 0;  ///< shared: offset in owner->shared()
  Cta* owner = nullptr;      ///< shared: the CTA to which the memory belongs
  bool global = false;
};

/// A position in a CTA's shared memory.
struct SharedAddress {
  Cta* owner = nullptr;
  std::uint32_t offset = 0;
};

/// Resolves a shared address to memory of the lane's own CTA or, with `peers`, of another CTA of the cluster.
/// Calls Warp::fail() if no memory has this address, or if the peer has not begun or has ended.
[[nodiscard]] SharedAddress reach_shared(Warp& warp, std::uint32_t lane, std::uint64_t address,
                                         std::uint32_t bytes, bool peers, bool writes);

/// Resolves the address of the mbarrier on which an asynchronous copy into the shared memory of `target`
/// completes. Calls Warp::fail() unless an initialised mbarrier of `target` has this address.
[[nodiscard]] SharedAddress completion_barrier(Warp& warp, std::uint32_t lane, std::uint64_t address,
                                               bool peers, const Cta& target);

/// Resolves `bytes` bytes at `address`, which must be a multiple of `alignment`. Calls Warp::fail() for an
/// illegal access.
[[nodiscard]] Target resolve(Warp& warp, std::uint32_t lane, Space space, std::uint64_t address,
                             std::uint32_t bytes, std::uint32_t alignment, bool writes, bool peers = false);

/// Like resolve(). If the launch continues after a violation, returns a Target with zeros that is neither
/// shared nor global memory.
[[nodiscard]] Target resolve_or_zeros(Warp& warp, std::uint32_t lane, Space space, std::uint64_t address,
                                      std::uint32_t bytes, std::uint32_t alignment, bool writes,
                                      bool peers = false);

/// Checks the shadow of a range of shared memory for an access through the generic proxy; with `writes` marks
/// the range written. Returns false for an illegal access or a read of uninitialised bytes. The latter is
/// reported if `maybe_undefined` is null. Else `*maybe_undefined` becomes true, and the caller tracks the
/// value (undefined.hpp).
bool check_shadow(Warp& warp, std::uint32_t lane, const Target& at, std::uint32_t bytes, bool writes,
                  bool* maybe_undefined = nullptr);

}  // namespace sim
TMAJIT_END
