#include "lint/checks.hpp"

#include <tuple>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace lint {
namespace {

using Kind = Event::Kind;

/// Whether the event neither fences nor synchronises nor copies: writes around it can be followed together.
bool is_plain(const Event& event) {
  return event.kind == Kind::access || event.kind == Kind::write;
}

/// Writes that the copy engine must see, and the copies that read them.
struct Writes {
  bool (*writes)(const Event& event);
  bool (*reads)(const Event& event);
  bool (*fences)(const Event& event);
  bool (*overlap)(const Kernel& kernel, const Event& write, const Event& read);
  bool by_many;        ///< many threads may write what one then reads
  check::RuleId rule;  ///< that is broken where no fence stands between the two
  /// What is said of the read, with the line of the write; if one thread writes, of the write.
  const char* found;
};

/// Follows writes that the copy engine must see: from the generic proxy's write (a store to shared memory, or
/// mbarrier.init) to the copy that reads it (a bulk store, or a load that completes on the mbarrier).
///
/// The thread that wrote must fence, and threads meet before one of them issues the copy. At a CTA barrier a
/// path goes on twice: as the writer, and as another thread, which cannot fence in the writer's place.
class FenceCheck final : public PathCheck {
 public:
  FenceCheck(const Kernel& kernel, Findings& findings, const Writes& writes)
      : PathCheck(kernel, findings), of_(writes) {}

  void run() {
    if (!collect()) return;
    explore(*this, of_.rule);
    // Reported is what only all paths together show.
    for (const auto& [group, read, write] : alone_) {
      if (by_many_.count(group) == 0) continue;
      findings_.add(
          kernel_.events[read].instruction, "store.missing-barrier",
          fmt::format("one thread's bulk store that can follow the stores of many threads to shared "
                      "memory at {} without a barrier",
                      kernel_.line_of(kernel_.events[write].instruction)));
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
    if (of_.fences(event)) {
      if (phase == Phase::unfenced && of_.by_many) next.push_back(in(group, Phase::fenced, state.facts));
      if (phase != Phase::other_thread) return;
    }
    if (event.kind == Kind::sync) {
      if (phase == Phase::fenced || phase == Phase::other_thread) return;
      next.push_back(in(group, Phase::other_thread, kernel_.conditions.of_others(state.facts)));
      next.push_back(in(group, Phase::met, state.facts));
      return;
    }
    if (of_.reads(event)) {
      if (const auto write = read_from(group, event)) {
        if (phase != Phase::fenced) {
          report(kernel_.events[*write], event);
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

 private:
  enum class Phase : std::uint64_t {
    unfenced,
    met,           ///< unfenced, past a barrier
    fenced,        ///< not past a barrier
    other_thread,  ///< one that has met the writer, who had not fenced
  };
  static constexpr std::uint64_t phases = 4;
  static constexpr std::uint32_t none = ~0U;

  void report(const Event& write, const Event& read) {
    findings_.add(
        (of_.by_many ? read : write).instruction, of_.rule,
        fmt::format(fmt::runtime(of_.found), kernel_.line_of((of_.by_many ? write : read).instruction)));
  }

  /// Whether there is anything to follow.
  bool collect() {
    group_of_.assign(kernel_.events.size(), none);
    bool any_reader = false;
    for (std::uint32_t e = 0; e < kernel_.events.size(); ++e) {
      any_reader |= of_.reads(kernel_.events[e]);
      if (!of_.writes(kernel_.events[e])) continue;
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
      if (of_.overlap(kernel_, kernel_.events[e], read)) return e;
    }
    return std::nullopt;
  }

  const Writes& of_;
  std::vector<std::vector<std::uint32_t>> groups_;
  std::vector<std::uint32_t> group_of_;  ///< of the first event of each group
  std::set<std::uint32_t> by_many_;      ///< groups that more than one thread may write
  /// Copies that one thread issues after writes and no barrier: group, copy, write.
  std::set<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>> alone_;
};

constexpr Writes stores{
    .writes = [](const Event& event) { return event.kind == Kind::write && event.is_shared; },
    .reads = [](const Event& event) { return event.kind == Kind::bulk_store; },
    .fences = [](const Event& event) { return event.kind == Kind::fence; },
    .overlap =
        [](const Kernel& kernel, const Event& write, const Event& read) {
          return kernel.may_overlap(write.shared, write.access_bytes, read.shared,
                                    read.bytes.number().value_or(0));
        },
    .by_many = true,
    .rule = "store.missing-proxy-fence",
    .found =
        "a bulk store that can follow the store to shared memory at {} without a fence by the thread "
        "that wrote",
};

constexpr Writes inits{
    .writes = [](const Event& event) { return event.kind == Kind::init; },
    .reads = [](const Event& event) { return event.kind == Kind::bulk_load; },
    .fences = [](const Event& event) { return event.kind == Kind::fence || event.kind == Kind::init_fence; },
    .overlap = [](const Kernel& kernel, const Event& write,
                  const Event& read) { return kernel.may_overlap(write.barrier, 8, read.barrier, 8); },
    .by_many = false,
    .rule = "mbarrier.init-not-fenced",
    .found = "no fence after this mbarrier.init makes it visible to the copy engine before the load at {}",
};

}  // namespace

void check_fences(const Kernel& kernel, Findings& findings) {
  FenceCheck(kernel, findings, stores).run();
  FenceCheck(kernel, findings, inits).run();
}

}  // namespace lint
TMAJIT_END
