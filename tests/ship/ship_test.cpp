// The kernels of random problems, packed, serve random problems of other seeds without a compiler, as often
// as the selection says.
#include "seed.hpp"
#include "selection.hpp"
#include "temporary_folder.hpp"

#include <tmajit/counters.hpp>
#include <tmajit/kernel_recipe.hpp>
#include <tmajit/move.hpp>
#include <tmajit/pack.hpp>
#include <tmajit/runtime.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <tuple>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;

TEST_CASE("a problem is determined by its seed and number") {
  const std::uint64_t seed = tests::seed(20261128);
  for (std::uint64_t number = 0; number < 48; ++number) {
    const bench::RandomProblem once = bench::random_problem(bench::ProblemKinds::all, seed, number);
    const bench::RandomProblem again = bench::random_problem(bench::ProblemKinds::all, seed, number);
    CHECK(once.group == again.group);
    const auto plans = ship::planned(once.operation(), ship::chips()[0]);
    CHECK(std::ranges::equal(plans, ship::planned(again.operation(), ship::chips()[0]), {}, &KernelPlan::key,
                             &KernelPlan::key));
  }
}

TEST_CASE("the most needed kernels come first") {
  constexpr std::size_t kernels = 40;
  const ship::Selection selection(tests::seed(20261128), 400, kernels);
  const auto share = [&](std::size_t count) {
    return ship::coverage(selection.keys(count), bench::ProblemKinds::all, tests::seed(20261128), 400).all;
  };
  const std::size_t all = selection.kernels().size();
  REQUIRE(all > 50);
  CHECK(share(0).covered() == 0);
  // Each quarter of the kernels serves more problems than the next one, and the first twice as many.
  std::array<std::uint64_t, 4> of_quarter{};
  for (std::size_t n = 0; n < 4; ++n)
    of_quarter[n] = share((n + 1) * all / 4).planned - share(n * all / 4).planned;
  CAPTURE(of_quarter);
  CHECK(of_quarter[0] > 2 * of_quarter[1]);
  CHECK(of_quarter[1] > of_quarter[2]);
  CHECK(of_quarter[2] >= of_quarter[3]);
  CHECK(share(all).planned == share(all).problems);  // the problems that it was selected for
  // The last of the first 40 are stand-ins.
  CHECK(share(kernels).served >= share(kernels - kernels / 20).served);
  CHECK(selection.keys(all).size() == all);
}

namespace {

/// A pack of the first `count` kernels of a selection.
void make_pack(const std::filesystem::path& file, const ship::Selection& selection, std::size_t count,
               const CompileOptions& options, const DiskCache& cache) {
  std::vector<KernelRecipe> records;
  for (std::size_t i = 0; i < std::min(count, selection.kernels().size()); ++i)
    records.push_back(record_of(selection.kernels()[i], options));
  const MadeKernels made = make_kernels(records, cache);
  REQUIRE(made.failures.empty());
  (void)write_pack(file, made.keys, cache, {&compiler(), 1});
}

/// How many of `count` problems run from a pack. Each kernel that is in the pack must come from there.
std::uint64_t run_from(const Pack& pack, const CompileOptions& options, bench::ProblemKinds kinds,
                       std::uint64_t seed, std::uint64_t count) {
  const Runtime runtime(
      {.cache_directory = std::nullopt, .compile = options, .packs = {pack.file()}, .shipped_packs = false});
  const auto is_packed = [&](const KernelPlan& plan) {
    return pack.has(cache_key(plan, options, pack.compilers().front()));
  };
  std::uint64_t covered = 0;
  for (std::uint64_t number = 0; number < count; ++number) {
    const bench::RandomProblem problem = bench::random_problem(kinds, seed, number);
    INFO("seed " << seed << ", problem " << number << ", " << problem.group);
    const auto plans = ship::planned(problem.operation(), ship::chips()[0]);
    if (plans.empty() || !std::ranges::all_of(plans, is_packed)) continue;
    ++covered;
    for (const KernelPlan& plan : plans) {
      const Kernel kernel = runtime.kernel(plan);
      CHECK(kernel.level() == CacheLevel::pack);
      CHECK(kernel.times().compile == 0);
    }
  }
  return covered;
}

/// Whether a new runtime that serves kernels plans a problem without compiling one.
bool is_served(const Pack& pack, const CompileOptions& options, const Operation& operation) {
  const Runtime runtime({.cache_directory = std::nullopt,
                         .compile = options,
                         .chip = ship::chips()[0],
                         .when_missing = WhenMissing::serve,
                         .background_compiles = 0,
                         .packs = {pack.file()},
                         .shipped_packs = false});
  (void)plan(runtime, operation);
  return counters(runtime).of(CacheLevel::compiled) == 0;
}

}  // namespace

TEST_CASE("problems of a fresh seed run from a pack without a compiler as often as the selection says") {
  const std::uint64_t seed = tests::seed(20261128);
  const std::uint64_t cases = tests::from_environment("TMAJIT_CASES", 40);
  const std::size_t kernels = tests::from_environment("TMAJIT_KERNELS", 24);
  const ship::Selection selection(seed, std::max<std::uint64_t>(1000, 100 * kernels), kernels);
  const CompileOptions options{.arch = "compute_90a"};
  const TemporaryFolder folder;
  make_pack(folder / "test.pack", selection, kernels, options, DiskCache(folder.path() / "cache"));
  const Pack pack(folder / "test.pack");
  const ship::Coverage said =
      ship::coverage(selection.keys(kernels), bench::ProblemKinds::moves, seed + 1, cases);
  CHECK(run_from(pack, options, bench::ProblemKinds::moves, seed + 1, cases) == said.all.planned);
  CHECK(said.all.planned > 0);
  std::uint64_t served = 0;
  for (std::uint64_t number = 0; number < cases; ++number)
    served += is_served(pack, options,
                        bench::random_problem(bench::ProblemKinds::moves, seed + 1, number).operation())
                  ? 1
                  : 0;
  CHECK(served == said.all.covered());
  CHECK(served > said.all.planned);
  std::cout << "TMAJIT_SEED=" << seed << ": of " << said.all.problems << " moves of a fresh seed "
            << said.all.planned << " find their kernels among " << kernels << ", and " << served
            << " need no compiler\n";
}

// TMAJIT_PACK names a pack of tmajit-ship, TMAJIT_LEAST the least share of problems in percent.
TEST_CASE("600 moves and 100 reductions of a fresh seed need no compiler with the shipped pack", "[pack]") {
  const char* const file = std::getenv("TMAJIT_PACK");
  if (file == nullptr) SKIP("no pack: TMAJIT_PACK names none");
  const std::uint64_t seed = tests::seed(20261129);
  const Pack pack(file);
  const CompileOptions options{.arch = std::filesystem::path(file).stem().string()};
  const auto least = static_cast<double>(tests::from_environment("TMAJIT_LEAST", 97)) / 100;
  for (const auto& [kinds, name, count] : {std::tuple(bench::ProblemKinds::moves, "moves", 600),
                                           std::tuple(bench::ProblemKinds::reductions, "reductions", 100)}) {
    const auto problems = static_cast<std::uint64_t>(count);
    const std::uint64_t found = run_from(pack, options, kinds, seed, problems);
    std::uint64_t served = 0;
    for (std::uint64_t number = 0; number < problems; ++number)
      served += is_served(pack, options, bench::random_problem(kinds, seed, number).operation()) ? 1 : 0;
    std::cout << "TMAJIT_SEED=" << seed << ": " << found << " of " << problems << " " << name
              << " find their kernels, and " << served << " need no compiler\n";
    CHECK(static_cast<double>(served) >= static_cast<double>(problems) * least);
  }
}
