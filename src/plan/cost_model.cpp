#include "plan/cost_model.hpp"

#include "plan/traffic.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>

TMAJIT_BEGIN
namespace {

constexpr double clearly = 0.97;    // of the usual candidate's time
constexpr double far_less = 0.6;    // of the time of kernels that many problems share: worth one of its own
constexpr double clearly_us = 0.1;  // less than the usual candidate's: launches differ by as much

/// How often 1 is doubled to be so much; 0 of what is less.
double doublings_of(double n) {
  return n > 1 ? std::log2(n) : 0;
}

/// The share of what moves that the L2 cache keeps.
double kept_share(const Prediction& prediction, const Costs& cost) {
  const double bytes = prediction.read.bytes + prediction.written.bytes;
  return std::clamp((cost.uncached_bytes - bytes) / (cost.uncached_bytes - cost.cached_bytes), 0.0, 1.0);
}

double memory_us(const Prediction& prediction, const Chip& chip) {
  const Costs& cost = chip.costs;
  const PredictedTraffic& read = prediction.read;
  const PredictedTraffic& written = prediction.written;
  const double bytes = read.bytes + written.bytes;
  const double kept = kept_share(prediction, cost);
  const double counted = bytes + cost.read_beside * read.beside + cost.read_run * read.runs +
                         cost.written_beside * written.beside +
                         cost.read_beside_kept * prediction.read_kept.beside +
                         cost.read_run_kept * prediction.read_kept.runs +
                         cost.written_beside_kept * prediction.written_kept.beside +
                         cost.written_run_kept * prediction.written_kept.runs;
  // Writes between reads turn the pages of DRAM.
  const double turned = std::min(2 * written.bytes / bytes, 1.0);
  const double doublings = turned * doublings_of(prediction.in_flight / cost.crowded_bytes);
  return counted * (1 + cost.crowding * doublings) /
         (chip.gbps * 1e3 * cost.of_peak * (1 + cost.cached * kept));
}

/// The longest of the times, and a part of the shorter ones: the cube root of the sum of cubes.
double together(std::initializer_list<double> times) {
  double sum = 0;
  for (const double us : times) sum += us * us * us;
  return std::cbrt(sum);
}

void add(PredictedTraffic& sum, const PredictedTraffic& traffic) {
  sum.bytes += traffic.bytes;
  sum.beside += traffic.beside;
  sum.runs += traffic.runs;
}

/// Counts the bytes and pieces that tiles read and write, each by itself and together with those that CTAs
/// take before and after it, as far as the L2 cache keeps their bytes.
void add_traffic(Prediction& prediction, const Footprint& footprint, const Problem& problem,
                 const CanonicalNest& nest, const Costs& cost) {
  std::uint64_t bytes = problem.bytes_written();
  for (std::uint32_t i = 1; i <= problem.sources(); ++i) bytes += problem.bytes_read(i);
  const auto tiles = static_cast<double>(tiles_of(footprint, nest));
  const ElementBox tile = box_of_tiles(footprint, nest, 1);
  const ElementBox kept = box_of_tiles(footprint, nest, cost.kept_bytes * tiles / static_cast<double>(bytes));
  prediction.written =
      traffic_of(tile, problem, nest, 0,
                 {.store_bytes = footprint.store_bytes, .row_by_row = footprint.stored_by_engine});
  prediction.written_kept = traffic_of(kept, problem, nest, 0);
  for (std::uint32_t i = 1; i <= problem.sources(); ++i) {
    add(prediction.read, traffic_of(tile, problem, nest, i));
    add(prediction.read_kept, traffic_of(kept, problem, nest, i));
  }
  prediction.read.bytes += footprint.again;
  prediction.read.beside += footprint.beside;
}

}  // namespace

Prediction predict(const Candidate& candidate, const Problem& problem, const Chip& chip) {
  const Footprint footprint = candidate.family->footprint(candidate, problem);
  const Costs& cost = chip.costs;
  const CanonicalNest& nest = candidate.nest;
  const double resident = resident_ctas(footprint);
  const double ctas = std::ceil(static_cast<double>(tiles_of(footprint, nest)) /
                                (footprint.stages * footprint.tiles_per_cta));
  Prediction result{
      .instructions = footprint.instructions,
      .lines = footprint.lines,
      .ctas = ctas,
      .waves = ctas / (resident * chip.sm_count),
      .uneven = std::ceil(ctas / chip.sm_count) * chip.sm_count / ctas,
      .warps = std::clamp(ctas / chip.sm_count, 1.0, resident) * footprint.threads / 32.0,
      .rounds = static_cast<double>(footprint.rounds),
      .waits = footprint.waits,
      .last_waits = footprint.last_waits,
      .passes = static_cast<double>(footprint.passes),
      .in_flight = static_cast<double>(std::max<std::uint64_t>(footprint.bytes_in_flight, 1)) * resident};

  add_traffic(result, footprint, problem, nest, cost);
  result.memory_us = memory_us(result, chip);
  const double issued = result.instructions + cost.line * result.lines;
  result.issue_us = result.uneven * issued / (cost.instructions_per_us * chip.sm_count) *
                    (1 + cost.occupancy / result.warps);
  const double moved = (result.read.bytes + result.written.bytes) / cost.sm_bytes_per_us;
  result.sm_us = result.uneven * moved / chip.sm_count;
  const double wait_us = cost.wait_us * (1 - 0.5 * kept_share(result, cost));
  const double waiting = result.waits * wait_us;
  const double of_cta = cost.latency_us + cost.round_us * result.rounds + cost.pass_us * result.passes +
                        (footprint.by_engine ? cost.engine_us : 0);
  result.latency_us = (of_cta + waiting) * result.waves;
  const double busy = together({result.memory_us, result.issue_us, result.sm_us, result.latency_us});
  // A CTA starts and ends while others keep the memory busy, but waits of its threads add to that.
  const double alone = cost.unloaded * of_cta + waiting + moved / ctas;
  const double us = waiting > 0 ? together({busy, alone}) : std::max(busy, alone);
  result.us = cost.launch_us + us + result.last_waits * wait_us;
  return result;
}

std::size_t usual_of(const std::vector<Candidate>& candidates) noexcept {
  const auto usual = std::ranges::max_element(candidates, {}, &Candidate::usual);
  return static_cast<std::size_t>(usual - candidates.begin());
}

Chosen choose(const std::vector<Candidate>& candidates, const Problem& problem, const Chip& chip) {
  const std::size_t usual = usual_of(candidates);
  Chosen best{.candidate = usual, .predicted = predict(candidates[usual], problem, chip)};
  double least = std::min(clearly * best.predicted.us, best.predicted.us - clearly_us);
  const auto try_those = [&](bool common) {
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      if (i == usual || candidates[i].common != common) continue;
      const Prediction predicted = predict(candidates[i], problem, chip);
      if (!(predicted.us < least)) continue;
      least = predicted.us;
      best = {.candidate = i, .predicted = predicted};
    }
  };
  try_those(true);
  // A kernel that few problems share is worth compiling where the common kernels are far slower.
  least = far_less * best.predicted.us;
  try_those(false);
  return best;
}

TMAJIT_END
