#include "sim/launch/flights.hpp"

#include <algorithm>

TMAJIT_BEGIN
namespace sim {

Flights Streams::before(Stream stream, const LaunchShape& shape) {
  const std::lock_guard lock(mutex_);
  if (!shape.overlaps || shape.scratch_bytes > 0) {
    flights_.erase(stream);
    return {};
  }
  const auto found = flights_.find(stream);
  return found == flights_.end() ? Flights{} : found->second;
}

void Streams::add(Stream stream, std::shared_ptr<const Flight> flight) {
  const std::lock_guard lock(mutex_);
  Flights& flights = flights_[stream];
  // This launch waits for earlier ones and does not let the next begin early. So the next launch begins after
  // it, and hence after the earlier launches.
  if (flight->waited && !flight->triggered) flights.clear();
  flights.insert(flights.begin(), std::move(flight));
  flights.resize(std::min(flights.size(), max_flights));
}

void Streams::finish(Stream stream) {
  const std::lock_guard lock(mutex_);
  if (stream == nullptr) {
    flights_.clear();
  } else {
    flights_.erase(stream);
  }
}

}  // namespace sim
TMAJIT_END
