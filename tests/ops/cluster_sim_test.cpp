/// Moves by kernels whose CTAs work together in clusters, on the simulated device, which reports what they do
/// wrong to each other.
#include "families/multicast/multicast_layout.hpp"
#include "ops/cross_moves.hpp"
#include "reference/random_maps.hpp"

#include <tmajit/error.hpp>
#include <tmajit/sim.hpp>

#include <functional>
#include <iostream>
#include <map>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;

namespace {

using Counts = std::map<std::string_view, std::uint64_t>;

/// Runs one kernel of the family for each case, by the case's number, for each is made by itself. Every other
/// case is planned for a chip so small that clusters do many tiles each.
Counts run_cases(std::string_view family, std::uint64_t usual_cases, std::uint64_t usual_seed,
                 tests::CrossMove (*random_move)(std::uint64_t seed, std::uint64_t most_elements),
                 const std::function<void(Counts&, const Candidate&, const Problem&)>& count) {
  const std::uint64_t cases = reference::from_environment("TMAJIT_CASES", usual_cases);
  const std::uint64_t seed = reference::seed(usual_seed);
  std::cout << "TMAJIT_SEED=" << seed << ", " << cases << " cases" << std::endl;
  SimOptions options{.threads = 1};
  options.mode = SimOptions::Mode::random;
  Runtime runtime({.device = make_sim_device(options), .cache_directory = std::nullopt});
  Counts counts;
  for (std::uint64_t n = 0; counts["moves"] < cases; ++n) {
    const tests::CrossMove drawn = random_move(seed + n, 40'000);
    INFO("TMAJIT_SEED=" << seed << ", case " << n << ": " << drawn.text());
    try {
      tests::EveryCandidate move(runtime, drawn.destination, drawn.sources, drawn.expression, {},
                                 n % 2 == 0 ? 132 : 0);
      std::vector<const Candidate*> all;
      for (const Candidate& candidate : move.candidates()) {
        if (tests::is_of(candidate, family)) all.push_back(&candidate);
      }
      if (all.empty()) continue;
      const Candidate& candidate = *all[counts["moves"]++ % all.size()];
      INFO(candidate.family->choice(candidate).text());
      drawn.do_on_host(move);
      CHECK(move.run(candidate) == "");
      count(counts, candidate, move.problem());
    } catch (const Error& error) {
      FAIL_CHECK(error.what());
    }
  }
  for (const auto& [kind, times] : counts) std::cout << "  " << kind << ": " << times << '\n';
  return counts;
}

void count_multicast(Counts& counts, const Candidate& candidate, const Problem& problem) {
  const auto facts = facts_of<MulticastFacts>(candidate);
  ++counts[facts.cluster == 1 ? "alone" : "in clusters"];
  if (problem.nest.shape[facts.along] % facts.cluster != 0) ++counts["with CTAs beyond the end"];
  if (candidate.family->footprint(candidate, problem).tiles_per_cta > 1) ++counts["stages filled again"];
  if (facts.coordinates > 0) ++counts["coordinates"];
  for (std::uint32_t s = 0; s < facts.sources; ++s) {
    if (!facts.is_shared(s)) ++counts["sources of each CTA's own"];
  }
}

}  // namespace

TEST_CASE("what repeats arrives in every CTA of a cluster, whole and in every stage") {
  Counts counts = run_cases("multicast", 30, 20261211, tests::random_repetition, count_multicast);
  for (const char* kind : {"alone", "in clusters", "with CTAs beyond the end", "stages filled again",
                           "sources of each CTA's own", "coordinates"}) {
    INFO(kind);
    CHECK(counts[kind] > 0);
  }
}
