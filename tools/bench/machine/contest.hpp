#pragma once

#include "program.hpp"
#include "raw_libraries.hpp"

#include <tmajit/device.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace bench {

/// Enqueues one launch on the contest's stream, on buffers number `set`.
using Contestant = std::function<void(std::size_t set)>;

/// Buffers of successive launches.
enum class Memory : std::uint8_t {
  one_set,    ///< the same buffers for all launches, which may stay in L2
  beyond_l2,  ///< so many sets of buffers that they do not fit L2 together
};

/// How contestants are timed.
struct ContestPlan {
  unsigned rounds = 15;      ///< samples of each contestant
  std::size_t launches = 1;  ///< launches in a sample, one after the other
  std::size_t sets = 1;      ///< sets of buffers, which launches take in turn
  bool graph = false;        ///< the launches are nodes of one CUDA graph, a chain
};

/// Times contestants in turn, round by round, so that what changes in the machine changes for all of them.
class Contest {
 public:
  /// Without a driver (the simulated device) there are no graphs.
  Contest(std::shared_ptr<tmajit::Device> device, tmajit::Stream stream, const RawDriver* driver);
  /// The plan for launches that move `bytes` each. Those of less than 128 MiB, some 30 µs, are nodes of a
  /// graph, whose launch costs the host and the GPU a few microseconds that many nodes share.
  [[nodiscard]] ContestPlan plan(std::uint64_t bytes, unsigned rounds, Memory memory) const;
  /// Microseconds of one launch of each contestant.
  [[nodiscard]] std::vector<Samples> run(std::span<const Contestant> contestants,
                                         const ContestPlan& plan) const;

 private:
  /// Overwrites memory, half a millisecond on an H200: the host gets ahead with enqueuing meanwhile, and
  /// every contestant finds L2 in the same state.
  void space() const;

  std::shared_ptr<tmajit::Device> device_;
  tmajit::Stream stream_;
  const RawDriver* driver_;
  tmajit::Buffer scratch_;
};

}  // namespace bench
