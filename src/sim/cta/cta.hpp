#pragma once

/// One CTA: its warps, its shared memory with shadow, its barriers, and the scheduler that runs the warps on
/// one host thread. Also the cluster that the CTA belongs to.
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

/// Thrown where a CTA cannot go on, after the reason has been reported.
struct Stop {
  std::string_view rule = {};  ///< the rule of that report
};

/// Thrown by a micro-operation that has broken a rule after which the launch goes on: its remaining effects
/// are skipped.
struct Skip {};

/// The state of an mbarrier, kept apart from its 8 bytes of shared memory (PTX ISA, "mbarrier").
struct Mbarrier {
  std::uint32_t expected = 0;  ///< arrivals of the next phase
  std::int64_t pending = 0;    ///< arrivals that the present phase lacks
  std::int64_t bytes = 0;      ///< transaction count
  std::uint64_t phase = 0;
  std::uint32_t place = 0;   ///< index into Program::place of its init
  std::uint32_t writer = 0;  ///< thread_tag() of the thread that initialised it
  bool fenced = false;       ///< fence.mbarrier_init has made the init visible to the copy engine
  Transactions transactions{};
  MbarrierUses uses{};
};

/// A CTA barrier (bar.sync).
struct NamedBarrier {
  std::uint32_t arrived = 0;
  std::uint32_t expected = 0;
  std::uint32_t true_predicates = 0;  ///< bar.red: threads whose predicate was true
};

class Cluster;

/// Further facts of a report, besides its rule and its instruction.
struct About {
  About() = default;
  About(std::optional<std::uint32_t> place) : other(place) {}  // NOLINT: most reports have no more
  About(std::optional<std::uint32_t> place, std::string why) : other(place), cause(std::move(why)) {}

  std::optional<std::uint32_t> other;  ///< place of a second instruction
  /// Reports of one rule and one cause count as one. If it is empty, the second instruction is the cause, or
  /// another member of Reports::Cause.
  std::string cause;
  std::string_view symptom;        ///< the rule as which the mistake shows, if it differs …
  std::uint32_t symptom_line = 0;  ///< … and the PTX line where it shows
  /// The report that replaces this one if the second instruction proves to have read memory that no thread
  /// had written.
  std::optional<Report> replacement;
  bool leads = false;  ///< all earlier reports follow from this one
};

class Cta {
 public:
  Cta(Launch& launch, Cluster& cluster, std::uint32_t rank);

  // Cluster calls these functions.

  /// Begins the CTA with this index: resets all state.
  void start(const Triple& index);
  /// Runs each warp that is ready for a slice of instructions. Returns false if no warp was ready.
  [[nodiscard]] bool turn(std::uint64_t round);
  /// Lets try_wait fail once for threads that wait on mbarriers. Returns false if no thread does.
  [[nodiscard]] bool time_out();
  /// The last thread has exited: completes what is in flight, and reports what the CTA should have waited
  /// for.
  void finish();
  /// Ends the launch for this CTA, whether all its threads have exited or not.
  void stop();
  /// Returns a line of text for every group of threads that waits.
  [[nodiscard]] std::string describe_waits();
  /// Reports `found` at the first thread that waits, and stops.
  [[noreturn]] void report_deadlock(std::string found);

  Launch& launch;
  Cluster& cluster;
  const Program& program;
  const std::uint32_t rank;  ///< in the cluster
  bool started = false;      ///< has executed an instruction
  bool ended = false;        ///< all threads have exited; its shared memory is gone
  Triple ctaid{};
  /// The linear index of the CTA in its grid.
  [[nodiscard]] std::uint32_t number() const noexcept {
    const Triple& grid = launch.shape.grid;
    return ctaid[0] + grid[0] * (ctaid[1] + grid[1] * ctaid[2]);
  }
  Engine engine;
  SmallCopies small_copies;
  std::mt19937_64 random;
  /// Counts everything that another thread may wait for: stores, arrivals, deliveries.
  std::uint64_t changes = 0;
  std::uint32_t live_threads = 0;
  std::uint64_t free_registers =
      0;  ///< given back by setmaxnreg.dec, in registers of a warp (one for each of its 32 threads)
  std::array<NamedBarrier, 16> barriers{};
  std::vector<std::unique_ptr<Warp>> warps;
  Races* races = nullptr;  ///< the cluster's; null: races are not looked for
  /// Memory for accesses that broke a rule, if the launch goes on.
  alignas(16) std::array<std::byte, 32> scratch{};

  // Memory. Every function reports an illegal access and stops.

  [[nodiscard]] std::uint32_t shared_bytes() const noexcept { return shared_bytes_; }
  /// Returns the offset by which Races addresses the byte at `offset` of shared().
  [[nodiscard]] std::uint32_t in_cluster(std::uint32_t offset) const noexcept {
    return rank * Races::pitch(shared_bytes_) + offset;
  }
  /// Shared memory from address `shared_base` on.
  [[nodiscard]] std::byte* shared() noexcept { return shared_.data(); }
  [[nodiscard]] std::uint8_t* shadow() noexcept { return shadow_.data(); }
  /// The last writer of each 4 bytes through the generic proxy: thread_tag(), or 0.
  [[nodiscard]] std::uint32_t* writers() noexcept { return writers_.data(); }
  /// The last tensor load that has written 16 bytes, and its swizzle.
  struct Loaded {
    std::uint32_t place = 0;
    Swizzle swizzle = Swizzle::none;
  };
  /// The load that has written the 16 bytes at `offset`; nothing if a thread has written them since.
  [[nodiscard]] std::optional<Loaded> loaded(std::uint32_t offset) const noexcept {
    const std::uint32_t tag = loaded_[offset / 16];
    const auto words = std::span(writers_).subspan(offset / 16 * 4, 4);
    if (tag == 0 || std::ranges::any_of(words, [](std::uint32_t writer) { return writer != 0; })) return {};
    return Loaded{(tag - 1) >> 2, static_cast<Swizzle>((tag - 1) & 3)};
  }
  void set_loaded(std::uint32_t offset, std::uint32_t bytes, std::optional<Loaded> load) noexcept {
    const std::uint32_t tag = load ? (load->place << 2 | static_cast<std::uint32_t>(load->swizzle)) + 1 : 0;
    std::fill(loaded_.begin() + offset / 16, loaded_.begin() + (offset + bytes + 15) / 16, tag);
  }
  /// Bit of a tag: a cp.async of the thread wrote, not a store.
  static constexpr std::uint32_t by_small_copy = 1U << 31;
  [[nodiscard]] std::uint32_t thread_tag(std::uint32_t thread) const noexcept {
    return (fences_[thread] << 10 | thread) + 1;
  }
  /// Whether the write with this tag is visible to the async proxy. Sets `thread` to the writer.
  [[nodiscard]] bool published(std::uint32_t tag, std::uint32_t& thread) const noexcept {
    if (tag == 0) return true;
    const std::uint32_t who = (tag & ~by_small_copy) - 1;
    thread = who & 1023;
    return who >> 10 != fences_[thread];
  }
  /// Whether `thread` fences its writes for the async proxy, and the writer of `tag` had executed at least as
  /// many such fences before its write: then the writer is a turn of their common loop ahead.
  [[nodiscard]] bool is_turn_ahead(std::uint32_t tag, std::uint32_t thread) const noexcept {
    return tag != 0 && fences_[thread] != 0 && ((tag & ~by_small_copy) - 1) >> 10 >= fences_[thread];
  }
  /// Whether the copies and products that the lane issues may read a word. Its writer, which `writer` is set
  /// to, must have executed fence.proxy.async since, or the lane must have, after it knew of the write. While
  /// races are not looked for, any such fence of the lane counts.
  [[nodiscard]] bool visible(const Warp& warp, std::uint32_t lane, std::uint32_t word,
                             std::uint32_t& writer) const {
    if (published(writers_[word], writer)) return true;
    return races != nullptr ? races->fenced(warp, lane, in_cluster(4 * word))
                            : fences_[warp.thread(lane)] != 0;
  }
  void fence_async(std::uint32_t thread) noexcept { fences_[thread] = (fences_[thread] + 1) & 0xfffff; }

  /// The value of %clock: it grows with every instruction executed, and with every read.
  [[nodiscard]] std::uint64_t tick() noexcept { return executed_ + ++clock_reads_; }

  /// The host memory behind a global range; null if no allocation holds the range.
  [[nodiscard]] std::byte* global(std::uint64_t address, std::uint64_t bytes) noexcept;
  /// Offset in shared() of a range of this CTA's shared memory; nothing if it lies outside.
  [[nodiscard]] std::optional<std::uint32_t> shared_offset(std::uint64_t address,
                                                           std::uint64_t bytes) const noexcept;
  /// Whether a shared address names a range of this CTA's shared memory, or that of another CTA.
  [[nodiscard]] bool names_shared(std::uint64_t address, std::uint64_t bytes) const noexcept {
    return shared_offset(address, bytes) || is_peer_address(address, Space::shared);
  }
  /// Whether a shared or generic address names the shared memory of another CTA.
  [[nodiscard]] bool is_peer_address(std::uint64_t address, Space space) const noexcept;
  /// The rule that an access breaks if global() returns null for it.
  [[nodiscard]] check::RuleId unmapped_rule(std::uint64_t address) const;
  /// "no allocation; the nearest, 4096 bytes from 0x…, ends 16 bytes before"
  [[nodiscard]] std::string describe_global(std::uint64_t address, std::uint64_t bytes) const;

  // mbarriers, by shared offset.

  [[nodiscard]] Mbarrier* mbarrier(std::uint32_t offset) noexcept;
  Mbarrier& make_mbarrier(std::uint32_t offset);
  void drop_mbarrier(std::uint32_t offset);
  [[nodiscard]] const std::unordered_map<std::uint32_t, Mbarrier>& mbarriers() const noexcept {
    return mbarriers_;
  }
  /// fence.mbarrier_init by `thread`.
  void fence_mbarriers(std::uint32_t thread);
  [[nodiscard]] bool visible(const Mbarrier& barrier) const noexcept {
    std::uint32_t thread = 0;
    return barrier.fenced || published(barrier.writer, thread);
  }
  /// Called after arrivals or bytes changed: completes the phase if nothing is missing, and wakes the threads
  /// that wait for it.
  void settle(std::uint32_t offset, Mbarrier& barrier);

  void release_barrier(std::uint32_t id);
  /// Checks the barriers that need all threads again, after the lanes of `mask` have exited.
  void threads_exited(Warp& warp, Mask mask);

  /// Reports what a thread did at a place of the program. An empty `expected` or `remedy` stands for the text
  /// of the rule.
  void report(std::uint32_t thread, std::uint32_t place, check::RuleId rule, std::string found,
              std::string expected = {}, std::string_view remedy = {}, About about = {});
  [[nodiscard]] Report make_report(std::uint32_t thread, std::uint32_t place, check::RuleId rule,
                                   std::string found, std::string expected = {},
                                   std::string_view remedy = {});
  /// Reports that the CTA can end, or ends, before a copy of `thread` to a peer has read the CTA's shared
  /// memory.
  void report_unread_source(std::uint32_t thread, std::uint32_t place, std::string found);
  /// Threads of a CTA, rounded up to whole warps.
  [[nodiscard]] std::uint32_t threads_each() const noexcept {
    return static_cast<std::uint32_t>(warps.size()) * lanes;
  }
  /// The number of a thread in the cluster.
  [[nodiscard]] std::uint32_t number_of(std::uint32_t thread) const noexcept {
    return rank * threads_each() + thread;
  }
  /// A wait of a thread for the mbarrier at `offset` has ended.
  void waited(const Warp& warp, std::uint32_t lane, std::uint32_t offset, Mbarrier& barrier);
  /// The offset of the mbarrier that a thread has waited for last.
  [[nodiscard]] std::optional<std::uint32_t> last_wait(std::uint32_t thread) const noexcept {
    return last_waits_[thread] == 0 ? std::nullopt : std::optional(last_waits_[thread] - 1);
  }
  [[nodiscard]] Triple thread_index(std::uint32_t thread) const noexcept {
    return place_in(launch.shape.block, thread);
  }

 private:
  void order_warps(std::uint64_t round);
  void execute(Warp& warp, std::uint32_t limit);
  /// Executes up to `most` micro-operations and returns their number. The loop that `follows` tracks
  /// undefined values, and is for warps that have some. The loop returns early where the other one is to go
  /// on.
  template <bool checks_products, bool tracks_undefined>
  std::uint32_t run(Warp& warp, std::uint32_t limit);
  [[noreturn]] void report_limit(const Warp& warp);
  [[noreturn]] void report_late(const Warp& warp);
  void fill_constants(Warp& warp);

  std::uint32_t shared_bytes_;
  std::vector<std::byte> shared_;
  std::vector<std::uint8_t> shadow_;
  std::vector<std::uint32_t> writers_;
  std::vector<std::uint32_t> loaded_;  ///< an encoded Loaded for each 16 bytes; 0: none
  std::vector<std::uint32_t> fences_;
  std::vector<std::uint32_t> last_waits_;  ///< by thread: 1 + the offset of an mbarrier; 0: none
  std::vector<std::uint64_t> registers_;   // 64-bit for alignment
  std::vector<std::byte> local_;
  std::unordered_map<std::uint32_t, Mbarrier> mbarriers_;
  std::vector<Warp*> order_;  ///< the order in which the warps take turns
  std::size_t last_region_ = 0;
  std::uint64_t executed_ = 0;
  std::uint64_t clock_reads_ = 0;  ///< reads of %clock
  std::uint64_t thread_instructions_ = 0;
};

/// First bit of the field of a shared::cluster address that names the CTA: rank + 1, or 0 for the CTA that
/// uses the address.
inline constexpr std::uint32_t rank_shift = 24;
[[nodiscard]] constexpr std::uint64_t map_to_rank(std::uint64_t address, std::uint32_t rank) noexcept {
  constexpr std::uint64_t rank_bits = 0xffULL << rank_shift;
  return (address & ~rank_bits) | std::uint64_t{rank + 1} << rank_shift;
}

/// The barrier of barrier.cluster. A thread must wait after it has arrived, before it arrives again.
struct ClusterBarrier {
  std::uint64_t phase = 0;
  std::uint32_t arrived = 0;  ///< threads that have arrived and not exited
};

/// CTAs that are scheduled together, reach each other's shared memory, and meet at one barrier (PTX
/// ISA 2.2.2, 9.7.13.3). A CTA launched without a cluster is a cluster of one.
class Cluster {
 public:
  explicit Cluster(Launch& launch);

  /// Begins the cluster with this number: resets all state.
  void begin(std::uint64_t number);
  /// Runs a turn of every CTA on the calling host thread. Returns false once all threads have exited, or the
  /// launch stops.
  [[nodiscard]] bool step();

  [[nodiscard]] std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(ctas_.size()); }
  [[nodiscard]] Cta& cta(std::uint32_t rank) noexcept { return *ctas_[rank]; }
  [[nodiscard]] const ClusterBarrier& barrier() const noexcept { return barrier_; }
  [[nodiscard]] std::uint32_t live_threads() const noexcept;
  [[nodiscard]] Origins& origins() noexcept { return origins_; }

  /// barrier.cluster.arrive by the lanes of `mask`.
  void arrive(Warp& warp, Mask mask);
  /// Completes the phase of the cluster's barrier if it lacked only the exited lanes of `mask`.
  void threads_exited(Warp& warp, Mask mask);

  /// Delays lanes of `mask` that are about to access a peer's shared memory until no other thread can go on.
  /// Returns true if it has parked them; they then execute the instruction again.
  [[nodiscard]] bool delay_peer_access(Warp& warp, const MemoryAccess& access, Mask mask);

 private:
  [[nodiscard]] std::uint64_t changes() const noexcept;
  void play_round();
  [[nodiscard]] bool turn(std::uint64_t round);
  [[nodiscard]] bool deliver();
  [[nodiscard]] bool release_delayed();
  [[nodiscard]] bool time_out();
  void complete_barrier();
  [[noreturn]] void report_deadlock();

  Launch& launch_;
  std::vector<std::unique_ptr<Cta>> ctas_;  ///< by rank
  std::vector<Cta*> order_;                 ///< the order in which the CTAs take turns
  std::unique_ptr<Races> races_;            ///< null: races are not looked for
  ClusterBarrier barrier_;
  Origins origins_;
  bool ascending_ = true;
  std::uint64_t changes_at_time_out_ = ~0ULL;
  std::uint64_t round_ = 0;
  std::uint64_t busy_ = 0;  ///< rounds in which something changed, since the last delivery
};

/// "thread 7", or "lanes 0xf0 of warp 2"
[[nodiscard]] std::string describe_threads(const Warp& warp, Mask mask);

// The addresses of a memory instruction are checked and resolved to host memory, lane by lane.

/// The address that the access has in lane `lane`.
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
  std::byte* memory = nullptr;
  bool shared = false;
  std::uint32_t offset = 0;  ///< shared: offset in shared()
  Cta* owner = nullptr;      ///< shared: the CTA to which the memory belongs
  bool global = false;
};

/// A range of a CTA's shared memory.
struct SharedPlace {
  Cta* owner = nullptr;
  std::uint32_t offset = 0;
};

/// Resolves a shared address to memory of the lane's own CTA or, with `peers`, of another CTA of the cluster.
/// Reports and stops if no memory is there, or if the peer has not begun or has ended.
[[nodiscard]] SharedPlace reach_shared(Warp& warp, std::uint32_t lane, std::uint64_t address,
                                       std::uint32_t bytes, bool peers, bool writes);

/// Resolves the address of the initialised mbarrier on which an asynchronous copy into `target`'s shared
/// memory completes. The mbarrier must be in the same shared memory.
[[nodiscard]] SharedPlace completion_barrier(Warp& warp, std::uint32_t lane, std::uint64_t address,
                                             bool peers, const Cta& target);

/// Resolves `bytes` bytes at `address`, which must be a multiple of `alignment`. Reports and stops if the
/// kernel may not access them.
[[nodiscard]] Target resolve(Warp& warp, std::uint32_t lane, Space space, std::uint64_t address,
                             std::uint32_t bytes, std::uint32_t alignment, bool writes, bool peers = false);

/// Like resolve(). If the launch goes on after a report, returns a Target that holds zeros and belongs to no
/// memory.
[[nodiscard]] Target resolve_or_zeros(Warp& warp, std::uint32_t lane, Space space, std::uint64_t address,
                                      std::uint32_t bytes, std::uint32_t alignment, bool writes,
                                      bool peers = false);

/// Checks the shadow of a range of shared memory for an access through the generic proxy; with `writes` marks
/// the range written. Returns false if it has reported something. A read of uninitialised bytes is reported
/// here if `unsure` is null. Else `*unsure` becomes true, and the value is reported only where it matters
/// (undefined.hpp).
bool check_shadow(Warp& warp, std::uint32_t lane, const Target& at, std::uint32_t bytes, bool writes,
                  bool* maybe_undefined = nullptr);

}  // namespace sim
TMAJIT_END
