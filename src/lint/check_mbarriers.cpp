#include "lint/checks.hpp"

#include <algorithm>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace lint {
namespace {

using Kind = Event::Kind;

constexpr std::uint64_t most_arrivals = (1ULL << 20) - 1;
constexpr std::uint64_t most_bytes = (1ULL << 20) - 1;

void check_counts(const Kernel& kernel, const Event& event, Findings& findings) {
  const auto number = event.bytes.number();
  if (!number) return;
  if (event.kind == Kind::init && (*number == 0 || *number > most_arrivals)) {
    findings.add(kernel, event.instruction, "mbarrier.count",
                 fmt::format("mbarrier.init with {} arrivals", *number), "1 to 2^20 - 1 arrivals",
                 "count the threads that arrive in a phase");
  }
  if ((event.kind == Kind::expect || event.kind == Kind::arrive_expect) && *number > most_bytes) {
    findings.add(kernel, event.instruction, "mbarrier.bytes-overflow",
                 fmt::format("a transaction count of {} bytes", *number), "a count within ±(2^20 - 1)",
                 "load less in one phase");
  }
}

bool uses_barrier(const Event& event) {
  switch (event.kind) {
    case Kind::bulk_load:
    case Kind::expect:
    case Kind::arrive_expect:
    case Kind::arrive:
    case Kind::wait: return true;
    default: return false;
  }
}

/// Whether the address is of this CTA's shared memory as far as the kernel says: another's barriers, and
/// those whose address comes from memory, are none of its business.
bool is_own(const Kernel& kernel, const Event& event) {
  const ptx::Variable* variable = kernel.values.variable_of(event.barrier);
  return variable != nullptr && variable->space == ptx::StateSpace::shared;
}

bool may_be_among(const Kernel& kernel, const Event& event, Kind kind) {
  return std::any_of(kernel.events.begin(), kernel.events.end(), [&](const Event& other) {
    return other.kind == kind && kernel.may_overlap(event.barrier, 8, other.barrier, 8);
  });
}

}  // namespace

void check_mbarriers(const Kernel& kernel, Findings& findings) {
  const bool calls = kernel.has(Kind::call);
  for (const Event& event : kernel.events) {
    check_counts(kernel, event, findings);
    if (calls || !uses_barrier(event) || !is_own(kernel, event)) continue;
    if (!may_be_among(kernel, event, Kind::init)) {
      findings.add(kernel, event.instruction, "mbarrier.uninitialised",
                   "an mbarrier that this kernel initialises nowhere", "mbarrier.init before any other use",
                   "initialise it in one thread, fence, and synchronise the CTA before others use it");
    } else if (event.kind == Kind::bulk_load && !may_be_among(kernel, event, Kind::wait)) {
      findings.add(kernel, event.instruction, "mbarrier.never-waited",
                   "a load that completes on an mbarrier that this kernel waits for nowhere",
                   "a try_wait on the load's mbarrier before its bytes are used",
                   "wait for the phase before shared memory is read, and before the CTA ends");
    }
  }
}

}  // namespace lint
TMAJIT_END
