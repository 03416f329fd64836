#include "lint/checks.hpp"

#include <algorithm>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace lint {
namespace {

using Kind = Event::Kind;

/// True if both events certainly use the same map, false if they certainly use different maps; else nullopt.
std::optional<bool> same_map(const Event& a, const Event& b) {
  if (!a.map_address.exact() || !b.map_address.exact()) return {};
  if (Values::same(a.map_address, b.map_address)) return true;
  const auto distance = Values::difference32(a.map_address, b.map_address);
  return distance && *distance != 0 ? std::optional(false) : std::nullopt;
}

bool is_copy(const Event& event) {
  return event.is_tensor && (event.kind == Kind::bulk_load || event.kind == Kind::bulk_store);
}

/// Follows a thread from its change of a tensor map to its copies through that map: before the copy, this
/// thread or one that it meets must execute the acquire fence.
class MapCheck final : public PathCheck {
 public:
  MapCheck(const Kernel& kernel, Findings& findings)
      : PathCheck(kernel, findings), others_acquire_(kernel.has(Kind::map_acquire)) {}

  [[nodiscard]] bool concerns(std::uint32_t index, bool remembers) const override {
    const Event& event = kernel_.events[index];
    if (!remembers) return event.kind == Kind::map_change && event.map_address.exact();
    switch (event.kind) {
      case Kind::map_acquire:
      case Kind::call: return true;
      case Kind::sync:
      case Kind::wait: return others_acquire_;
      default: return is_copy(event);
    }
  }

  void step(std::uint32_t index, const PathState& state, std::vector<PathState>& next) override {
    const Event& event = kernel_.events[index];
    if (state.memory == 0) {
      next.push_back(state);
      next.push_back({index + 1ULL, index, false, state.facts});
      return;
    }
    const Event& change = kernel_.events[state.memory - 1];
    if (event.kind == Kind::call) return;
    const bool may_meet = event.kind == Kind::sync || event.kind == Kind::wait;
    if (may_meet) return;
    const auto same = same_map(change, event);
    if (event.kind == Kind::map_acquire && same != false) return;
    if (is_copy(event) && same == true) {
      findings_.add(event.instruction, "tensormap.not-acquired",
                    fmt::format("a copy through the tensor map that {} changes, with no "
                                "fence.proxy.tensormap::generic.acquire between",
                                kernel_.line_of(change.instruction)));
      return;
    }
    next.push_back(state);
  }

  bool retreat(PathState& state, std::int32_t rank) override {
    // In the next iteration, the address may be another map's.
    const Value& address = kernel_.events[state.memory - 1].map_address;
    return Values::same(kernel_.values.before(address, rank), address);
  }

 private:
  bool others_acquire_;  ///< whether another thread may execute the acquire fence
};

}  // namespace

void check_map_changes(const Kernel& kernel, Findings& findings) {
  if (!kernel.has(Kind::map_change)) return;
  MapCheck check(kernel, findings);
  explore(check, "tensormap.not-acquired");
}

}  // namespace lint
TMAJIT_END
