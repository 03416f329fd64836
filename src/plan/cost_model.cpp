#include "plan/cost_model.hpp"

#include "plan/gather_plan.hpp"
#include "spec/saturate.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string_view>

TMAJIT_BEGIN
namespace {

constexpr double launch_us = 0.9;           // of a kernel node in a graph, before its first load
constexpr double memory_latency_us = 0.35;  // a load, a barrier and a store
constexpr double engine_latency_us = 0.6;   // more, where the copy engine loads: a map and an mbarrier
constexpr double sm_bytes_per_us = 90e3;    // that an SM moves, reads and writes together
constexpr double wanted_in_flight = 32e3;   // bytes of loads an SM, for full speed
constexpr double clearly = 0.97;            // of the first candidate's time
// What threads do for pieces of up to 16 bytes, microseconds of an SM each:
constexpr double chunk_us = 0.8e-3;        // a `general` kernel's chunk, as measured with pixels of 3 bytes
constexpr double image_chunk_us = 1.6e-3;  // and one that comes from an image
constexpr double gathered_us = 0.25e-3;    // a vector of a `gather` kernel ...
constexpr double gathered_element_us = 2e-5;  // ... and each of its elements
constexpr double line_unit_us = 0.2e-3;       // 16 bytes that go to its image
constexpr std::uint64_t ragged_blocks = 5;    // that the ends of a short staggered row cost as much as

/// Bytes that a tile takes of an operand's memory in one piece.
double run_bytes(const MoveCandidate& candidate, const MoveProblem& problem, std::uint32_t operand) {
  const MoveKernel& kernel = candidate.kernel;
  const CanonicalNest& nest = candidate.nest;
  double run = 1;
  std::int64_t expected = 1;
  // Dimensions are few: looking for each stride in turn costs less than sorting them.
  for (std::uint32_t joined = 0; joined < nest.rank; ++joined) {
    std::uint32_t found = nest.rank;
    for (std::uint32_t d = 0; d < nest.rank; ++d) {
      if (std::abs(nest.operand[operand].strides[d]) == expected && nest.shape[d] > 1) found = d;
    }
    if (found == nest.rank) break;
    run *= static_cast<double>(std::min<std::uint64_t>(kernel.box[found], nest.shape[found]));
    if (kernel.box[found] < nest.shape[found]) break;
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

std::uint64_t tiles_of(const MoveCandidate& candidate) {
  std::uint64_t tiles = 1;
  for (std::uint32_t d = 0; d < candidate.nest.rank; ++d) {
    tiles = sat_mul(tiles, ceil_div(candidate.nest.shape[d], candidate.kernel.box[d]));
  }
  return tiles;
}

/// The part of a transpose's time for blocks that goes to elements, where its row or column is short.
double fill_of_blocks(const MoveCandidate& candidate, const MoveProblem& problem) {
  const MoveKernel& kernel = candidate.kernel;
  const bool by_registers = kernel.method == MoveMethod::transpose;
  if (!by_registers && kernel.method != MoveMethod::engine_transpose) return 1;
  const std::uint64_t side = by_registers ? kernel.chunk : std::max(16 / kernel.element_bytes, 1U);
  double fill = 1;
  for (const std::uint32_t d : {kernel.column, kernel.rank - 1}) {
    const std::uint64_t extent = candidate.nest.shape[d];
    if (!is_short(problem, d)) continue;
    // Vectors that a staggered row begins and ends with are stored element by element.
    const bool ends = kernel.staggered && d + 1 == kernel.rank;
    const std::uint64_t blocks = ends ? extent + ragged_blocks * side : round_up(extent, side);
    fill *= static_cast<double>(extent) / static_cast<double>(blocks);
  }
  return fill;
}

/// What an SM's threads take for chunks, vectors and lines that hold little: microseconds of all SMs.
double issue_us(const MoveCandidate& candidate) {
  const MoveKernel& kernel = candidate.kernel;
  const CanonicalNest& nest = candidate.nest;
  if (kernel.method == MoveMethod::gather) {
    const GatherLayout layout(kernel);
    const double vectors = static_cast<double>(layout.runs) * layout.parts * layout.slots;
    const double units = static_cast<double>(layout.line_count) * (layout.line_bytes / 16.0 + 1);
    return static_cast<double>(tiles_of(candidate)) *
           (vectors * (gathered_us + kernel.chunk * gathered_element_us) + units * line_unit_us);
  }
  if (kernel.method != MoveMethod::general || nest.rank == 0) return 0;
  const std::uint64_t row = nest.shape[nest.rank - 1];
  const std::uint64_t chunks = ceil_div(row + (kernel.staggered ? kernel.chunk - 1 : 0), kernel.chunk);
  return static_cast<double>(nest.elements()) / static_cast<double>(row) * static_cast<double>(chunks) *
         (kernel.has_image() ? image_chunk_us : chunk_us);
}

}  // namespace

Chip chip_of(const DeviceInfo& info) noexcept {
  Chip chip;
  // The simulated device plans for the chip that the numbers were measured on.
  if (info.ordinal < 0) return chip;
  if (info.sm_count > 0) chip.sms = info.sm_count;
  const std::string_view name = info.name;
  if (name.find("H100") != std::string_view::npos) chip.gbps = 2900;
  if (name.find("GH200") != std::string_view::npos) chip.gbps = 3500;
  return chip;
}

std::uint32_t resident_ctas(const MoveKernel& kernel) noexcept {
  constexpr std::uint32_t shared_of_sm = 227 * 1024;
  const std::uint32_t shared = kernel.shared_bytes() + kernel.image_bytes() + 1024;
  // Blocks are held in registers: so many a thread, as compiled.
  constexpr std::uint32_t registers_of_sm = 65536;
  const bool gathers = kernel.method == MoveMethod::gather;
  const std::uint32_t registers = gathers                      ? 48
                                  : !kernel.transposes()       ? 32
                                  : kernel.vector_bytes() == 8 ? 32
                                  : kernel.element_bytes == 1  ? 96
                                  : kernel.element_bytes == 2  ? 72
                                                               : 40;
  const std::uint32_t threads = std::max(kernel.threads, 1U);
  const std::uint32_t fit =
      std::min({2048 / threads, shared_of_sm / shared, registers_of_sm / (registers * threads)});
  return std::clamp(fit, 1U, 32U);
}

double predict_us(const MoveCandidate& candidate, const MoveProblem& problem, const Chip& chip) noexcept {
  const MoveKernel& kernel = candidate.kernel;
  const auto tiles = static_cast<double>(tiles_of(candidate));
  const std::uint32_t resident = resident_ctas(kernel);
  const auto bytes = static_cast<double>(problem.bytes_read() + problem.bytes_written());

  // The memory: each operand at the speed of its pieces.
  double memory =
      static_cast<double>(problem.bytes_written()) / run_efficiency(run_bytes(candidate, problem, 0));
  const double read = static_cast<double>(problem.bytes_read()) / std::max(problem.sources(), 1U);
  for (std::uint32_t i = 1; i <= problem.sources(); ++i) {
    memory += read / run_efficiency(run_bytes(candidate, problem, i));
  }
  memory /= chip.gbps * 1e3 * fill_of_blocks(candidate, problem);
  const double in_flight = static_cast<double>(kernel.bytes_in_flight()) * resident;
  memory *= std::max(1.0, std::sqrt(wanted_in_flight / std::max(in_flight, 1.0)));

  // The last wave: SMs that wait for it do nothing.
  memory = std::max(memory, issue_us(candidate) / chip.sms);
  const double waves = tiles / (static_cast<double>(resident) * chip.sms);
  if (waves > 1) memory *= std::ceil(waves) / waves * 0.5 + 0.5;

  // An SM's share, where there are too few tiles to fill the chip.
  const double of_sm = std::ceil(tiles / chip.sms);
  const double tile_bytes = bytes / std::max(tiles, 1.0);
  const double latency = memory_latency_us + (kernel.uses_engine() ? engine_latency_us : 0);
  const double alone = latency * std::ceil(of_sm / resident) + of_sm * tile_bytes / sm_bytes_per_us;
  return launch_us + std::max(memory, alone);
}

std::size_t choose(const std::vector<MoveCandidate>& candidates, const MoveProblem& problem,
                   const Chip& chip) noexcept {
  std::size_t best = 0;
  double least = clearly * predict_us(candidates[0], problem, chip);
  for (std::size_t i = 1; i < candidates.size(); ++i) {
    const double predicted = predict_us(candidates[i], problem, chip);
    if (predicted < least) {
      best = i;
      least = predicted;
    }
  }
  return best;
}

TMAJIT_END
