#pragma once

/// The bytes that the phases of an mbarrier expect, and those that came: for reports of bytes that do not add
/// up.
#include <tmajit/version.hpp>

#include <cstdint>
#include <string>
#include <vector>

TMAJIT_BEGIN
namespace sim {

class Cta;
class Cluster;
struct Mbarrier;

/// Bytes that instructions at one place expect or bring.
struct TransactionPart {
  Cta* by = nullptr;         ///< whose thread was the first
  std::uint32_t thread = 0;  ///< the first
  std::uint32_t place = 0;   ///< index into Program::place
  std::uint64_t bytes = 0;   ///< of all of them
  std::uint32_t times = 0;   ///< how many
};

/// Of one phase.
struct PhaseTransactions {
  std::vector<TransactionPart> expected;  ///< by expect_tx
  std::vector<TransactionPart> came;      ///< by copies, and by complete_tx
};

/// Of the present phase and the one before.
class Transactions {
 public:
  void expect(Cta& by, std::uint32_t thread, std::uint32_t place, std::uint64_t bytes) {
    add(now_.expected, by, thread, place, bytes);
  }
  void came(Cta& by, std::uint32_t thread, std::uint32_t place, std::uint64_t bytes) {
    add(now_.came, by, thread, place, bytes);
  }
  void next_phase();
  /// Whether any phase has expected bytes, or got some.
  [[nodiscard]] bool any() const noexcept { return any_; }
  [[nodiscard]] const PhaseTransactions& now() const noexcept { return now_; }
  [[nodiscard]] const PhaseTransactions& before() const noexcept { return before_; }

 private:
  void add(std::vector<TransactionPart>& parts, Cta& by, std::uint32_t thread, std::uint32_t place,
           std::uint64_t bytes);

  bool any_ = false;
  PhaseTransactions now_;
  PhaseTransactions before_;
};

// Reports of rule mbarrier.expected-bytes; `offset` is the mbarrier's in the shared memory of `cta`.

/// The phase has got all that it expects while a copy that was issued in it is in flight. Stops, unless the
/// launch goes on.
void report_over_too_early(Cta& cta, std::uint32_t offset, const Mbarrier& barrier,
                           const TransactionPart& in_flight);
/// A copy is issued in the phase behind the one that its thread knows of, which has got all it expected.
/// Stops, unless the launch goes on.
void report_too_late(Cta& cta, std::uint32_t offset, const Mbarrier& barrier, const TransactionPart& copy);
/// All have arrived in the phase, and its bytes will never add up. Stops.
[[noreturn]] void report_never_over(Cta& cta, std::uint32_t offset, const Mbarrier& barrier);

/// Where nobody in the cluster can go on and no copy is in flight: reports and stops if wrong bytes are the
/// cause.
void report_wrong_bytes(Cluster& cluster);

}  // namespace sim
TMAJIT_END
