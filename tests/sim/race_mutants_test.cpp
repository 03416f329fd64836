/// Mistakes in our own kernels whose only symptom is a race. They must be reported in every mode, with every
/// seed.
#include "sim/mutants.hpp"

#include <algorithm>

namespace race_mutants_test {

using namespace tmajit;
using namespace tests;

namespace {

struct Mutant {
  const char* name;
  Base kernel;
  Edit edit;
  std::vector<std::string> rules;  ///< the first report must be of one of them
};

const char* const release = "mbarrier.arrive.shared::cta.b64";
const char* const relaxed = "mbarrier.arrive.relaxed.cta.shared::cta.b64";

std::vector<Mutant> mutants() {
  using Rules = std::vector<std::string>;
  const Rules init_rules{"race.mbarrier", "mbarrier.uninitialised"};
  const Rules reload_rules{"race.shared-read-write"};
  const Rules overlap_rules{"race.global-write-write"};
  const Rules barrier_rules{"race.shared-read-write", "race.shared-write-read", "store.missing-barrier",
                            "shared.overwritten-before-store-read"};
  const Rules wait_rules{"race.shared-write-write", "race.shared-read-write", "mbarrier.arrivals",
                         "load.overlap"};
  const auto no_wait = [](const std::string&) { return std::string("setp.eq.s32 done, 0, 0;"); };
  return {
      {"map without the barrier after the init", Base::map, drop("bar.sync"), init_rules},
      {"bulk without the barrier after the init", Base::bulk, drop("bar.sync"), init_rules},
      {"map frees its stages with relaxed arrivals", Base::map, swap(release, release, relaxed),
       reload_rules},
      {"bulk frees its stages with relaxed arrivals", Base::bulk, swap(release, release, relaxed),
       reload_rules},
      {"map does not wait for free stages", Base::map, lines("mbarrier.try_wait", no_wait, 0), wait_rules},
      {"map's threads do not meet", Base::map, drop("barrier.sync.aligned"), barrier_rules},
      {"bulk's threads do not meet", Base::bulk, drop("barrier.sync.aligned"), barrier_rules},
      {"copy: every CTA takes all tiles of the first", Base::copy, swap("%ctaid.x", "%ctaid.x", "0"),
       overlap_rules},
      {"map: every CTA takes all tiles of the first", Base::map, swap("%ctaid.x", "%ctaid.x", "0"),
       overlap_rules},
      {"bulk: every CTA takes all chunks of the first", Base::bulk, swap("%ctaid.x", "%ctaid.x", "0"),
       overlap_rules},
      {"map reuses an output stage before it is read",
       Base::map,
       drop("cp.async.bulk.wait_group.read"),
       {"race.shared-read-write", "shared.overwritten-before-store-read"}},
      {"copy reuses a stage before it is read",
       Base::copy,
       drop("cp.async.bulk.wait_group.read"),
       {"race.shared-read-write", "load.before-store-read"}},
      {"copy waits for one group too few",
       Base::copy,
       swap("wait_group.read", "1;", "2;"),
       {"race.shared-read-write", "load.before-store-read"}},
  };
}

}  // namespace

TEST_CASE("races: mutants of our kernels are reported in every mode with every seed") {
  for (const Mutant& mutant : mutants()) {
    for (const auto mode : {SimOptions::Mode::late, SimOptions::Mode::early, SimOptions::Mode::random}) {
      for (const std::uint64_t seed : {1, 8, 20}) {
        bool changed = false;
        bool finished = true;
        const auto sim = run(
            mutant.kernel,
            [&](const std::string& text) {
              std::string edited = mutant.edit(text);
              changed = edited != text + "\n" && edited != text;
              return edited;
            },
            finished, seed, mode);
        std::string texts;
        for (const Report& report : sim->reports()) texts += report.text() + "\n";
        INFO(mutant.name << ", mode " << static_cast<int>(mode) << ", seed " << seed << "\n" << texts);
        CHECK(changed);
        CHECK_FALSE(finished);
        REQUIRE_FALSE(sim->reports().empty());
        CHECK(std::ranges::find(mutant.rules, sim->reports()[0].rule) != mutant.rules.end());
      }
    }
  }
}

}  // namespace race_mutants_test
