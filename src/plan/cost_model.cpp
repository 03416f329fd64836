#include "plan/cost_model.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <initializer_list>
#include <limits>

TMAJIT_BEGIN
namespace {

constexpr std::uint64_t sector = 32;  // bytes
constexpr double clearly = 0.97;      // of the usual candidate's time

/// What tiles take of an operand's memory in one piece.
struct Piece {
  double bytes = 1;
  double spread = 1;  ///< bytes of memory for each byte of elements: where they lie apart, but share sectors
  std::uint32_t alignment = 1;  ///< all begin at multiples of so many bytes, at most a sector
};

/// Elements from one to the next in memory, where they lie nearest; 1 where there is but one.
std::int64_t least_step(const CanonicalNest& nest, std::uint32_t operand) {
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (std::uint32_t d = 0; d < nest.rank; ++d) {
    const std::int64_t step = std::abs(nest.operand[operand].strides[d]);
    if (step != 0 && nest.shape[d] > 1) least = std::min(least, step);
  }
  return least == std::numeric_limits<std::int64_t>::max() ? 1 : least;
}

Piece piece_of(const Footprint& footprint, const CanonicalNest& nest, const Problem& problem,
               std::uint32_t operand) {
  const auto& strides = nest.operand[operand].strides;
  const std::uint64_t element = problem.element_bytes(operand);
  std::uint64_t run = 1;
  std::uint64_t bits = sector | problem.address[operand];
  std::int64_t expected = least_step(nest, operand);
  if (static_cast<std::uint64_t>(expected) * element > sector) expected = 1;
  const auto apart = static_cast<std::uint64_t>(expected);
  std::uint32_t joined = 0;  // a bit a dimension
  // Dimensions are few: looking for each stride in turn costs less than sorting them.
  for (std::uint32_t n = 0; n < nest.rank; ++n) {
    std::uint32_t found = nest.rank;
    for (std::uint32_t d = 0; d < nest.rank; ++d) {
      if (std::abs(strides[d]) == expected && nest.shape[d] > 1) found = d;
    }
    if (found == nest.rank) break;
    joined |= 1U << found;
    run *= std::min<std::uint64_t>(footprint.box[found], nest.shape[found]);
    if (footprint.box[found] < nest.shape[found]) {
      bits |= static_cast<std::uint64_t>(expected) * footprint.box[found] * element;
      break;
    }
    expected *= static_cast<std::int64_t>(nest.shape[found]);
  }
  for (std::uint32_t d = 0; d < nest.rank; ++d) {
    if ((joined >> d & 1) == 0) bits |= static_cast<std::uint64_t>(strides[d]) * element;
  }
  return {static_cast<double>(run * apart * element), static_cast<double>(apart),
          1U << std::countr_zero(bits | run * apart * element)};
}

/// Pieces of an operand that begin anywhere, as far as their alignment lets them, meet so many bytes of
/// sectors beside their own.
void add_pieces(PredictedTraffic& traffic, double elements, const Piece& piece) {
  const double bytes = elements * piece.spread;
  const double runs = bytes / piece.bytes;
  traffic.bytes += bytes;
  traffic.beside += runs * static_cast<double>(sector - piece.alignment);
  traffic.runs += runs;
}

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
  // What the copy engine moves was not seen to gain by the cache.
  const double kept = prediction.by_engine ? 0 : kept_share(prediction, cost);
  const double counted = bytes + cost.read_beside * read.beside + cost.read_run * read.runs +
                         cost.written_beside * written.beside + cost.written_run * written.runs;
  // Writes between reads turn the pages of DRAM.
  const double turned = std::min(2 * written.bytes / bytes, 1.0);
  const double doublings = turned * doublings_of(prediction.in_flight / cost.crowded_bytes);
  const double halvings = doublings_of(cost.starved_bytes / prediction.in_flight);
  return counted * (1 + cost.crowding * doublings + cost.starving * halvings) /
         (chip.gbps * 1e3 * cost.of_peak * (1 + cost.cached * kept));
}

/// What takes longest, and some of what happens meanwhile: the root of the sum of fourth powers.
double together(std::initializer_list<double> times) {
  double sum = 0;
  for (const double us : times) sum += us * us * us * us;
  return std::sqrt(std::sqrt(sum));
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
      .threads = ctas * footprint.threads,
      .ctas = ctas,
      .waves = ctas / (resident * chip.sm_count),
      .uneven = std::ceil(ctas / chip.sm_count) * chip.sm_count / ctas,
      .warps = resident * footprint.threads / 32.0,
      .rounds = static_cast<double>(footprint.rounds),
      .waits = footprint.waits,
      .last_waits = footprint.last_waits,
      .passes = static_cast<double>(footprint.passes),
      .in_flight = static_cast<double>(std::max<std::uint64_t>(footprint.bytes_in_flight, 1)) * resident,
      .by_engine = footprint.by_engine};

  Piece stored = piece_of(footprint, nest, problem, 0);
  stored.alignment = std::clamp<std::uint32_t>(footprint.store_bytes, stored.alignment, sector);
  add_pieces(result.written, static_cast<double>(problem.bytes_written()), stored);
  for (std::uint32_t i = 1; i <= problem.sources(); ++i) {
    const auto read = static_cast<double>(problem.bytes_read(i));
    add_pieces(result.read, read, piece_of(footprint, nest, problem, i));
  }
  result.read.bytes += footprint.again;
  result.read.beside += footprint.beside;

  result.memory_us = memory_us(result, chip);
  const double issued = result.instructions + cost.line * result.lines + cost.thread * result.threads;
  result.issue_us = result.uneven * issued / (cost.instructions_per_us * chip.sm_count) *
                    (1 + cost.occupancy / result.warps);
  const double moved = (result.read.bytes + result.written.bytes) / cost.sm_bytes_per_us;
  result.sm_us = result.uneven * moved / chip.sm_count;
  const double wait_us = cost.wait_us * (1 - 0.5 * kept_share(result, cost));
  const double waiting = result.waits * wait_us;
  const double of_cta = cost.latency_us + cost.round_us * result.rounds + cost.pass_us * result.passes +
                        (footprint.by_engine ? cost.engine_us : 0);
  result.latency_us = (of_cta + waiting) * result.waves;
  double busy = together({result.memory_us, result.issue_us, result.sm_us, result.latency_us});
  // The last wave: SMs that wait for it do nothing.
  if (result.waves > 1) busy *= 1 + cost.last_wave * (std::ceil(result.waves) / result.waves - 1);
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
  double least = clearly * best.predicted.us;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (i == usual || !candidates[i].common) continue;
    const Prediction predicted = predict(candidates[i], problem, chip);
    if (!(predicted.us < least)) continue;
    least = predicted.us;
    best = {.candidate = i, .predicted = predicted};
  }
  return best;
}

TMAJIT_END
