#include "families/pick/pick_lines.hpp"

#include <algorithm>
#include <numeric>

TMAJIT_BEGIN
namespace {

constexpr std::uint32_t lanes = 32;
constexpr std::uint32_t skew_log = 3;           // of the lines from one gap of the image to the next
constexpr std::uint32_t enough_banks = 8;       // for a line to go on where the next dimension begins
constexpr std::uint32_t enough_wavefronts = 2;  // of an access: a larger gap would gain little
constexpr std::uint32_t skewed_lanes = 8;       // that go along a run where its lines have gaps

/// Banks that threads side by side along a run meet whose elements lie so many bytes apart.
std::uint32_t banks_met(std::uint64_t step, const PickRun& run) {
  return lanes / std::gcd(lanes, static_cast<std::uint32_t>(step * run.in_word / 4 % lanes));
}

}  // namespace

std::optional<PlacedLines> pick_lines(const Problem& problem, std::uint32_t operand, const PerDimension& box,
                                      const PickRun& run) {
  const std::uint32_t bytes = problem.element_bytes(operand);
  LinePlanner planner(problem, operand, box);
  // What the source does not reach of a padded dimension has to be one end of the line: it goes on nowhere,
  // and its indices do not lie among each other.
  bool ends = false;
  const bool fits = planner.take_lines([&](std::uint32_t d, std::uint64_t span) {
    if (ends || !planner.may_go_on(d, span)) return false;
    if (is_padded(problem, d) && planner.distance(d) < span) return false;
    ends = is_padded(problem, d);
    return span * bytes < image_unit || banks_met(planner.distance(d) * bytes, run) >= enough_banks;
  });
  if (!fits) return std::nullopt;

  // Lines of a run's innermost dimension, if threads side by side meet several of its indices, lie as far
  // apart as lets them meet enough banks.
  const std::uint32_t first = planner.first_of_run(run.dimension, lanes);
  const auto skew_of = [&](std::uint64_t step) {
    // They would meet few banks if the lines that they read lay so.
    const std::uint64_t few = run.in_word == 4 ? 8 : 16;
    return run.in_word > 1 && step % few == 0 && box[first] >= 2U << skew_log ? skew_log : no_skew;
  };
  const auto places_of = [&] {
    return RunPlaces(planner.lines().layout(box, run.dimension), run.in_word, run.elements);
  };
  if (first == problem.nest.rank) {
    if (!planner.place_lines(first, 0, skew_of)) return std::nullopt;
  } else {
    planner.try_gaps(first, skew_of, std::max(bytes, enough_wavefronts), [&](std::uint32_t /*least*/) {
      const std::uint32_t along = planner.lines().skewed < problem.nest.rank ? skewed_lanes : lanes;
      return places_of().banks_taken(bytes, along, 0);
    });
    if (planner.settle() == UINT32_MAX) return std::nullopt;
  }
  PickLines lines{planner.lines()};
  lines.alignment = planner.alignment();
  return PlacedLines{lines, places_of()};
}

TMAJIT_END
