#include "lint/checks.hpp"
#include "lint/threads.hpp"

#include <map>
#include <optional>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace lint {
namespace {

using Kind = Event::Kind;

/// Limit of pairs of a write and a read that are compared.
constexpr std::size_t max_pairs = 10'000'000;

/// Bytes of the smallest bulk copy.
constexpr std::uint64_t min_copy_bytes = 16;

/// Whether the event neither fences nor synchronises nor copies: writes around it can be followed together.
bool is_plain(const Event& event) {
  return event.kind == Kind::access || event.kind == Kind::write;
}

/// Writes that the copy engine must see, and the copies that read them.
struct FencePattern {
  bool (*writes)(const Event& event);
  bool (*reads)(const Event& event);
  bool (*fences)(const Event& event);
  bool (*overlap)(const Kernel& kernel, const Event& write, const Event& read);
  bool by_many;        ///< many threads may write the data that one thread then copies
  check::RuleId rule;  ///< rule that is broken if no fence stands between the two
  /// Message of a finding. If `by_many`, it is about the read and gives the line of the write. Else it is
  /// about the write and gives the line of the read.
  const char* found;
  /// For a fence by the copying thread alone, after it met the writing thread: the broken rule, if any, and
  /// its message.
  std::optional<check::RuleId> late_rule = {};
  const char* late_found = nullptr;
};

/// Follows writes that the copy engine must see: from the generic proxy's write (a store to shared memory, or
/// mbarrier.init) to the copy that reads it (a bulk store, or a load that completes on the mbarrier).
///
/// In the right order, the writing thread fences, then threads meet at a barrier, then one of them issues the
/// copy. If threads meet first and then the copying thread fences, `late_rule` is broken. At a CTA barrier a
/// path continues twice: as the writing thread, and as another thread.
class FenceCheck final : public PathCheck {
 public:
  FenceCheck(const Kernel& kernel, Findings& findings, const FencePattern& pattern)
      : PathCheck(kernel, findings), pattern_(pattern) {}

  void run() {
    if (collect()) explore(*this, pattern_.rule);
  }

  [[nodiscard]] bool concerns(std::uint32_t index, bool remembers) const override {
    const Event& event = kernel_.events[index];
    if (!remembers) return group_of_[index] != none;
    return event.kind == Kind::call || event.kind == Kind::sync || event.kind == Kind::wait ||
           pattern_.fences(event) || is_reader_[index];
  }
  [[nodiscard]] bool asks_threads() const override { return true; }

  void step(std::uint32_t index, const PathState& state, std::vector<PathState>& next) override {
    const Event& event = kernel_.events[index];
    if (state.memory == 0) {
      next.push_back(state);
      if (group_of_[index] != none) {
        const std::uint32_t group = group_of_[index];
        const bool by_many = pattern_.by_many && !kernel_.conditions.one_thread(state.facts);
        next.push_back(state_of({class_of_[group], by_many, Phase::unfenced}, group, state.facts));
      }
      return;
    }
    const Followed followed = unpack(state.memory);
    const auto continue_in = [&](Phase phase, const Facts& facts) {
      next.push_back(state_of({followed.same_readers, followed.by_many, phase}, state.origin, facts));
      next.back().has_other_origins = state.has_other_origins;
    };
    const Phase phase = followed.phase;
    if (event.kind == Kind::call) return;
    if (event.kind == Kind::wait) {
      // The writing thread may have arrived at this mbarrier after its fence: the copy is then ordered.
      if (phase != Phase::fenced) next.push_back(state);
      return;
    }
    if (pattern_.fences(event)) {
      if (phase == Phase::unfenced && pattern_.by_many) continue_in(Phase::fenced, state.facts);
      if (phase == Phase::other_thread && pattern_.late_rule) continue_in(Phase::fenced_late, state.facts);
      if (phase != Phase::other_thread || pattern_.late_rule) return;
    }
    if (event.kind == Kind::sync) {
      if (phase == Phase::fenced || phase == Phase::other_thread || phase == Phase::fenced_late) return;
      continue_in(Phase::other_thread, kernel_.conditions.of_others(state.facts));
      continue_in(Phase::met, state.facts);
      return;
    }
    if (is_reader_[index]) {
      if (const auto write = read_from(state.origin, event)) {
        if (phase == Phase::fenced_late) {
          findings_.add(
              event.instruction, *pattern_.late_rule,
              fmt::format(fmt::runtime(pattern_.late_found), writes_at(state, kernel_.events[*write])), {},
              {.instruction = event.instruction});
          return;
        }
        if (phase != Phase::fenced) {
          report(state, kernel_.events[*write], event);
          return;
        }
        if (kernel_.conditions.one_thread(state.facts)) {
          if (followed.by_many) report_alone(state, kernel_.events[*write], event);
          return;
        }
        if (followed.by_many && stores_of_others(kernel_.events[*write], event, state.facts)) {
          report_several(state, kernel_.events[*write], event);
          return;
        }
      }
    }
    next.push_back(state);
  }

 private:
  enum class Phase : std::uint64_t {
    unfenced,
    met,           ///< the writing thread, unfenced, after a barrier
    fenced,        ///< the writing thread after its fence, before a barrier
    other_thread,  ///< a thread that has met the writing thread at a barrier; neither has fenced
    fenced_late,   ///< as other_thread, and this thread has fenced
  };
  static constexpr std::uint64_t phases = 5;
  static constexpr std::uint32_t none = ~0U;
  /// A write that a later copy may read. Groups of writes that the same copies read are treated alike.
  struct Followed {
    std::uint32_t same_readers = 0;
    bool by_many = false;
    Phase phase = Phase::unfenced;
  };

  static PathState state_of(const Followed& followed, std::uint32_t group, const Facts& facts) {
    const std::uint64_t kind = (followed.same_readers + 1ULL) * 2 + (followed.by_many ? 1 : 0);
    return {kind * phases + static_cast<std::uint64_t>(followed.phase), group, false, facts};
  }
  static Followed unpack(std::uint64_t memory) {
    return {static_cast<std::uint32_t>(memory / phases / 2 - 1), memory / phases % 2 != 0,
            static_cast<Phase>(memory % phases)};
  }

  void report_alone(const PathState& state, const Event& write, const Event& read) {
    findings_.add(read.instruction, "store.missing-barrier",
                  fmt::format("one thread's bulk store that can follow the stores of many threads to shared "
                              "memory at {} without a barrier",
                              writes_at(state, write)),
                  {}, {.instruction = read.instruction});
  }

  /// Whether threads with these facts issue bulk stores of data that other threads have written.
  [[nodiscard]] bool stores_of_others(const Event& write, const Event& read, const Facts& facts) const {
    const auto readers = threads_of(kernel_, facts);
    if (!readers) return false;
    const auto writers = threads_at(kernel_, write.instruction);
    return writers && reads_of_others(kernel_.values, *writers, write.shared, write.access_bytes, *readers,
                                      read.shared, read.bytes.number().value_or(min_copy_bytes));
  }

  void report_several(const PathState& state, const Event& write, const Event& read) {
    findings_.add(read.instruction, "store.missing-barrier",
                  fmt::format("bulk stores by several threads that can follow other threads' stores to "
                              "shared memory at {} without a barrier",
                              writes_at(state, write)));
  }

  void report(const PathState& state, const Event& write, const Event& read) {
    const std::uint32_t instruction = (pattern_.by_many ? read : write).instruction;
    findings_.add(instruction, pattern_.rule,
                  fmt::format(fmt::runtime(pattern_.found),
                              pattern_.by_many ? writes_at(state, write) : kernel_.line_of(read.instruction)),
                  {}, {.instruction = instruction});
  }
  /// "line 12", or "line 12 or others like it" if paths from several writes have met.
  [[nodiscard]] std::string writes_at(const PathState& state, const Event& write) const {
    return kernel_.line_of(write.instruction) + (state.has_other_origins ? " or others like it" : "");
  }

  /// Finds the writes, in groups, and the copies that read them. Returns whether there is anything to follow.
  bool collect() {
    group_of_.assign(kernel_.events.size(), none);
    is_reader_.assign(kernel_.events.size(), false);
    std::vector<std::uint32_t> readers;
    std::vector<std::uint32_t> begins;
    std::size_t writes = 0;
    for (std::uint32_t e = 0; e < kernel_.events.size(); ++e) {
      if (pattern_.reads(kernel_.events[e])) readers.push_back(e);
      if (!pattern_.writes(kernel_.events[e])) continue;
      ++writes;
      if (!groups_.empty() && adjacent(groups_.back().back(), e)) {
        groups_.back().push_back(e);
      } else {
        begins.push_back(e);
        groups_.push_back({e});
      }
    }
    if (readers.size() * writes > max_pairs) {
      findings_.unfinished(pattern_.rule);
      return false;
    }
    // Only writes that a copy reads are followed.
    std::map<std::vector<std::uint32_t>, std::uint32_t> classes;
    class_of_.assign(groups_.size(), none);
    for (std::uint32_t group = 0; group < groups_.size(); ++group) {
      std::vector<std::uint32_t> readers_of_group;
      for (const std::uint32_t reader : readers) {
        if (read_from(group, kernel_.events[reader])) readers_of_group.push_back(reader);
      }
      if (readers_of_group.empty()) continue;
      for (const std::uint32_t reader : readers_of_group) is_reader_[reader] = true;
      // If findings are about writes, each group needs a class of its own.
      if (!pattern_.by_many) readers_of_group.push_back(none - 1 - group);
      class_of_[group] =
          classes.try_emplace(readers_of_group, static_cast<std::uint32_t>(classes.size())).first->second;
      group_of_[begins[group]] = group;
    }
    return !classes.empty();
  }

  /// Whether the two writes have the same guard and only plain accesses between them.
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
  /// The first write of the group that the copy may read.
  [[nodiscard]] std::optional<std::uint32_t> read_from(std::uint32_t group, const Event& read) const {
    for (const std::uint32_t e : groups_[group]) {
      if (pattern_.overlap(kernel_, kernel_.events[e], read)) return e;
    }
    return std::nullopt;
  }

  const FencePattern& pattern_;
  std::vector<std::vector<std::uint32_t>> groups_;  ///< adjacent writes, which are followed together
  std::vector<std::uint32_t> group_of_;             ///< by event: the group that it begins
  std::vector<std::uint32_t> class_of_;  ///< class of each group: groups with the same readers share one
  std::vector<bool> is_reader_;          ///< copies that read a group
};

constexpr FencePattern stores{
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
    .late_rule = check::RuleId("store.late-proxy-fence"),
    .late_found =
        "a bulk store that can follow the store to shared memory at {} with a fence by the thread that "
        "stores alone",
};

constexpr FencePattern inits{
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
