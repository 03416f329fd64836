#include "lint/checks.hpp"
#include "lint/paths.hpp"

#include <tuple>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace lint {
namespace {

using Kind = Event::Kind;

/// Whether a fence, a barrier or a copy stands between writes matters; what else they do does not.
bool is_plain(const Event& event) {
  return event.kind == Kind::access || event.kind == Kind::write;
}

/// Follows writes that the copy engine must see: from the generic proxy's write (a store to shared memory, or
/// mbarrier.init) to the copy that reads it (a bulk store, or a load that completes on the mbarrier).
///
/// The thread that wrote must fence, and threads meet before one of them issues the copy. At a CTA barrier a
/// path goes on twice: as the writer, and as another thread, which cannot fence in the writer's place.
class FenceCheck : public PathCheck {
 public:
  FenceCheck(const Kernel& kernel, Findings& findings) : kernel_(kernel), findings_(findings) {}

  /// Whether there is anything to follow.
  bool collect() {
    group_of_.assign(kernel_.events.size(), none);
    bool any_reader = false;
    for (std::uint32_t e = 0; e < kernel_.events.size(); ++e) {
      any_reader |= reads(kernel_.events[e]);
      if (!writes(kernel_.events[e])) continue;
      // Writes with nothing in between are followed together.
      if (!groups_.empty() && adjacent(groups_.back().back(), e)) {
        groups_.back().push_back(e);
      } else {
        group_of_[e] = static_cast<std::uint32_t>(groups_.size());
        groups_.push_back({e});
      }
    }
    return any_reader && !groups_.empty();
  }

  /// Reports what only all paths together show.
  void finish() {
    for (const auto& [group, read, write] : alone_) {
      if (by_many_.count(group) != 0) report_barrier(kernel_.events[read], kernel_.events[write]);
    }
  }

  void step(std::uint32_t index, const PathState& state, std::vector<PathState>& next) override {
    const Event& event = kernel_.events[index];
    if (state.memory == 0) {
      next.push_back(state);
      if (group_of_[index] != none) {
        if (!kernel_.conditions.one_thread(state.facts)) by_many_.insert(group_of_[index]);
        next.push_back(in(group_of_[index], Phase::unfenced, state.facts));
      }
      return;
    }
    const auto group = static_cast<std::uint32_t>(state.memory / phases - 1);
    const auto phase = static_cast<Phase>(state.memory % phases);
    if (event.kind == Kind::call) return;
    if (fences(event)) {
      if (phase == Phase::unfenced && needs_barrier()) next.push_back(in(group, Phase::fenced, state.facts));
      if (phase != Phase::other_thread) return;
    }
    if (event.kind == Kind::sync) {
      if (phase == Phase::fenced || phase == Phase::other_thread) return;
      next.push_back(in(group, Phase::other_thread, kernel_.conditions.of_others(state.facts)));
      next.push_back(in(group, Phase::met, state.facts));
      return;
    }
    if (reads(event)) {
      if (const auto write = read_from(group, event)) {
        if (phase != Phase::fenced) {
          report_fence(event, kernel_.events[*write]);
          return;
        }
        // Whether others write, too, is known when all paths have been seen.
        if (kernel_.conditions.one_thread(state.facts)) {
          alone_.emplace(group, index, *write);
          return;
        }
      }
    }
    next.push_back(state);
  }

 protected:
  [[nodiscard]] virtual bool writes(const Event& event) const = 0;
  [[nodiscard]] virtual bool reads(const Event& event) const = 0;
  [[nodiscard]] virtual bool fences(const Event& event) const = 0;
  [[nodiscard]] virtual bool overlaps(const Event& write, const Event& read) const = 0;
  /// Whether many threads write what one then reads.
  [[nodiscard]] virtual bool needs_barrier() const = 0;
  virtual void report_fence(const Event& read, const Event& write) = 0;
  virtual void report_barrier(const Event& read, const Event& write) = 0;

  const Kernel& kernel_;
  Findings& findings_;

 private:
  enum class Phase : std::uint64_t {
    unfenced,
    met,           ///< unfenced, past a barrier
    fenced,        ///< not past a barrier
    other_thread,  ///< one that has met the writer, who had not fenced
  };
  static constexpr std::uint64_t phases = 4;
  static constexpr std::uint32_t none = ~0U;

  static PathState in(std::uint32_t group, Phase phase, const Facts& facts) {
    return {(group + 1ULL) * phases + static_cast<std::uint64_t>(phase), facts};
  }
  [[nodiscard]] bool adjacent(std::uint32_t before, std::uint32_t event) const {
    const Event& a = kernel_.events[before];
    const Event& b = kernel_.events[event];
    if (a.guard != b.guard) return false;
    if (kernel_.flow.block_of(a.instruction) != kernel_.flow.block_of(b.instruction)) return false;
    for (std::uint32_t e = before + 1; e < event; ++e) {
      if (!is_plain(kernel_.events[e])) return false;
    }
    return true;
  }
  [[nodiscard]] std::optional<std::uint32_t> read_from(std::uint32_t group, const Event& read) const {
    for (const std::uint32_t e : groups_[group]) {
      if (overlaps(kernel_.events[e], read)) return e;
    }
    return std::nullopt;
  }

  std::vector<std::vector<std::uint32_t>> groups_;
  std::vector<std::uint32_t> group_of_;  ///< of the first event of each group
  std::set<std::uint32_t> by_many_;      ///< groups that more than one thread may write
  /// Copies that one thread issues after writes and no barrier: group, copy, write.
  std::set<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>> alone_;
};

class StoreFences final : public FenceCheck {
 public:
  using FenceCheck::FenceCheck;

 private:
  [[nodiscard]] bool writes(const Event& event) const override {
    return event.kind == Kind::write && event.is_shared;
  }
  [[nodiscard]] bool reads(const Event& event) const override { return event.kind == Kind::bulk_store; }
  [[nodiscard]] bool fences(const Event& event) const override { return event.kind == Kind::fence; }
  [[nodiscard]] bool overlaps(const Event& write, const Event& read) const override {
    return kernel_.may_overlap(write.shared, write.access_bytes, read.shared,
                               read.bytes.number().value_or(0));
  }
  [[nodiscard]] bool needs_barrier() const override { return true; }

  void report_fence(const Event& read, const Event& write) override {
    findings_.add(kernel_, read.instruction, "store.missing-proxy-fence",
                  fmt::format("a bulk store that can follow the store to shared memory at {} without a fence "
                              "by the thread that wrote",
                              line_of(kernel_, write.instruction)),
                  "fence.proxy.async by every thread that wrote, then a barrier, then the bulk store",
                  "call fence_proxy_async_shared() after the writes and before the barrier");
  }
  void report_barrier(const Event& read, const Event& write) override {
    findings_.add(kernel_, read.instruction, "store.missing-barrier",
                  fmt::format("one thread's bulk store that can follow the stores of many threads to shared "
                              "memory at {} without a barrier",
                              line_of(kernel_, write.instruction)),
                  "a barrier of the threads that wrote, after their fence and before the bulk store",
                  "synchronise them: others may not have written yet");
  }
};

class InitFences final : public FenceCheck {
 public:
  using FenceCheck::FenceCheck;

 private:
  [[nodiscard]] bool writes(const Event& event) const override { return event.kind == Kind::init; }
  [[nodiscard]] bool reads(const Event& event) const override { return event.kind == Kind::bulk_load; }
  [[nodiscard]] bool fences(const Event& event) const override {
    return event.kind == Kind::fence || event.kind == Kind::init_fence;
  }
  [[nodiscard]] bool overlaps(const Event& write, const Event& read) const override {
    return kernel_.may_overlap(write.barrier, 8, read.barrier, 8);
  }
  [[nodiscard]] bool needs_barrier() const override { return false; }

  void report_fence(const Event& read, const Event& write) override {
    findings_.add(
        kernel_, write.instruction, "mbarrier.init-not-fenced",
        fmt::format("no fence after this mbarrier.init makes it visible to the copy engine before the "
                    "load at {}",
                    line_of(kernel_, read.instruction)),
        "fence.mbarrier_init, or fence.proxy.async, by the thread that initialised it",
        "call fence_mbarrier_init() after the last mbarrier.init");
  }
  void report_barrier(const Event&, const Event&) override {}
};

}  // namespace

void check_fences(const Kernel& kernel, Findings& findings) {
  StoreFences stores(kernel, findings);
  if (stores.collect() && !explore(kernel, stores)) findings.unfinished(kernel, "store.missing-proxy-fence");
  stores.finish();
  InitFences inits(kernel, findings);
  if (inits.collect() && !explore(kernel, inits)) findings.unfinished(kernel, "mbarrier.init-not-fenced");
}

}  // namespace lint
TMAJIT_END
