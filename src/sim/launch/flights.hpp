#pragma once

/// Launches of a stream that a later one may overlap (PTX ISA, "griddepcontrol"). Here each is over before
/// the next begins; what it did to memory is kept, to name what a GPU leaves to chance.
#include "sim/launch/launch.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <vector>

TMAJIT_BEGIN
namespace sim {

/// A launch that is over here, and might run still on a GPU.
struct Flight {
  std::shared_ptr<const Program> program;
  LaunchShape shape;
  Triple cluster{1, 1, 1};
  std::shared_ptr<LaunchOrder> order;  ///< its accesses; null: not recorded
  bool waited = false;                 ///< a thread executed griddepcontrol.wait
  bool triggered = false;              ///< a thread executed griddepcontrol.launch_dependents
};

/// The flights of each stream. Thread-safe.
class Streams {
 public:
  /// Returns the flights that a launch of this shape may overlap, the latest first. The rest are dropped.
  [[nodiscard]] Flights before(Stream stream, const LaunchShape& shape);
  void add(Stream stream, std::shared_ptr<const Flight> flight);
  /// Work that waits for all before it has come to the stream; to null, to every stream.
  void finish(Stream stream);

 private:
  /// A chain of kernels each of which lets the next begin at once is followed so far back.
  static constexpr std::size_t most = 3;

  std::mutex mutex_;
  std::map<Stream, Flights> flights_;
};

}  // namespace sim
TMAJIT_END
