#pragma once

#include "raw_driver.hpp"
#include "samples.hpp"

#include <tmajit/device.hpp>

#include <functional>
#include <span>
#include <vector>

namespace movement {

/// Enqueues one move on the contest's stream.
using Contestant = std::function<void()>;

/// How contestants are timed.
struct ContestPlan {
  unsigned rounds = 15;      ///< samples of each
  std::size_t launches = 1;  ///< in a sample, one after the other
  bool graph = false;        ///< the launches are nodes of one CUDA graph, a chain
};

/// Moves of less than 128 MiB are nodes of a graph, whose launch costs the host and the GPU a few
/// microseconds that many nodes share.
ContestPlan plan_contest(std::uint64_t bytes, unsigned rounds);

/// Times contestants in turn, round by round, so that what changes in the machine changes for all of them.
class Contest {
 public:
  /// Without a driver (the simulator) there are no graphs.
  Contest(std::shared_ptr<tmajit::Device> device, tmajit::Stream stream, const bench::RawDriver* driver);
  /// Microseconds of one launch of each contestant.
  std::vector<bench::Samples> run(std::span<const Contestant> contestants, const ContestPlan& plan) const;

 private:
  /// Overwrites memory, half a millisecond on an H200: the host gets ahead with enqueuing meanwhile, and
  /// every contestant finds L2 in the same state.
  void space() const;

  std::shared_ptr<tmajit::Device> device_;
  tmajit::Stream stream_;
  const bench::RawDriver* driver_;
  tmajit::Buffer scratch_;
};

}  // namespace movement
