#include "sim/engine/transactions.hpp"

#include "sim/cta/cta.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace sim {
namespace {

std::uint64_t sum_of(const std::vector<TransactionPart>& parts) {
  return std::accumulate(parts.begin(), parts.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const TransactionPart& part) { return sum + part.bytes; });
}

/// " (PTX lines 15, 19)"
std::string lines_of(const Cta& cta, const std::vector<TransactionPart>& parts) {
  if (parts.empty()) return {};
  std::string text;
  for (const TransactionPart& part : parts) {
    text += fmt::format("{}{}", text.empty() ? "" : ", ", cta.program.locations[part.location].line);
    if (part.times > 1) text += fmt::format(" {} times", part.times);
  }
  return fmt::format(" (PTX line{} {})", parts.size() == 1 ? "" : "s", text);
}

/// "6144 bytes are expected (PTX line 15), 4096 came (PTX line 17)"
std::string sums(const Cta& cta, const PhaseTransactions& phase) {
  const std::uint64_t came = sum_of(phase.completed);
  return fmt::format("{} bytes are expected{}, {} came{}", sum_of(phase.expected),
                     lines_of(cta, phase.expected), came == 0 ? "none" : std::to_string(came),
                     lines_of(cta, phase.completed));
}

std::string name_of(std::uint64_t phase, const Cta& cta, std::uint32_t offset) {
  return fmt::format("phase {} of the mbarrier at shared address {:#x}{}", phase, offset + shared_base,
                     cta.cluster.size() == 1 ? "" : fmt::format(" of the CTA with rank {}", cta.rank));
}

constexpr check::RuleId wrong_bytes = "mbarrier.expected-bytes";

/// Reports at the first of these that exists: an instruction that expects bytes of the phase, one that
/// completes bytes, `other`.
void report(const PhaseTransactions& phase, std::string found, std::string expected,
            const TransactionPart* other = nullptr) {
  // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): without `other`, the phase has a part
  const TransactionPart& at = !phase.expected.empty()   ? phase.expected.front()
                              : phase.completed.empty() ? *other
                                                        : phase.completed.front();
  at.cta->report(at.thread, at.location, wrong_bytes, std::move(found), std::move(expected));
}

/// Throws Stop, unless the launch continues after violations of the rule.
void stop_unless_allowed(const Cta& cta) {
  if (!cta.launch.continues_after(wrong_bytes->id)) throw Stop{wrong_bytes->id};
}

/// Whether this mbarrier's bytes cause the deadlock. The cause may also be another wait, which keeps a thread
/// from issuing its copy.
bool is_cause(Cta& cta, std::uint32_t offset, const Mbarrier& barrier) {
  if (barrier.pending != 0 || barrier.bytes == 0) return false;
  const PhaseTransactions& phase = barrier.transactions.current();
  if (barrier.bytes < 0 || !phase.completed.empty()) return true;
  // No bytes have completed: a thread that expects them may be blocked elsewhere before it issues the copy.
  return std::ranges::all_of(phase.expected, [&](const TransactionPart& part) {
    const Warp& warp = *part.cta->warps[part.thread / lanes];
    const Mask lane = 1U << part.thread % lanes;
    if ((warp.live & lane) == 0) return true;
    return std::ranges::any_of(warp.groups, [&](const Group& group) {
      return (group.mask & lane) != 0 && group.wait.kind == Wait::Kind::mbarrier &&
             group.wait.what == offset && part.cta == &cta;
    });
  });
}

}  // namespace

void Transactions::next_phase() {
  std::swap(previous_, current_);
  current_.expected.clear();
  current_.completed.clear();
}

void Transactions::add(std::vector<TransactionPart>& parts, Cta& cta, std::uint32_t thread,
                       std::uint32_t location, std::uint64_t bytes) {
  auto at = std::ranges::find(parts, location, &TransactionPart::location);
  if (at == parts.end()) at = parts.insert(at, {&cta, thread, location, 0, 0});
  at->bytes += bytes;
  ++at->times;
  any_ = true;
}

void report_over_too_early(Cta& cta, std::uint32_t offset, const Mbarrier& barrier,
                           const TransactionPart& in_flight) {
  const PhaseTransactions& phase = barrier.transactions.current();
  report(
      phase,
      fmt::format("{} is over too early: {}, and the {} bytes of the copy at PTX line {} are still to come",
                  name_of(barrier.phase, cta, offset), sums(cta, phase), in_flight.bytes,
                  cta.program.locations[in_flight.location].line),
      fmt::format("{} bytes, those of all copies of the phase", sum_of(phase.completed) + in_flight.bytes),
      &in_flight);
  stop_unless_allowed(cta);
}

void report_too_late(Cta& cta, std::uint32_t offset, const Mbarrier& barrier, const TransactionPart& copy) {
  const PhaseTransactions& phase = barrier.transactions.previous();
  report(phase,
         fmt::format("{} can be over before the copy at PTX line {} is issued, whose {} bytes then count for "
                     "the next phase: {}, and nothing makes the copy wait for that phase's end",
                     name_of(barrier.phase - 1, cta, offset), cta.program.locations[copy.location].line,
                     copy.bytes, sums(cta, phase)),
         fmt::format("{} bytes, those of all copies of the phase; or a wait for the phase before the copy",
                     sum_of(phase.completed) + copy.bytes),
         &copy);
  stop_unless_allowed(cta);
}

void report_never_over(Cta& cta, std::uint32_t offset, const Mbarrier& barrier) {
  const PhaseTransactions& phase = barrier.transactions.current();
  report(phase,
         fmt::format("{} is never over, so that threads waiting for it hang: {}, which leaves {} bytes {}",
                     name_of(barrier.phase, cta, offset), sums(cta, phase), std::abs(barrier.bytes),
                     barrier.bytes < 0 ? "in excess" : "missing"),
         {});
  throw Stop{wrong_bytes->id};
}

void report_wrong_bytes(Cluster& cluster) {
  for (std::uint32_t rank = 0; rank < cluster.size(); ++rank) {
    Cta& cta = cluster.cta(rank);
    for (const auto& warp : cta.warps) {
      for (const Group& group : warp->groups) {
        if (group.wait.kind != Wait::Kind::mbarrier) continue;
        const Mbarrier* const barrier = cta.mbarrier(group.wait.what);
        if (barrier != nullptr && is_cause(cta, group.wait.what, *barrier))
          report_never_over(cta, group.wait.what, *barrier);
      }
    }
  }
}

}  // namespace sim
TMAJIT_END
