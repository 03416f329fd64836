#include "lint/checks.hpp"
#include "lint/paths.hpp"

#include <algorithm>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace lint {
namespace {

using Kind = Event::Kind;

/// Follows one bulk store a path: until its group is committed, and until a wait covers that group.
class GroupCheck final : public PathCheck {
 public:
  GroupCheck(const Kernel& kernel, Findings& findings) : kernel_(kernel), findings_(findings) {}

  void step(std::uint32_t index, const PathState& state, std::vector<PathState>& next) override {
    const Event& event = kernel_.events[index];
    const std::uint64_t store = state.memory / phases;
    const std::uint64_t phase = state.memory % phases;
    if (state.memory == 0) {
      next.push_back(state);
      if (event.kind == Kind::bulk_store) next.push_back({(index + 1) * phases, state.facts});
      return;
    }
    switch (event.kind) {
      case Kind::commit:
        // Phase 1 is the newest group, 2 the one before it …
        next.push_back({store * phases + std::min(phase + 1, phases - 1), state.facts});
        return;
      case Kind::wait_group:
        if (phase > event.groups || phase == phases - 1) return;
        break;
      case Kind::call: return;
      default: break;
    }
    next.push_back(state);
  }

  void end(std::uint32_t instruction, const PathState& state) override {
    if (state.memory == 0) return;
    const Event& store = kernel_.events[state.memory / phases - 1];
    const bool committed = state.memory % phases != 0;
    findings_.add(
        kernel_, store.instruction, "exit.store-unread",
        fmt::format("a thread ends at {} with this bulk store {}", line_of(kernel_, instruction),
                    committed ? "in a group that it has not waited for" : "in no committed group"),
        "cp.async.bulk.commit_group after it, and wait_group 0 (.read at least) before the thread ends",
        "the CTA's shared memory goes to another CTA while the copy engine still reads it");
  }

 private:
  static constexpr std::uint64_t phases = 8;
  const Kernel& kernel_;
  Findings& findings_;
};

}  // namespace

void check_groups(const Kernel& kernel, Findings& findings) {
  if (!kernel.has(Kind::bulk_store)) return;
  GroupCheck check(kernel, findings);
  if (!explore(kernel, check)) findings.unfinished(kernel, "exit.store-unread");
}

}  // namespace lint
TMAJIT_END
