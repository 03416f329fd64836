/// Pads, casts and maps on the simulated device, by every candidate of the family `flat` and one of `linear`.
/// The sources have another order of dimensions in memory than the destination.
#include "families/flat/flat_layout.hpp"
#include "families/linear/linear_facts.hpp"
#include "ops/cross_moves.hpp"
#include "reference/random_maps.hpp"

#include <tmajit/error.hpp>

#include <algorithm>
#include <iostream>
#include <map>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;

namespace {

using Counts = std::map<std::string_view, std::uint64_t>;

/// Whether some indices of a dimension are padding.
bool is_padded(const Problem& problem, std::uint32_t d) {
  const CanonicalNest& nest = problem.nest;
  return nest.windowed &&
         (nest.window_first[d] > 0 || nest.window_end[d] < static_cast<std::int64_t>(nest.shape[d]));
}

void count_facts(Counts& counts, const FlatLayout& layout, const Problem& problem) {
  const auto images =
      std::ranges::count_if(layout.all_sources(), [](const auto& one) { return one.has_image(); });
  if (layout.joined) ++counts["joined rows"];
  if (layout.staggered && !layout.joined) ++counts["rows that begin anywhere"];
  if (images > 1) ++counts["several images"];
  if (images < layout.sources) ++counts["with sources along the rows"];
  for (std::uint32_t k = 0; k < layout.rank; ++k) {
    if (is_padded(problem, layout.dimension[k]))
      ++counts[k < layout.x_dimensions ? "padded along x" : "padded along y"];
  }
}

void count_facts(Counts& counts, const LinearFacts& facts) {
  ++counts["linear"];
  ++counts[facts.short_rows != 0 ? "rows shorter than words"
           : facts.wraps != 0    ? "words that reach beyond rows"
                                 : "rows of whole words"];
  if (facts.sources > 1) ++counts["linear, several sources"];
}

/// Runs one `linear` kernel, chosen by the case's number, because each of them is compiled separately.
void run_linear(tests::EveryCandidate& move, std::uint64_t number, Counts& counts) {
  std::vector<const Candidate*> all;
  for (const Candidate& candidate : move.candidates()) {
    if (tests::is_of_family(candidate, "linear")) all.push_back(&candidate);
  }
  if (all.empty()) return;
  const Candidate& candidate = *all[number % all.size()];
  INFO(candidate.family->choice(candidate).text());
  CHECK(move.run(candidate) == "");
  count_facts(counts, facts_of<LinearFacts>(candidate));
}

/// Runs every `flat` kernel of a move.
void run_kernels(tests::EveryCandidate& move, Counts& counts) {
  bool first = true;
  for (const Candidate& candidate : move.candidates()) {
    if (!tests::is_of_family(candidate, "flat")) continue;
    INFO(candidate.family->choice(candidate).text());
    CHECK(move.run(candidate) == "");
    count_facts(counts, flat_layout_of(candidate), move.problem());
    if (first) ++counts["moves"];
    first = false;
  }
}

/// Runs the cases of a seed on a simulated device that schedules threads in random order.
Counts run_cross_moves(std::uint64_t default_cases, std::uint64_t default_seed,
                       tests::CrossMove (*random_move)(std::uint64_t seed, std::uint64_t max_elements)) {
  const std::uint64_t cases = reference::from_environment("TMAJIT_CASES", default_cases);
  const std::uint64_t seed = reference::seed(default_seed);
  std::cout << "TMAJIT_SEED=" << seed << ", " << cases << " cases" << std::endl;
  Runtime runtime = tests::random_order_runtime();
  Counts counts;
  for (std::uint64_t n = 0; n < cases; ++n) {
    const tests::CrossMove drawn = random_move(seed + n, 12'000);
    INFO("TMAJIT_SEED=" << seed << ", case " << n << ": " << drawn.text());
    try {
      tests::EveryCandidate move(runtime, drawn.destination, drawn.sources, drawn.expression, drawn.padding,
                                 n % 2 == 0 ? 132 : 0);
      run_kernels(move, counts);
      run_linear(move, n, counts);
    } catch (const Error& error) {
      FAIL_CHECK(error.what());
    }
  }
  for (const auto& [kind, times] : counts) std::cout << "  " << kind << ": " << times << '\n';
  CHECK(3 * counts["moves"] >= cases);
  return counts;
}

}  // namespace

TEST_CASE("pads of sources with another order of dimensions equal the reference, elements and padding") {
  Counts counts = run_cross_moves(30, 20261123, tests::random_cross_pad);
  for (const char* kind :
       {"padded along x", "padded along y", "rows that begin anywhere", "joined rows", "linear",
        "rows shorter than words", "words that reach beyond rows", "rows of whole words"}) {
    INFO(kind);
    CHECK(counts[kind] > 0);
  }
}

TEST_CASE("casts between any types of sources with another order of dimensions equal the reference") {
  run_cross_moves(27, 20261124, tests::random_cross_cast);
}

TEST_CASE("maps of one to three sources with any order of dimensions equal the reference") {
  Counts counts = run_cross_moves(27, 20261125, tests::random_cross_map);
  CHECK(counts["with sources along the rows"] > 0);
  CHECK(counts["several images"] > 0);
  CHECK(counts["linear, several sources"] > 0);
}
