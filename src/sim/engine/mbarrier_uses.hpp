#pragma once

/// The arrivals and waits of threads at one mbarrier: for reports of mistakes that show elsewhere.
#include <tmajit/version.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

TMAJIT_BEGIN
namespace sim {

class MbarrierUses {
 public:
  struct Thread {
    std::uint32_t arrival = 0;     ///< 1 + place of its last arrival; 0: it has not arrived
    std::uint32_t wait = 0;        ///< 1 + place of its last wait that ended; 0: none has
    std::uint64_t arrived_in = 0;  ///< phase of that arrival
    std::uint64_t ended = 0;       ///< phases that were over when that wait ended
    std::uint32_t steps = 0;       ///< Warp::steps when that wait ended
    bool repeated = false;  ///< the previous wait ended by the same phase, and the warp had gone on since
    bool arrived_twice = false;        ///< it has arrived twice in one phase
    bool ever_repeated = false;        ///< at some time, `again` was true …
    std::uint64_t repeated_ended = 0;  ///< … and `ended` had this value
  };

  // A thread is named by its number in the cluster (Cta::number_of).

  void arrive(std::uint32_t thread, std::uint32_t place, std::uint64_t phase) {
    Thread& uses = at(thread);
    if (uses.arrival == 0) {
      ++arrivers_;
    } else if (uses.arrived_in == phase) {
      uses.arrived_twice = true;
    }
    uses.arrival = place + 1;
    uses.arrived_in = phase;
  }
  void pass(std::uint32_t thread, std::uint32_t place, std::uint64_t ended, std::uint32_t steps) {
    Thread& uses = at(thread);
    uses.repeated = uses.wait != 0 && uses.ended == ended && uses.steps != steps;
    if (uses.repeated) {
      uses.ever_repeated = true;
      uses.repeated_ended = ended;
    }
    uses.wait = place + 1;
    uses.ended = ended;
    uses.steps = steps;
  }
  /// Threads that have ever arrived.
  [[nodiscard]] std::uint32_t arrivers() const noexcept { return arrivers_; }
  [[nodiscard]] Thread of(std::uint32_t thread) const {
    return thread < all_.size() ? all_[thread] : Thread();
  }
  /// Indexed by thread. Threads beyond the end have done nothing.
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
