#include "plan/cost_model.hpp"

#include "plan/traffic.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>

TMAJIT_BEGIN
namespace {

// Another candidate replaces the default one if its predicted time is less than this share of the default's,
// and less by min_gain_us, the noise between launches.
constexpr double replaces_below = 0.97;
constexpr double min_gain_us = 0.1;
// A kernel that is not common must take less than this share of the best common kernel's time.
constexpr double far_less = 0.6;

double log2_or_0(double n) {
  return n > 1 ? std::log2(n) : 0;
}

/// The share of a move's bytes that the L2 cache holds.
double cached_share(const Prediction& prediction, const Costs& cost) {
  const double bytes = prediction.read.bytes + prediction.written.bytes;
  return std::clamp((cost.uncached_bytes - bytes) / (cost.uncached_bytes - cost.cached_bytes), 0.0, 1.0);
}

double memory_us(const Prediction& prediction, const Chip& chip) {
  const Costs& cost = chip.costs;
  const PredictedTraffic& read = prediction.read;
  const PredictedTraffic& written = prediction.written;
  const double bytes = read.bytes + written.bytes;
  const double cached = cached_share(prediction, cost);
  const double weighted = bytes + cost.read_unused * read.unused + cost.read_piece * read.pieces +
                          cost.written_unused * written.unused +
                          cost.read_unused_cached * prediction.read_cached.unused +
                          cost.read_piece_cached * prediction.read_cached.pieces +
                          cost.written_unused_cached * prediction.written_cached.unused +
                          cost.written_piece_cached * prediction.written_cached.pieces;
  // Writes between reads make DRAM switch pages, the more often the more loads are in flight.
  const double written_share = std::min(2 * written.bytes / bytes, 1.0);
  const double crowding = written_share * log2_or_0(prediction.in_flight / cost.crowded_bytes);
  return weighted * (1 + cost.crowding * crowding) /
         (chip.gbps * 1e3 * cost.peak_fraction * (1 + cost.cached * cached));
}

/// A smooth maximum of times that overlap: the cube root of the sum of their cubes.
double smooth_max(std::initializer_list<double> times) {
  double sum = 0;
  for (const double us : times) sum += us * us * us;
  return std::cbrt(sum);
}

void add(PredictedTraffic& sum, const PredictedTraffic& traffic) {
  sum.bytes += traffic.bytes;
  sum.unused += traffic.unused;
  sum.pieces += traffic.pieces;
}

/// Counts the bytes and pieces that are read and written. It counts them for each tile alone, and again for
/// groups of successive tiles whose bytes the L2 cache holds at once.
void add_traffic(Prediction& prediction, const Footprint& footprint, const Problem& problem,
                 const CanonicalNest& nest, const Costs& cost) {
  std::uint64_t bytes = problem.bytes_written();
  for (std::uint32_t i = 1; i <= problem.sources(); ++i) bytes += problem.bytes_read(i);
  const auto tiles = static_cast<double>(tiles_of(footprint, nest));
  const ElementBox tile = box_of_tiles(footprint, nest, 1);
  const ElementBox group =
      box_of_tiles(footprint, nest, cost.cached_tile_bytes * tiles / static_cast<double>(bytes));
  prediction.written =
      traffic_of(tile, problem, nest, 0,
                 {.store_bytes = footprint.store_bytes, .row_by_row = footprint.stored_by_engine});
  prediction.written_cached = traffic_of(group, problem, nest, 0);
  for (std::uint32_t i = 1; i <= problem.sources(); ++i) {
    add(prediction.read, traffic_of(tile, problem, nest, i));
    add(prediction.read_cached, traffic_of(group, problem, nest, i));
  }
  prediction.read.bytes += footprint.reread_bytes;
  prediction.read.unused += footprint.halo_bytes;
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
  const double wait_us = cost.wait_us * (1 - 0.5 * cached_share(result, cost));
  const double waits_us = result.waits * wait_us;
  const double cta_us = cost.latency_us + cost.round_us * result.rounds + cost.pass_us * result.passes +
                        (footprint.by_engine ? cost.engine_us : 0);
  result.latency_us = (cta_us + waits_us) * result.waves;
  const double busy = smooth_max({result.memory_us, result.issue_us, result.sm_us, result.latency_us});
  // The time of one CTA alone is a lower bound. It overlaps with other CTAs' memory traffic, but waits of its
  // threads do so only in part.
  const double alone = cost.unloaded * cta_us + waits_us + moved / ctas;
  const double us = waits_us > 0 ? smooth_max({busy, alone}) : std::max(busy, alone);
  result.us = cost.launch_us + us + result.last_waits * wait_us;
  return result;
}

std::size_t default_of(const std::vector<Candidate>& candidates) noexcept {
  const auto found = std::ranges::max_element(candidates, {}, &Candidate::default_choice);
  return static_cast<std::size_t>(found - candidates.begin());
}

Chosen choose(const std::vector<Candidate>& candidates, const Problem& problem, const Chip& chip) {
  const std::size_t default_index = default_of(candidates);
  Chosen best{.candidate = default_index, .predicted = predict(candidates[default_index], problem, chip)};
  double limit = std::min(replaces_below * best.predicted.us, best.predicted.us - min_gain_us);
  const auto compare = [&](bool common) {
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      if (i == default_index || candidates[i].common != common) continue;
      const Prediction predicted = predict(candidates[i], problem, chip);
      if (!(predicted.us < limit)) continue;
      limit = predicted.us;
      best = {.candidate = i, .predicted = predicted};
    }
  };
  compare(true);
  // A kernel that few problems share is worth compiling only if the common kernels are far slower.
  limit = far_less * best.predicted.us;
  compare(false);
  return best;
}

TMAJIT_END
