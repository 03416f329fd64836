#include "plan/cost_model.hpp"

#include "spec/saturate.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

TMAJIT_BEGIN
namespace {

constexpr double launch_us = 0.9;           // of a kernel node in a graph, before its first load
constexpr double memory_latency_us = 0.35;  // a load, a barrier and a store
constexpr double engine_latency_us = 0.6;   // more, where the copy engine loads: a map and an mbarrier
constexpr double sm_bytes_per_us = 90e3;    // that an SM moves, reads and writes together
constexpr double wanted_in_flight = 32e3;   // bytes of loads an SM, for full speed
constexpr double clearly = 0.97;            // of the first candidate's time

/// Bytes that a tile takes of an operand's memory in one piece.
double run_bytes(const Footprint& footprint, const CanonicalNest& nest, const Problem& problem,
                 std::uint32_t operand) {
  double run = 1;
  std::int64_t expected = 1;
  // Dimensions are few: looking for each stride in turn costs less than sorting them.
  for (std::uint32_t joined = 0; joined < nest.rank; ++joined) {
    std::uint32_t found = nest.rank;
    for (std::uint32_t d = 0; d < nest.rank; ++d) {
      if (std::abs(nest.operand[operand].strides[d]) == expected && nest.shape[d] > 1) found = d;
    }
    if (found == nest.rank) break;
    run *= static_cast<double>(std::min<std::uint64_t>(footprint.box[found], nest.shape[found]));
    if (footprint.box[found] < nest.shape[found]) break;
    expected *= static_cast<std::int64_t>(nest.shape[found]);
    if (expected == 1) break;
  }
  return run * problem.element_bytes(operand);
}

/// The part of the memory's speed that pieces of so many bytes reach: 0.98 at 256, 0.87 at 128, as measured
/// with transposes.
double run_efficiency(double bytes) {
  const double counted = std::min(bytes, 256.0);
  return counted / (counted + 18);
}

std::uint64_t tiles_of(const Footprint& footprint, const CanonicalNest& nest) {
  std::uint64_t tiles = 1;
  for (std::uint32_t d = 0; d < nest.rank; ++d)
    tiles = sat_mul(tiles, ceil_div(nest.shape[d], footprint.box[d]));
  return tiles;
}

}  // namespace

Prediction predict(const Candidate& candidate, const Problem& problem, const Chip& chip) {
  const Footprint footprint = candidate.family->footprint(candidate, problem);
  const CanonicalNest& nest = candidate.nest;
  const auto tiles = static_cast<double>(tiles_of(footprint, nest));
  const std::uint32_t resident = resident_ctas(footprint);
  const auto bytes = static_cast<double>(problem.bytes_read() + problem.bytes_written());
  Prediction result{.issue_us = footprint.issue_us,
                    .write_run_bytes = run_bytes(footprint, nest, problem, 0),
                    .read_run_bytes = bytes,
                    .fill = footprint.fill,
                    .in_flight = static_cast<double>(footprint.bytes_in_flight) * resident,
                    .waves = tiles / (static_cast<double>(resident) * chip.sm_count)};

  // The memory: each operand at the speed of its pieces.
  double memory = static_cast<double>(problem.bytes_written()) / run_efficiency(result.write_run_bytes);
  const double read = static_cast<double>(problem.bytes_read()) / std::max(problem.sources(), 1U);
  for (std::uint32_t i = 1; i <= problem.sources(); ++i) {
    const double run = run_bytes(footprint, nest, problem, i);
    memory += read / run_efficiency(run);
    result.read_run_bytes = std::min(result.read_run_bytes, run);
  }
  memory /= chip.gbps * 1e3 * footprint.fill;
  memory *= std::max(1.0, std::sqrt(wanted_in_flight / std::max(result.in_flight, 1.0)));

  // The last wave: SMs that wait for it do nothing.
  memory = std::max(memory, footprint.issue_us / chip.sm_count);
  if (result.waves > 1) memory *= std::ceil(result.waves) / result.waves * 0.5 + 0.5;

  // An SM's share, where there are too few tiles to fill the chip.
  const double of_sm = std::ceil(tiles / chip.sm_count);
  const double tile_bytes = bytes / std::max(tiles, 1.0);
  const double latency = memory_latency_us + (footprint.by_engine ? engine_latency_us : 0);
  result.memory_us = memory;
  result.sm_us = latency * std::ceil(of_sm / resident) + of_sm * tile_bytes / sm_bytes_per_us;
  result.us = launch_us + std::max(result.memory_us, result.sm_us);
  return result;
}

std::size_t usual_of(const std::vector<Candidate>& candidates) noexcept {
  const auto usual = std::ranges::max_element(candidates, {}, &Candidate::usual);
  return static_cast<std::size_t>(usual - candidates.begin());
}

std::size_t choose(const std::vector<Candidate>& candidates, const Problem& problem, const Chip& chip) {
  const std::size_t usual = usual_of(candidates);
  std::size_t best = usual;
  double least = clearly * predict(candidates[usual], problem, chip).us;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (i == usual || !candidates[i].common) continue;
    const double predicted = predict(candidates[i], problem, chip).us;
    if (predicted < least) {
      best = i;
      least = predicted;
    }
  }
  return best;
}

TMAJIT_END
