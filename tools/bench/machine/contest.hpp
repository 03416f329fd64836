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

/// Enqueues one launch on the contest's stream, on set number `set` of the buffers.
using Contestant = std::function<void(std::size_t set)>;

/// Buffers of successive launches.
enum class Memory : std::uint8_t {
  one_set,    ///< the same buffers for all launches, which may stay in L2
  beyond_l2,  ///< several sets of buffers, which together do not fit L2
};

/// How contestants are timed.
struct ContestPlan {
  unsigned rounds = 15;      ///< samples of each contestant
  std::size_t launches = 1;  ///< launches in a sample, one after the other
  std::size_t sets = 1;      ///< sets of buffers, which launches take in turn
  bool graph = false;        ///< whether the launches are a chain of nodes of one CUDA graph
};

/// Times contestants in turn, round by round, so that changes in the machine's speed affect all of them.
class Contest {
 public:
  /// Without a driver (on the simulated device) no graphs are used.
  Contest(std::shared_ptr<tmajit::Device> device, tmajit::Stream stream, const RawDriver* driver);
  /// How to time launches that move `bytes` each. Launches of less than 128 MiB, some 30 µs, are timed as the
  /// nodes of a graph: many nodes then share the few microseconds that one launch costs the host and the GPU.
  [[nodiscard]] ContestPlan plan(std::uint64_t bytes, unsigned rounds, Memory memory) const;
  /// Microseconds of one launch of each contestant.
  [[nodiscard]] std::vector<Samples> run(std::span<const Contestant> contestants,
                                         const ContestPlan& plan) const;

 private:
  /// Overwrites memory, which takes half a millisecond on an H200. Meanwhile the host enqueues the next
  /// launches, and afterwards L2 is in the same state for every contestant.
  void reset_l2() const;

  std::shared_ptr<tmajit::Device> device_;
  tmajit::Stream stream_;
  const RawDriver* driver_;
  tmajit::Buffer scratch_;
};

}  // namespace bench
