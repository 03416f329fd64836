#pragma once

/// One CTA: its warps, shared memory with shadow, barriers, and the scheduler that runs them on one host
/// thread.
#include "sim/engine.hpp"
#include "sim/launch.hpp"
#include "sim/small_copies.hpp"
#include "sim/warp.hpp"

#include <memory>
#include <random>
#include <string>
#include <unordered_map>

TMAJIT_BEGIN
namespace sim {

/// Thrown where a CTA cannot go on; what happened has been reported.
struct Stop {};

/// State of a byte of shared memory.
enum Shadow : std::uint8_t {
  initialised = 1,
  in_mbarrier = 2,
  loading = 4,  ///< an asynchronous load will write it
  storing = 8,  ///< an asynchronous store has yet to read it
};

/// An mbarrier, beside the 8 bytes it stands on (PTX ISA, "mbarrier").
struct Mbarrier {
  std::uint32_t expected = 0;  ///< arrivals of the next phase
  std::int64_t pending = 0;    ///< arrivals that this phase lacks
  std::int64_t bytes = 0;      ///< transaction count
  std::uint64_t phase = 0;
  std::uint32_t place = 0;   ///< index into Program::place of its init
  std::uint32_t writer = 0;  ///< thread_tag() of who initialised it
  bool fenced = false;       ///< fence.mbarrier_init has made the init visible to the copy engine
};

/// A CTA barrier (bar.sync).
struct NamedBarrier {
  std::uint32_t arrived = 0;
  std::uint32_t expected = 0;
  std::uint32_t said = 0;  ///< bar.red: threads whose predicate was true
};

class Cluster;

class Cta {
 public:
  Cta(Launch& launch, Cluster& cluster, std::uint32_t rank);

  // Cluster calls these, in turn.

  /// Makes everything as a CTA finds it when it begins.
  void start(std::array<std::uint32_t, 3> ctaid);
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
  std::array<std::uint32_t, 3> ctaid{};
  Engine engine;
  SmallCopies small_copies;
  std::mt19937_64 random;
  /// Counts everything that another thread may wait for: stores, arrivals, deliveries.
  std::uint64_t changes = 0;
  std::uint32_t live_threads = 0;
  std::array<NamedBarrier, 16> barriers{};
  std::vector<std::unique_ptr<Warp>> warps;

  // Memory. Every function reports and stops where the access is not legal.

  [[nodiscard]] std::uint32_t shared_bytes() const noexcept { return shared_bytes_; }
  /// Shared memory from address `shared_base` on.
  [[nodiscard]] std::byte* shared() noexcept { return shared_.data(); }
  [[nodiscard]] std::uint8_t* shadow() noexcept { return shadow_.data(); }
  /// Who wrote each 4 bytes last through the generic proxy: thread_tag(), or 0.
  [[nodiscard]] std::uint32_t* writers() noexcept { return writers_.data(); }
  [[nodiscard]] std::uint32_t thread_tag(std::uint32_t thread) const noexcept {
    return (fences_[thread] << 10 | thread) + 1;
  }
  /// Whether what this tag wrote is visible to the async proxy; `thread` gets the writer.
  [[nodiscard]] bool published(std::uint32_t tag, std::uint32_t& thread) const noexcept {
    if (tag == 0) return true;
    thread = (tag - 1) & 1023;
    return (tag - 1) >> 10 != (fences_[thread] & 0x3fffff);
  }
  void fence_async(std::uint32_t thread) noexcept { fences_[thread] = (fences_[thread] + 1) & 0x3fffff; }

  /// The time that %clock shows: it moves with the instructions executed, and with every look at it.
  [[nodiscard]] std::uint64_t tick() noexcept { return executed_ + ++looks_; }

  /// Host memory of a global range; null if no allocation holds it.
  [[nodiscard]] std::byte* global(std::uint64_t address, std::uint64_t bytes) noexcept;
  /// Offset in shared() of a range of this CTA's shared memory; nothing if it lies outside.
  [[nodiscard]] std::optional<std::uint32_t> shared_offset(std::uint64_t address,
                                                           std::uint64_t bytes) const noexcept;
  /// Whether a shared or generic address names the shared memory of another CTA.
  [[nodiscard]] bool is_peer_address(std::uint64_t address, Space space) const noexcept;
  /// "no allocation; the nearest, 4096 bytes from 0x…, ends 16 bytes before"
  [[nodiscard]] std::string describe_global(std::uint64_t address, std::uint64_t bytes) const;

  // mbarriers, by shared offset.

  [[nodiscard]] Mbarrier* mbarrier(std::uint32_t offset) noexcept;
  Mbarrier& make_mbarrier(std::uint32_t offset);
  void drop_mbarrier(std::uint32_t offset);
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

  void report(const Warp* warp, std::uint32_t lane, std::uint32_t place, std::string_view rule,
              std::string found, std::string expected, std::string remedy);
  void report(const Warp& warp, std::uint32_t lane, std::string_view rule, std::string found,
              std::string expected, std::string remedy) {
    report(&warp, lane, program.places[warp.here()], rule, std::move(found), std::move(expected),
           std::move(remedy));
  }
  [[noreturn]] void fail(const Warp& warp, std::uint32_t lane, std::string_view rule, std::string found,
                         std::string expected, std::string remedy) {
    report(warp, lane, rule, std::move(found), std::move(expected), std::move(remedy));
    throw Stop{};
  }
  [[nodiscard]] std::array<std::uint32_t, 3> thread_index(std::uint32_t thread) const noexcept;

 private:
  void order_warps(std::uint64_t round);
  void execute(Warp& warp, std::uint32_t slice);
  [[noreturn]] void report_limit(const Warp& warp);
  void fill_constants(Warp& warp);

  std::uint32_t shared_bytes_;
  std::vector<std::byte> shared_;
  std::vector<std::uint8_t> shadow_;
  std::vector<std::uint32_t> writers_;
  std::vector<std::uint32_t> fences_;
  std::vector<std::uint64_t> registers_;  // 64-bit for alignment
  std::vector<std::byte> local_;
  std::unordered_map<std::uint32_t, Mbarrier> mbarriers_;
  std::vector<Warp*> order_;  ///< in which the warps take turns
  std::size_t last_region_ = 0;
  std::uint64_t executed_ = 0;
  std::uint64_t looks_ = 0;  ///< at the clock
  std::uint64_t thread_instructions_ = 0;
};

}  // namespace sim
TMAJIT_END
