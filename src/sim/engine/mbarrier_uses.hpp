#pragma once

/// The arrivals and waits of threads at one mbarrier. Reports use them to find the mistake behind a symptom
/// at another instruction.
#include <tmajit/version.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

TMAJIT_BEGIN
namespace sim {

class MbarrierUses {
 public:
  /// The arrivals and waits of one thread. A location is an index into Program::locations.
  struct Thread {
    std::uint32_t arrival = 0;        ///< 1 + location of its last arrival; 0: none
    std::uint32_t wait = 0;           ///< 1 + location of its last completed wait; 0: none
    std::uint64_t arrived_in = 0;     ///< phase of the last arrival
    std::uint64_t ended = 0;          ///< number of completed phases when the last wait ended
    std::uint32_t sync_arrivals = 0;  ///< Warp::sync_arrivals when the last wait ended
    /// The same phase ended the last two waits, although the warp arrived at some barrier between them.
    bool repeated = false;
    bool arrived_twice = false;        ///< has arrived twice in one phase
    bool ever_repeated = false;        ///< `repeated` has been true at some time
    std::uint64_t repeated_ended = 0;  ///< `ended` when `repeated` was last true
  };

  // A thread is named by its number in the cluster (Cta::number_of).

  void arrive(std::uint32_t thread, std::uint32_t location, std::uint64_t phase) {
    Thread& uses = at(thread);
    if (uses.arrival == 0) {
      ++arrivers_;
    } else if (uses.arrived_in == phase) {
      uses.arrived_twice = true;
    }
    uses.arrival = location + 1;
    uses.arrived_in = phase;
  }
  /// A wait of the thread has ended after `ended` phases.
  void pass(std::uint32_t thread, std::uint32_t location, std::uint64_t ended, std::uint32_t sync_arrivals) {
    Thread& uses = at(thread);
    uses.repeated = uses.wait != 0 && uses.ended == ended && uses.sync_arrivals != sync_arrivals;
    if (uses.repeated) {
      uses.ever_repeated = true;
      uses.repeated_ended = ended;
    }
    uses.wait = location + 1;
    uses.ended = ended;
    uses.sync_arrivals = sync_arrivals;
  }
  /// Number of threads that have ever arrived.
  [[nodiscard]] std::uint32_t arrivers() const noexcept { return arrivers_; }
  [[nodiscard]] Thread of(std::uint32_t thread) const {
    return thread < all_.size() ? all_[thread] : Thread();
  }
  /// By thread. Threads beyond the end have done nothing.
  [[nodiscard]] const std::vector<Thread>& all() const noexcept { return all_; }

 private:
  Thread& at(std::uint32_t thread) {
    if (thread >= all_.size()) all_.resize((thread | 31U) + 1);
    return all_[thread];
  }

  std::vector<Thread> all_;
  std::uint32_t arrivers_ = 0;
};

}  // namespace sim
TMAJIT_END
