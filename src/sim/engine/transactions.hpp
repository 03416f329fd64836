#pragma once

/// The bytes that the phases of an mbarrier expect, and the bytes that copies complete. Reports use them for
/// phases in which the two differ.
#include <tmajit/version.hpp>

#include <cstdint>
#include <string>
#include <vector>

TMAJIT_BEGIN
namespace sim {

class Cta;
class Cluster;
struct Mbarrier;

/// The bytes that one instruction expects or completes in a phase, summed over all threads.
struct TransactionPart {
  Cta* cta = nullptr;          ///< CTA of the first thread
  std::uint32_t thread = 0;    ///< the first thread that executed the instruction
  std::uint32_t location = 0;  ///< index into Program::locations
  std::uint64_t bytes = 0;     ///< sum over all executions
  std::uint32_t times = 0;     ///< number of executions
};

/// The bytes of one phase.
struct PhaseTransactions {
  std::vector<TransactionPart> expected;   ///< expect_tx
  std::vector<TransactionPart> completed;  ///< copies and complete_tx
};

/// The bytes of an mbarrier's current and previous phase.
class Transactions {
 public:
  void expect(Cta& cta, std::uint32_t thread, std::uint32_t location, std::uint64_t bytes) {
    add(current_.expected, cta, thread, location, bytes);
  }
  void complete(Cta& cta, std::uint32_t thread, std::uint32_t location, std::uint64_t bytes) {
    add(current_.completed, cta, thread, location, bytes);
  }
  void next_phase();
  /// Whether any phase has expected or completed bytes.
  [[nodiscard]] bool any() const noexcept { return any_; }
  [[nodiscard]] const PhaseTransactions& current() const noexcept { return current_; }
  [[nodiscard]] const PhaseTransactions& previous() const noexcept { return previous_; }

 private:
  void add(std::vector<TransactionPart>& parts, Cta& cta, std::uint32_t thread, std::uint32_t location,
           std::uint64_t bytes);

  bool any_ = false;
  PhaseTransactions current_;
  PhaseTransactions previous_;
};

// Reports of rule mbarrier.expected-bytes. The mbarrier is at `offset` in the shared memory of `cta`. Each
// function throws Stop; the first two return instead if the launch continues after violations of the rule.

/// Reports a phase that is complete while a copy issued in it is still in flight.
void report_over_too_early(Cta& cta, std::uint32_t offset, const Mbarrier& barrier,
                           const TransactionPart& in_flight);
/// Reports a copy that may be issued before the previous phase is over, because nothing orders it: its bytes
/// may count for that phase or for the next.
void report_too_late(Cta& cta, std::uint32_t offset, const Mbarrier& barrier, const TransactionPart& copy);
/// Reports a phase that has all its arrivals and whose bytes can never match.
[[noreturn]] void report_never_over(Cta& cta, std::uint32_t offset, const Mbarrier& barrier);

/// Called when no thread of the cluster can continue and no copy is in flight. If wrong bytes are the cause,
/// reports them and throws Stop.
void report_wrong_bytes(Cluster& cluster);

}  // namespace sim
TMAJIT_END
