/// The time of lint for large kernels, relative to the time of parsing them.
#include "lint/large.hpp"

#include "lint/states.hpp"
#include "ptx/parser.hpp"
#include "reference/random_maps.hpp"

#include <tmajit/lint.hpp>

#include <chrono>
#include <iostream>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;
using namespace tests;

namespace {

template <class Work>
double milliseconds(const Work& work) {
  double least = 1e9;
  for (int i = 0; i < 5; ++i) {
    const auto start = std::chrono::steady_clock::now();
    work();
    least = std::min(
        least, std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
  }
  return least;
}

void check_time(const char* kind, const std::string& text) {
  const auto lines = std::count(text.begin(), text.end(), '\n');
  const double parsing = milliseconds([&] { CHECK(ptx::parse(text)); });
  LintResult result;
  const double linting = milliseconds([&] { result = lint_ptx(text); });
  std::cout << kind << ", " << lines << " lines: parsed in " << parsing << " ms, linted in " << linting
            << " ms" << std::endl;
  INFO(kind << "\n" << result.report.substr(0, 2000));
  CHECK(result.findings.empty());
  CHECK(result.unfinished.empty());
  // Measured: 3 to 15 times. A check whose time grows faster than the text exceeds this bound, too.
  CHECK(linting < 40 * parsing + 5);
}

}  // namespace

TEST_CASE("lint of large kernels takes at most 40 times as long as parsing them") {
  check_time("straight code", straight_code(30'000));
  check_time("guarded stores", guarded_stores(20));
  check_time("guarded stores", guarded_stores(2'000));
  check_time("branches", branches(2'000));
  check_time("nested loops", nested_loops(60));
  check_time("early exits", early_exits(2'000));
  check_time("kernels", many_kernels(1'000));
}

TEST_CASE("a check that would take too long gives up and is named as unfinished") {
  const LintResult result = lint_ptx(guarded_fences(200));
  INFO(result.report);
  CHECK(result.findings.empty());
  CHECK(result.unfinished == std::vector<std::string>{"k: store.missing-proxy-fence"});
  CHECK(lint_ptx(guarded_fences(20)).unfinished.empty());
}

TEST_CASE("merged path states cover the same assignments of conditions as the states that were added") {
  const std::uint64_t seed = reference::seed(20261123);
  reference::Random random(seed);
  constexpr std::uint32_t flags = 6;
  for (int turn = 0; turn < 300; ++turn) {
    INFO("seed " << seed << ", turn " << turn);
    lint::Values values;
    lint::Conditions conditions(values);
    std::vector<lint::Formula> formulas;
    for (std::uint32_t i = 0; i < flags; ++i) formulas.push_back(conditions.opaque(i, 0));
    // A bit for each assignment of all flags that is consistent with the facts.
    const auto assignments = [&](const lint::Facts& facts) {
      std::uint64_t fits = 0;
      for (std::uint32_t answers = 0; answers < 1U << flags; ++answers) {
        lint::Facts all = facts;
        bool fit = true;
        for (std::uint32_t i = 0; fit && i < flags; ++i)
          fit = conditions.assume(formulas[i], (answers >> i & 1) != 0, all);
        if (fit) fits |= 1ULL << answers;
      }
      return fits;
    };
    lint::States states(conditions);
    std::uint64_t added = 0;
    for (std::uint64_t n = reference::between(random, 1, 20); n > 0; --n) {
      lint::PathState state;
      state.memory = 1;
      for (const lint::Formula formula : formulas) {
        if (reference::one_in(random, 2))
          REQUIRE(conditions.assume(formula, reference::one_in(random, 2), state.facts));
      }
      added |= assignments(state.facts);
      REQUIRE(states.add(state) != lint::States::Outcome::too_many);
    }
    std::uint64_t covered = 0;
    states.take([&](const lint::PathState& state) { covered |= assignments(state.facts); });
    CHECK(covered == added);
  }
}
