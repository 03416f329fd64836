// A swap changes no bit: random cases of every operation on the simulated device, before and after it. And a
// process whose kernels are on disk never loads NVRTC.
#include "operations/list.hpp"
#include "operations/names.hpp"
#include "ops/own_memory.hpp"
#include "ops/run_case.hpp"
#include "plan/candidates.hpp"
#include "ptx_alone.hpp"
#include "runtime/fake_compiler.hpp"
#include "runtime/readiness.hpp"
#include "seed.hpp"
#include "temporary_folder.hpp"

#include <tmajit/counters.hpp>
#include <tmajit/operations.hpp>
#include <tmajit/sim.hpp>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>

#include <catch2/catch_test_macros.hpp>

namespace serve_sim_test {

using namespace tmajit;
using tests::eventually;

/// Compiles by NVRTC, but each source once in a ctest run: cases share kernels.
Artifact compiled_once(const Source& source, const CompileOptions& options) {
  static const Runtime shared({.cache_directory = tests::shared_kernels(), .compile = options});
  return shared.kernel(source).artifact();
}
constexpr Toolchain compile_once{.compile = &compiled_once};

/// Counts the cases of one operation by their outcome.
struct Tally {
  int swapped = 0;
  int waited = 0;
  int alone = 0;  ///< cases that only one kernel can do, and batches
};

/// The kernels of an operation, each another one than the planner's choice, drawn by `seed`. Empty if a
/// kernel has no other candidate.
std::vector<KernelPlan> other_kernels(const Operation& operation, const PlanOptions& options,
                                      std::uint64_t seed) {
  std::vector<KernelPlan> others;
  if (operation.one_launch || plan_kernels(operation, options).empty()) return others;
  for (const std::span<const Move> moves : kernels_of(operation.moves)) {
    if (!writes_elements(moves)) continue;
    std::vector<KernelPlan> candidates = candidates_of_kernel(moves, options);
    const std::string wanted(candidates.front().key());
    std::erase_if(candidates, [&](const KernelPlan& plan) { return plan.key() == wanted; });
    if (candidates.empty()) return {};
    others.push_back(candidates[seed % candidates.size()]);
  }
  return others;
}

void serve_case(const reference::TestCase& test_case, std::uint64_t seed, Tally& tally) {
  const TemporaryFolder folder;
  RuntimeOptions options{.cache_directory = folder.path(),
                         .compile = tests::ptx_without_lines,
                         .when_missing = WhenMissing::serve};
  const Runtime warm = make_runtime(options, compile_once);
  SimOptions sim;
  sim.threads = 1;
  options.device = make_sim_device(sim);
  const auto memory = tests::own_memory(options.device)(test_case, 0);
  const Operation operation = reference::operation_of(test_case, memory->addresses());
  const auto others =
      other_kernels(operation, {.chip = chip_of(options.device->info()), .tuning = &tuning(warm)}, seed);
  if (others.empty()) return void(++tally.alone);
  for (const KernelPlan& other : others) (void)warm.kernel(other);
  const auto kernels = kernels_of(operation.moves);
  const bool exact = std::ranges::all_of(
      kernels, [](const auto& moves) { return !writes_elements(moves) || same_bits(moves); });

  const Runtime runtime = make_runtime(options, compile_once);
  const Plan move = plan(runtime, operation);
  const Counters first = counters(runtime);
  if (first.served == 0) {  // the kernels may round in other ways, or the moves are one batch
    CHECK((first.waited > 0 || move.plans().size() != others.size()));
    return void(++tally.waited);
  }
  const reference::Buffers before = random_buffers(test_case, seed);
  const auto run = [&] {
    memory->write(before);
    move(memory->stream());
    return memory->read(before);
  };
  const reference::Buffers served = run();
  CHECK(difference(test_case, expected(test_case, before), served) == "");
  REQUIRE(eventually([&] { return counters(runtime).swaps > 0; }));
  CHECK((!exact || run() == served));
  CHECK((!exact || counters(runtime).waited == 0));
  ++tally.swapped;
}

void serve_cases(std::string_view operation) {
  const bool is_recipe = !find_operation(operation).sources.empty();
  const std::uint64_t cases = tests::from_environment("TMAJIT_SERVED_CASES", is_recipe ? 1 : 3);
  const std::uint64_t seed = tests::seed(20261128);
  Tally tally;
  for (std::uint64_t n = 0; n < cases; ++n) {
    const auto test_case = reference::random_test_case(
        operation, seed + n, n, {.elements = 2000, .max_elements = 10'000, .guard = 0});
    INFO("TMAJIT_SEED=" << seed << ", case " << n << ": " << test_case.text());
    serve_case(test_case, seed + n, tally);
  }
  std::cout << "TMAJIT_SEED=" << seed << ", " << operation << ": " << tally.swapped << " swapped, "
            << tally.waited << " waited, " << tally.alone << " with one kernel" << std::endl;
}

/// Whether a file that this process has mapped is NVRTC.
bool has_nvrtc() {
  std::ifstream maps("/proc/self/maps");
  std::ostringstream text;
  text << maps.rdbuf();
  return text.str().find("libnvrtc.so") != std::string::npos;
}

/// Copies on the simulated device, with the cache in $TMAJIT_WARM_FOLDER.
void copy_with_cache() {
  const char* const folder = std::getenv("TMAJIT_WARM_FOLDER");
  REQUIRE(folder != nullptr);
  SimOptions sim;
  sim.threads = 1;
  const auto device = make_sim_device(sim);
  const Runtime runtime({.device = device, .cache_directory = folder, .compile = tests::ptx_without_lines});
  const Buffer from(device, 4096);
  const Buffer to(device, 4096);
  copy(runtime, Tensor::contiguous(ElementType::f32, {1024}, to.address()),
       Tensor::contiguous(ElementType::f32, {1024}, from.address()));
  device->streams().synchronize(nullptr);
}

/// Runs a hidden test case of this program in a new process. Returns whether it passed.
bool passes_in_new_process(const std::string& name, const std::filesystem::path& folder) {
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
  const std::string command =
      "TMAJIT_WARM_FOLDER='" + folder.string() + "' '" + program + "' '" + name + "' > /dev/null";
  return std::system(command.c_str()) == 0;  // NOLINT(concurrency-mt-unsafe): no other thread runs
}

TEST_CASE("hidden: a copy with a cold cache loads NVRTC", "[.]") {
  copy_with_cache();
  CHECK(has_nvrtc());
}

TEST_CASE("hidden: a copy with a warm cache never loads NVRTC", "[.]") {
  copy_with_cache();
  CHECK_FALSE(has_nvrtc());
}

TEST_CASE("a process that needs nothing beyond its cache never loads NVRTC") {
  const TemporaryFolder folder;
  CHECK(passes_in_new_process("hidden: a copy with a cold cache loads NVRTC", folder.path()));
  CHECK(passes_in_new_process("hidden: a copy with a warm cache never loads NVRTC", folder.path()));
}

}  // namespace serve_sim_test

#define TMAJIT_SERVE_CASES(name)                                                              \
  TEST_CASE("random cases of " #name " store the same bits before and after a kernel swap") { \
    serve_sim_test::serve_cases(#name);                                                       \
  }
TMAJIT_FOR_EACH_OPERATION(TMAJIT_SERVE_CASES)
#undef TMAJIT_SERVE_CASES
