#pragma once

#include "bench.hpp"
#include "samples.hpp"

#include <functional>
#include <span>
#include <vector>

namespace bench {

/// One side of a comparison: enqueues its work on set number `set` of rotating buffers.
using Contender = std::function<void(std::size_t set)>;

/// How often a measurement repeats what.
struct Plan {
  std::size_t sets = 1;      ///< of buffers, so that together they do not fit L2
  std::size_t launches = 1;  ///< in a measurement, one after the other
  unsigned rounds = 1;       ///< measurements of each contender
  bool graph = false;        ///< launched as one CUDA graph: the host is too slow for kernels this short
};

/// The plan for launches that move `bytes` each.
Plan plan_for(std::uint64_t bytes, unsigned rounds, const tmajit::DeviceInfo& device);

/// Memory that is overwritten between measurements. While that goes on the host gets ahead with enqueuing,
/// so its time is not measured, and whatever L2 held is gone.
class Spacer {
 public:
  explicit Spacer(const Gpu& gpu);
  void enqueue() const;

 private:
  const Gpu& gpu_;
  tmajit::Buffer scratch_;
};

/// Times the contenders in turn, round by round, so that what changes in the machine changes for all of
/// them. Returns for each the microseconds of one launch.
std::vector<Samples> race(Gpu& gpu, const Spacer& spacer, std::span<const Contender> contenders,
                          const Plan& plan);

}  // namespace bench
