#include "lint/checks.hpp"

#include <algorithm>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace lint {
namespace {

using Kind = Event::Kind;

/// Follows one bulk store along each path, until its group is committed and a wait covers that group. Before
/// that the thread must neither end nor write the memory that the store reads.
class GroupCheck final : public PathCheck {
 public:
  GroupCheck(const Kernel& kernel, Findings& findings) : PathCheck(kernel, findings) {
    for (std::uint32_t e = 0; e < kernel.events.size(); ++e) {
      if (kernel.events[e].kind == Kind::bulk_store) stores_.push_back(e);
    }
  }

  [[nodiscard]] bool concerns(std::uint32_t index, bool remembers) const override {
    const Event& event = kernel_.events[index];
    if (!remembers) return event.kind == Kind::bulk_store;
    switch (event.kind) {
      case Kind::commit:
      case Kind::wait_group:
      case Kind::call: return true;
      case Kind::write:
        if (!event.is_shared) return false;
        [[fallthrough]];
      case Kind::bulk_load:
        // With more than `max_compared` stores, the event is assumed to overwrite the source of one.
        return stores_.size() > max_compared ||
               std::ranges::any_of(stores_, [&](std::uint32_t store) { return overwrites(event, store); });
      default: return false;
    }
  }
  [[nodiscard]] bool ends_matter() const override { return true; }

  void step(std::uint32_t index, const PathState& state, std::vector<PathState>& next) override {
    const Event& event = kernel_.events[index];
    if (state.memory == 0) {
      next.push_back(state);
      if (event.kind == Kind::bulk_store) next.push_back({pack({index}), index, false, state.facts});
      return;
    }
    Followed followed = unpack(state.memory);
    switch (event.kind) {
      case Kind::commit:
        followed.age = std::min(followed.age + 1, oldest);
        next.push_back({pack(followed), state.origin, false, state.facts});
        return;
      case Kind::wait_group:
        if (followed.age > event.groups || followed.age == oldest) return;
        break;
      case Kind::call: return;
      case Kind::bulk_load:
        if (!followed.stale && overwrites(event, followed.store))
          return report_reuse(event, followed, "load.before-store-read");
        break;
      case Kind::write:
        if (!followed.stale && event.is_shared && overwrites(event, followed.store))
          return report_reuse(event, followed, "shared.overwritten-before-store-read");
        break;
      default: break;
    }
    next.push_back(state);
  }

  void end(std::uint32_t instruction, const PathState& state) override {
    if (state.memory == 0) return;
    const Followed followed = unpack(state.memory);
    findings_.add(
        kernel_.events[followed.store].instruction, "exit.store-unread",
        fmt::format("a thread ends at {} with this bulk store {}", kernel_.line_of(instruction),
                    followed.age != 0 ? "in a group that it has not waited for" : "in no committed group"),
        {}, {.instruction = kernel_.events[followed.store].instruction});
  }

  bool retreat(PathState& state, std::int32_t rank) override {
    // In the next iteration, the same terms may give another address than the store's.
    Followed followed = unpack(state.memory);
    followed.stale |= kernel_.values.before(kernel_.events[followed.store].shared, rank).known < 32;
    state.memory = pack(followed);
    return true;
  }

 private:
  /// A store in flight, and the number of groups committed since, its own included.
  struct Followed {
    std::uint32_t store = 0;
    std::uint32_t age = 0;
    bool stale = false;  ///< whether its address is no longer known
  };
  static constexpr std::uint32_t oldest = 7;  ///< stands for this age and greater ones
  static constexpr std::size_t max_compared = 256;

  static std::uint64_t pack(const Followed& followed) {
    return ((followed.store + 1ULL) * (oldest + 1) + followed.age) * 2 + (followed.stale ? 1 : 0);
  }
  static Followed unpack(std::uint64_t memory) {
    return {static_cast<std::uint32_t>(memory / 2 / (oldest + 1) - 1),
            static_cast<std::uint32_t>(memory / 2 % (oldest + 1)), memory % 2 != 0};
  }

  /// Whether the event surely writes a byte that the store reads.
  [[nodiscard]] bool overwrites(const Event& event, std::uint32_t index) const {
    const Event& store = kernel_.events[index];
    const auto distance = Values::difference32(event.shared, store.shared);
    if (!distance) return false;
    const std::uint64_t read = std::max<std::uint64_t>(store.bytes.number().value_or(1), 1);
    const std::uint64_t written =
        event.kind == Kind::write ? event.access_bytes : event.bytes.number().value_or(1);
    return *distance >= 0 ? static_cast<std::uint64_t>(*distance) < read
                          : static_cast<std::uint64_t>(-std::int64_t{*distance}) < written;
  }

  void report_reuse(const Event& event, const Followed& followed, check::RuleId rule) {
    findings_.add(event.instruction, rule,
                  fmt::format("shared memory is written again while the bulk store at {} may still read it",
                              kernel_.line_of(kernel_.events[followed.store].instruction)),
                  {}, {.instruction = kernel_.events[followed.store].instruction});
  }

  std::vector<std::uint32_t> stores_;
};

}  // namespace

void check_groups(const Kernel& kernel, Findings& findings) {
  if (!kernel.has(Kind::bulk_store)) return;
  GroupCheck check(kernel, findings);
  explore(check, "exit.store-unread");
}

}  // namespace lint
TMAJIT_END
