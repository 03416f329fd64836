// A process that serves kernels: its numbers in `jitc top`, and its swaps in a profiler.
#include "eventually.hpp"
#include "subprocess.hpp"

#include <tmajit/counters.hpp>
#include <tmajit/move.hpp>
#include <tmajit/operations.hpp>
#include <tmajit/plan.hpp>
#include <tmajit/tuning.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace served_test {

using namespace tmajit;
using namespace jitc::test;
using Catch::Matchers::ContainsSubstring;

/// A runtime that publishes its counters, and serves the plan of a transposition another kernel, which a
/// runtime before it has kept on disk.
class ServingRuntime {
 public:
  explicit ServingRuntime(const std::filesystem::path& statistics) {
    RuntimeOptions options{.cache_directory = folder_.path(), .shipped_packs = false};
    const Runtime first(options);
    const Operation operation =
        operation::permute(Tensor::contiguous(ElementType::f32, {512, 512}, 0x200'0000),
                           Tensor::contiguous(ElementType::f32, {512, 512}, 0x400'0000), {1, 0});
    const std::vector<KernelPlan> candidates =
        plan_candidates(operation.moves.front(), {.chip = first.chip(), .tuning = &tuning(first)});
    const auto other = std::ranges::find_if(
        candidates, [&](const KernelPlan& candidate) { return candidate.key() != candidates.front().key(); });
    REQUIRE(other != candidates.end());
    (void)first.kernel(*other);
    options.when_missing = WhenMissing::serve;
    options.statistics_directory = statistics;
    runtime_.emplace(std::move(options));
    plan_.emplace(plan(*runtime_, operation));
    REQUIRE(tests::eventually([&] { return counters().swaps == 1; }));
  }
  [[nodiscard]] Counters counters() const { return tmajit::counters(*runtime_); }

 private:
  Folder folder_;
  std::optional<Runtime> runtime_;
  std::optional<Plan> plan_;
};

TEST_CASE("jitc top shows what a process serves and swaps") {
  const Folder folder;
  const std::string dir = folder / "stats";
  const ServingRuntime one(dir);
  const ServingRuntime two(dir);
  const auto processes = jitc_json({"top", "--dir", dir}).at("processes");
  REQUIRE(processes.size() == 1);
  const auto& process = processes[0];
  CHECK(process.at("served") == 2);
  CHECK(process.at("served") == one.counters().served + two.counters().served);
  CHECK(process.at("waited") == one.counters().waited + two.counters().waited);
  CHECK(process.at("swaps") == one.counters().swaps + two.counters().swaps);
  const double swap_ms = one.counters().swap_ms + two.counters().swap_ms;
  CHECK(swap_ms > 0);
  CHECK(std::abs(process.at("swap_ms").get<double>() - swap_ms) < 1e-6);
  const auto text = jitc::test::jitc({"top", "--once", "--dir", dir}).out;
  CHECK_THAT(text, ContainsSubstring("SERVED  WAITED  SWAPS"));
}

#ifdef JITC_NVTX_RECORDER
TEST_CASE("hidden: a served kernel is swapped", "[.]") {
  const Folder folder;
  const ServingRuntime runtime(folder.path());
}

TEST_CASE("a profiler sees the range of a swap") {
  const auto profiled =
      jitc::run_process(find_program("env"), {std::string("NVTX_INJECTION64_PATH=") + JITC_NVTX_RECORDER,
                                              std::filesystem::read_symlink("/proc/self/exe").string(),
                                              "hidden: a served kernel is swapped"});
  INFO(profiled.out << profiled.err);
  CHECK(profiled.status == 0);
  CHECK_THAT(profiled.err, ContainsSubstring("begin tmajit swap "));
}
#endif

}  // namespace served_test
