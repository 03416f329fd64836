#include "lint/checks.hpp"
#include "lint/paths.hpp"

#include <algorithm>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace lint {
namespace {

using Kind = Event::Kind;

/// Follows each thread to its first barrier: until then it may use no mbarrier but one of its own making.
class InitOrder final : public PathCheck {
 public:
  InitOrder(const Kernel& kernel, Findings& findings) : kernel_(kernel), findings_(findings) {}

  void step(std::uint32_t index, const PathState& state, std::vector<PathState>& next) override {
    const Event& event = kernel_.events[index];
    switch (event.kind) {
      // An initialiser has done its part; whom a thread has met may have.
      case Kind::init:
      case Kind::sync:
      case Kind::call: return;
      case Kind::bulk_load:
      case Kind::expect:
      case Kind::arrive_expect:
      case Kind::arrive:
      case Kind::wait:
        if (const Event* init = initialiser(event)) {
          findings_.add(
              kernel_, event.instruction, "mbarrier.uninitialised",
              fmt::format("a thread can come here without a barrier, before another has initialised the "
                          "mbarrier at {}",
                          line_of(kernel_, init->instruction)),
              "mbarrier.init before any other use",
              "initialise it in one thread, fence, and synchronise the CTA before others use it");
          return;
        }
        break;
      default: break;
    }
    next.push_back(state);
  }

 private:
  [[nodiscard]] const Event* initialiser(const Event& use) const {
    const ptx::Variable* variable = kernel_.values.variable_of(use.barrier);
    if (variable == nullptr || variable->space != ptx::StateSpace::shared) return nullptr;
    const auto found = std::find_if(kernel_.events.begin(), kernel_.events.end(), [&](const Event& event) {
      return event.kind == Kind::init && kernel_.may_overlap(event.barrier, 8, use.barrier, 8);
    });
    return found == kernel_.events.end() ? nullptr : &*found;
  }

  const Kernel& kernel_;
  Findings& findings_;
};

}  // namespace

void check_init_order(const Kernel& kernel, Findings& findings) {
  if (!kernel.has(Kind::init)) return;
  InitOrder check(kernel, findings);
  if (!explore(kernel, check)) findings.unfinished(kernel, "mbarrier.uninitialised");
}

}  // namespace lint
TMAJIT_END
