#pragma once

/// One CTA: its warps, shared memory with shadow, barriers, and the scheduler that runs them on one host
/// thread; and the cluster that it belongs to.
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

/// Thrown where a CTA cannot go on; what happened has been reported.
struct Stop {
  std::string_view rule = {};  ///< of that report
};

/// Thrown by a micro-operation that has broken a rule after which the launch goes on: the rest of what it
/// does is left out.
struct Skip {};

/// An mbarrier, beside the 8 bytes it stands on (PTX ISA, "mbarrier").
struct Mbarrier {
  std::uint32_t expected = 0;  ///< arrivals of the next phase
  std::int64_t pending = 0;    ///< arrivals that this phase lacks
  std::int64_t bytes = 0;      ///< transaction count
  std::uint64_t phase = 0;
  std::uint32_t place = 0;   ///< index into Program::place of its init
  std::uint32_t writer = 0;  ///< thread_tag() of who initialised it
  bool fenced = false;       ///< fence.mbarrier_init has made the init visible to the copy engine
  Transactions transactions{};
  MbarrierUses uses{};
};

/// A CTA barrier (bar.sync).
struct NamedBarrier {
  std::uint32_t arrived = 0;
  std::uint32_t expected = 0;
  std::uint32_t said = 0;  ///< bar.red: threads whose predicate was true
};

class Cluster;

/// The subject of a report, besides its rule and its instruction.
struct About {
  About() = default;
  About(std::optional<std::uint32_t> place) : other(place) {}  // NOLINT: mostly it is nothing more
  About(std::optional<std::uint32_t> place, std::string why) : other(place), cause(std::move(why)) {}

  std::optional<std::uint32_t> other;  ///< place of a second instruction
  /// Reports of one rule with one cause are one. Empty: it is the second instruction, or those beside it.
  std::string cause;
  std::string_view symptom;        ///< the rule that the mistake shows as, if that is another …
  std::uint32_t symptom_line = 0;  ///< … and the PTX line where
  /// The report that takes its place if the second instruction turns out to have read what no thread had
  /// written.
  std::optional<Report> swapped;
  bool leads = false;  ///< whatever was reported before comes of it
};

class Cta {
 public:
  Cta(Launch& launch, Cluster& cluster, std::uint32_t rank);

  // Cluster calls these, in turn.

  /// Makes everything as a CTA finds it when it begins.
  void start(const Triple& index);
  /// Each warp that can runs for a slice of instructions; false if none could.
  [[nodiscard]] bool turn(std::uint64_t round);
  /// Lets try_wait fail once where threads wait on mbarriers; false if none do.
  [[nodiscard]] bool time_out();
  /// The last thread has exited: what is outstanding is reported.
  void finish();
  /// The launch is over for this CTA, whether it came to its end or not.
  void stop();
  /// A line for every group of threads that waits.
  [[nodiscard]] std::string describe_waits();
  /// Reports at the first thread that waits.
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
      0;  ///< that setmaxnreg.dec has given back, of warps: one for each of 32 threads
  std::array<NamedBarrier, 16> barriers{};
  std::vector<std::unique_ptr<Warp>> warps;
  Races* races = nullptr;  ///< the cluster's; null: they are not looked for
  /// Where accesses go that broke a rule, if the launch goes on.
  alignas(16) std::array<std::byte, 32> nowhere{};

  // Memory. Every function reports and stops where the access is not legal.

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
  /// The last tensor load that has written 16 bytes, and how it swizzles.
  struct Loaded {
    std::uint32_t place = 0;
    Swizzle swizzle = Swizzle::none;
  };
  /// Nothing where others have written since.
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
  /// In a tag: a cp.async of that thread wrote it.
  static constexpr std::uint32_t by_small_copy = 1U << 31;
  [[nodiscard]] std::uint32_t thread_tag(std::uint32_t thread) const noexcept {
    return (fences_[thread] << 10 | thread) + 1;
  }
  /// Whether what this tag wrote is visible to the async proxy; `thread` gets the writer.
  [[nodiscard]] bool published(std::uint32_t tag, std::uint32_t& thread) const noexcept {
    if (tag == 0) return true;
    const std::uint32_t who = (tag & ~by_small_copy) - 1;
    thread = who & 1023;
    return who >> 10 != fences_[thread];
  }
  /// Whether `thread` fences its writes for the async proxy, and what this tag wrote came after no fewer such
  /// fences: its writer has begun a later turn of the loop that `thread` is in.
  [[nodiscard]] bool is_turn_ahead(std::uint32_t tag, std::uint32_t thread) const noexcept {
    return tag != 0 && fences_[thread] != 0 && ((tag & ~by_small_copy) - 1) >> 10 >= fences_[thread];
  }
  /// Whether the copy engine and products that the lane asks for may read a word, which `writer` has written:
  /// that one has executed fence.proxy.async since, or the lane has, after it had met the writer. Without
  /// races it is unknown whether they met.
  [[nodiscard]] bool visible(const Warp& warp, std::uint32_t lane, std::uint32_t word,
                             std::uint32_t& writer) const {
    if (published(writers_[word], writer)) return true;
    return races != nullptr ? races->fenced(warp, lane, in_cluster(4 * word))
                            : fences_[warp.thread(lane)] != 0;
  }
  void fence_async(std::uint32_t thread) noexcept { fences_[thread] = (fences_[thread] + 1) & 0xfffff; }

  /// The time that %clock shows: it moves with the instructions executed, and with every look at it.
  [[nodiscard]] std::uint64_t tick() noexcept { return executed_ + ++looks_; }

  /// Host memory of a global range; null if no allocation holds it.
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
  /// The rule that an access breaks for which global() is null.
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
  /// Arrivals and bytes changed: completes the phase if nothing is missing, and wakes who waits for it.
  void settle(std::uint32_t offset, Mbarrier& barrier);

  void release_barrier(std::uint32_t id);
  /// Barriers that need all threads look again after some have exited.
  void threads_exited(Warp& warp, Mask mask);

  /// Reports what a thread did at a place of the program. Where `expected` or `remedy` is empty, the rule's
  /// own words stand for it. `other`: the place of a second instruction that it is about.
  void report(std::uint32_t thread, std::uint32_t place, check::RuleId rule, std::string found,
              std::string expected = {}, std::string_view remedy = {}, About about = {});
  [[nodiscard]] Report make_report(std::uint32_t thread, std::uint32_t place, check::RuleId rule,
                                   std::string found, std::string expected = {},
                                   std::string_view remedy = {});
  /// It can end, or does, before a copy that its thread sent to a peer has read its shared memory.
  void report_sent(std::uint32_t thread, std::uint32_t place, std::string found);
  /// Threads of a CTA, and those that its last warp lacks.
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
  void execute(Warp& warp, std::uint32_t most);
  /// Executes up to `most` micro-operations, and gives their number; fewer where the other loop is to go on:
  /// one that `follows` looks at what is undefined, and is for warps that have something.
  template <bool watches, bool follows>
  std::uint32_t run(Warp& warp, std::uint32_t most);
  [[noreturn]] void report_limit(const Warp& warp);
  [[noreturn]] void report_late(const Warp& warp);
  void fill_constants(Warp& warp);

  std::uint32_t shared_bytes_;
  std::vector<std::byte> shared_;
  std::vector<std::uint8_t> shadow_;
  std::vector<std::uint32_t> writers_;
  std::vector<std::uint32_t> loaded_;  ///< of each 16 bytes: a Loaded, or 0
  std::vector<std::uint32_t> fences_;
  std::vector<std::uint32_t> last_waits_;  ///< of each thread: 1 + the offset of an mbarrier; 0: none
  std::vector<std::uint64_t> registers_;   // 64-bit for alignment
  std::vector<std::byte> local_;
  std::unordered_map<std::uint32_t, Mbarrier> mbarriers_;
  std::vector<Warp*> order_;  ///< in which the warps take turns
  std::size_t last_region_ = 0;
  std::uint64_t executed_ = 0;
  std::uint64_t looks_ = 0;  ///< at the clock
  std::uint64_t thread_instructions_ = 0;
};

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

/// CTAs that are scheduled together, reach each other's shared memory, and meet at one barrier (PTX
/// ISA 2.2.2, 9.7.13.3). A CTA launched without a cluster is a cluster of one.
class Cluster {
 public:
  explicit Cluster(Launch& launch);

  /// Makes everything as the cluster of that number finds it.
  void begin(std::uint64_t number);
  /// A turn of every CTA, on the calling thread. False once all threads have exited, or the launch stops.
  [[nodiscard]] bool step();

  [[nodiscard]] std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(ctas_.size()); }
  [[nodiscard]] Cta& cta(std::uint32_t rank) noexcept { return *ctas_[rank]; }
  [[nodiscard]] const ClusterBarrier& barrier() const noexcept { return barrier_; }
  [[nodiscard]] std::uint32_t live_threads() const noexcept;
  [[nodiscard]] Origins& origins() noexcept { return origins_; }

  /// barrier.cluster.arrive by the lanes of `mask`, and what completes when threads have exited.
  void arrive(Warp& warp, Mask mask);
  void threads_exited(Warp& warp, Mask mask);

  /// Lets other threads go first where lanes of `mask` are about to reach into a peer: as late as a thread
  /// may be. True if they are parked, to execute the instruction again.
  [[nodiscard]] bool hold(Warp& warp, const MemoryAccess& access, Mask mask);

 private:
  [[nodiscard]] std::uint64_t changes() const noexcept;
  void play_round();
  [[nodiscard]] bool turn(std::uint64_t round);
  [[nodiscard]] bool deliver();
  [[nodiscard]] bool release_held();
  [[nodiscard]] bool time_out();
  void complete_barrier();
  [[noreturn]] void report_deadlock();

  Launch& launch_;
  std::vector<std::unique_ptr<Cta>> ctas_;  ///< by rank
  std::vector<Cta*> order_;                 ///< in which they take turns
  std::unique_ptr<Races> races_;            ///< null: they are not looked for
  ClusterBarrier barrier_;
  Origins origins_;
  bool ascending_ = true;
  std::uint64_t changes_at_time_out_ = ~0ULL;
  std::uint64_t round_ = 0;
  std::uint64_t busy_ = 0;  ///< rounds in which something changed, since the last delivery
};

/// "thread 7", or "lanes 0xf0 of warp 2"
[[nodiscard]] std::string describe_threads(const Warp& warp, Mask mask);

// Addresses of a memory instruction, lane by lane, checked and resolved to host memory.

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
  bool global = false;
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

/// The same, where the launch goes on after the report: then a place that holds zeros, of no memory.
[[nodiscard]] Target resolve_or_zeros(Warp& warp, std::uint32_t lane, Space space, std::uint64_t address,
                                      std::uint32_t bytes, std::uint32_t alignment, bool writes,
                                      bool peers = false);

/// Checks the shadow of a range of shared memory for an access through the generic proxy, and with `writes`
/// marks it written. Returns false if it has reported something. Reads of uninitialised bytes are reported,
/// too; but with `unsure`, which then becomes true, only where it matters (undefined.hpp).
bool check_shadow(Warp& warp, std::uint32_t lane, const Target& at, std::uint32_t bytes, bool writes,
                  bool* unsure = nullptr);

}  // namespace sim
TMAJIT_END
