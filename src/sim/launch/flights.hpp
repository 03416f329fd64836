#pragma once

/// Launches of a stream that a later launch may overlap (PTX ISA, "griddepcontrol"). The simulator ends each
/// launch before it begins the next. It keeps the accesses of ended launches, and reports a later launch's
/// accesses that would race with them on a GPU.
#include "sim/launch/launch.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <vector>

TMAJIT_BEGIN
namespace sim {

/// A launch that has ended in the simulator, but might still run on a GPU.
struct Flight {
  std::shared_ptr<const Program> program;
  LaunchShape shape;
  Triple cluster{1, 1, 1};
  std::shared_ptr<LaunchOrder> order;  ///< the launch's accesses; null: not recorded
  bool waited = false;                 ///< a thread executed griddepcontrol.wait
  bool triggered = false;              ///< a thread executed griddepcontrol.launch_dependents
};

/// The flights of each stream. Thread-safe.
class Streams {
 public:
  /// Returns the flights that a launch of this shape may overlap, the latest first. A launch that must not
  /// overlap waits for all of them, so they are dropped.
  [[nodiscard]] Flights before(Stream stream, const LaunchShape& shape);
  void add(Stream stream, std::shared_ptr<const Flight> flight);
  /// Drops the flights of a stream, because new work in it waits for them. A null stream stands for all
  /// streams.
  void finish(Stream stream);

 private:
  /// Limit of the flights kept for a stream.
  static constexpr std::size_t max_flights = 3;

  std::mutex mutex_;
  std::map<Stream, Flights> flights_;
};

}  // namespace sim
TMAJIT_END
