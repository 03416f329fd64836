#pragma once

/// The copies of cp.async (PTX ISA 9.7.9.25.3): 4, 8 or 16 bytes by a thread, in groups of that thread or
/// completing on an mbarrier. They are done as late as they may be.
#include "sim/program.hpp"

#include <cstdint>
#include <deque>
#include <unordered_map>

TMAJIT_BEGIN
namespace sim {

class Cta;
struct Warp;

struct SmallCopy {
  std::uint64_t global = 0;
  std::uint32_t shared = 0;  ///< offset in the CTA's shared memory
  std::uint32_t bytes = 0;   ///< written
  std::uint32_t given = 0;   ///< read; the rest is zeros
  std::uint32_t thread = 0;
  std::uint64_t group = 0;
  std::uint32_t place = 0;
};

class SmallCopies {
 public:
  explicit SmallCopies(Cta& cta) : cta_(cta) {}

  void issue(SmallCopy copy, const Warp& warp, std::uint32_t lane);
  void commit_group(std::uint32_t thread) { ++next_group_[thread]; }
  /// Completes the thread's groups but the newest `pending`.
  void wait_group(std::uint32_t thread, std::uint64_t pending);
  /// Completes all that the thread has issued, committed or not.
  void wait_all(std::uint32_t thread);
  /// Arrives at the mbarrier at `offset` when what the thread has issued so far is complete.
  void arrive_later(std::uint32_t thread, std::uint32_t offset, std::uint32_t place);

  /// Completes what one arrival waits for, if there is one.
  bool deliver();
  void reset();

 private:
  struct Arrival {
    std::uint32_t thread = 0;
    std::uint32_t offset = 0;
    std::uint32_t place = 0;
    std::uint64_t serial = 0;  ///< copies issued from then on are none of its business
  };
  struct Pending {
    SmallCopy copy;
    std::uint64_t serial = 0;
  };

  void complete(const SmallCopy& copy);
  /// Completes the thread's copies that `due` says, in order.
  template <typename Due>
  void complete_if(std::uint32_t thread, const Due& due);

  Cta& cta_;
  std::deque<Pending> pending_;  ///< in order of issue
  std::deque<Arrival> arrivals_;
  std::unordered_map<std::uint32_t, std::uint64_t> next_group_;
  std::uint64_t serial_ = 0;
};

}  // namespace sim
TMAJIT_END
