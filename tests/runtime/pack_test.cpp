// Kernels of packs need no compiler, and what had to be compiled is recorded so that it can be packed.
#include "captured_log.hpp"
#include "ptx_alone.hpp"
#include "temporary_folder.hpp"

#include <tmajit/error.hpp>
#include <tmajit/kernel_recipe.hpp>
#include <tmajit/move.hpp>
#include <tmajit/operations.hpp>
#include <tmajit/plan.hpp>
#include <tmajit/runtime.hpp>

#include <algorithm>
#include <array>
#include <thread>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace tmajit;
using Catch::Matchers::ContainsSubstring;

namespace {

constexpr const char* scale_text = R"(
extern "C" __global__ void scale(float* x) { x[threadIdx.x] *= 2; })";

/// Plans that need different kernels.
std::vector<KernelPlan> some_plans() {
  std::vector<KernelPlan> plans;
  for (const ElementType type : {ElementType::u8, ElementType::f32, ElementType::f64}) {
    for (const std::uint64_t columns : {std::uint64_t{1000}, std::uint64_t{1024}}) {
      const Tensor source{TensorView::contiguous(type, {64, columns}), 1ULL << 40};
      const Tensor destination{TensorView::contiguous(type, {columns, 64}), 1ULL << 41};
      const Operation move = operation::permute(destination, source, {1, 0});
      for (const KernelPlan& plan : plan_kernels(move)) {
        const auto is_same = [&](const KernelPlan& other) { return other.key() == plan.key(); };
        if (std::ranges::none_of(plans, is_same)) plans.push_back(plan);
      }
    }
  }
  return plans;
}

RuntimeOptions options_with(const std::filesystem::path& cache) {
  return {.cache_directory = cache, .compile = tests::ptx_without_lines, .shipped_packs = false};
}

}  // namespace

TEST_CASE("a run's record makes a pack, with which the next run compiles nothing") {
  const TemporaryFolder folder;
  const std::vector<KernelPlan> plans = some_plans();
  const Source own = custom_source(scale_text, "scale");
  RuntimeOptions options = options_with(folder / "first");
  options.record = folder / "manifest.jsonl";
  {
    const Runtime runtime(options);
    for (const KernelPlan& plan : plans) CHECK(runtime.kernel(plan).level() == CacheLevel::compiled);
    CHECK(runtime.kernel(own).level() == CacheLevel::compiled);
  }
  const Manifest manifest = read_manifest(tests::read_file(options.record));
  CHECK(manifest.damaged == 0);
  CHECK(manifest.of_other_versions == 0);
  REQUIRE(manifest.kernels.size() == plans.size() + 1);
  for (std::size_t i = 0; i < plans.size(); ++i) {
    CHECK(manifest.kernels[i].line() == record_of(plans[i], options.compile).line());
    CHECK(manifest.kernels[i].key(compiler()) == cache_key(plans[i], options.compile, compiler()));
  }
  CHECK(manifest.kernels.back().key(compiler()) == cache_key(own, options.compile, compiler()));

  // Replayed on a machine whose cache is empty.
  const DiskCache cache(folder / "second");
  std::size_t last = 0;
  const auto progress = [&](std::size_t done, std::size_t count) {
    CHECK(done == ++last);
    CHECK(count == manifest.kernels.size());
  };
  const MadeKernels made = make_kernels(manifest.kernels, cache, {.threads = 3, .progress = progress});
  CHECK(made.compiled == plans.size() + 1);
  CHECK(made.failures.empty());
  CHECK(last == plans.size() + 1);
  CHECK(make_kernels(manifest.kernels, cache).compiled == 0);
  (void)write_pack(folder / "mine.pack", made.keys, cache, {&compiler(), 1});

  RuntimeOptions packed = options_with(folder / "third");
  packed.packs = {folder.path()};
  packed.record = folder / "second.jsonl";
  const Runtime runtime(packed);
  for (const KernelPlan& plan : plans) {
    const Kernel kernel = runtime.kernel(plan);
    CHECK(kernel.level() == CacheLevel::pack);
    CHECK(kernel.times().compile == 0);
    // Packs hold no source: it is made anew.
    CHECK(kernel.artifact().source == source(plan).text);
    CHECK_FALSE(kernel.artifact().ptx.empty());
  }
  CHECK(runtime.kernel(own).level() == CacheLevel::pack);
  CHECK_THAT(tests::read_file(packed.record), ContainsSubstring("\"source\""));  // artifact() compiled
}

TEST_CASE("a broken pack is logged once, and kernels are compiled") {
  const TemporaryFolder folder;
  tests::write_file(folder / "broken.pack", "text");
  RuntimeOptions options = options_with(folder / "cache");
  options.packs = {folder / "broken.pack"};
  const tests::CapturedLog log;
  const Runtime runtime(options);
  for (const KernelPlan& plan : some_plans()) CHECK(runtime.kernel(plan).level() == CacheLevel::compiled);
  CHECK(log.lines() == 1);
  CHECK_THAT(log.text(), ContainsSubstring("broken.pack is damaged"));
}

TEST_CASE("a manifest that cannot be written is logged once, and kernels are compiled") {
  const TemporaryFolder folder;
  RuntimeOptions options = options_with(folder / "cache");
  options.record = folder.path();
  const tests::CapturedLog log;
  const Runtime runtime(options);
  for (const KernelPlan& plan : some_plans()) CHECK(runtime.kernel(plan).level() == CacheLevel::compiled);
  CHECK(log.lines() == 1);
  CHECK_THAT(log.text(), ContainsSubstring("compiled kernels are not recorded in"));
}

TEST_CASE("threads that record at once write whole lines") {
  const TemporaryFolder folder;
  RuntimeOptions options = options_with(folder / "cache");
  options.record = folder / "manifest.jsonl";
  const std::vector<KernelPlan> plans = some_plans();
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 4; ++thread) {
      threads.emplace_back([&] {
        RuntimeOptions own = options;
        own.cache_directory = std::nullopt;
        const Runtime runtime(own);
        for (const KernelPlan& plan : plans) (void)runtime.kernel(plan);
      });
    }
  }
  const Manifest manifest = read_manifest(tests::read_file(options.record));
  CHECK(manifest.kernels.size() == 4 * plans.size());
  CHECK(manifest.damaged == 0);
}

TEST_CASE("kernels that NVRTC refuses do not stop a replay") {
  const TemporaryFolder folder;
  const KernelRecipe good{.generator = {},
                          .plan_key = {},
                          .source = custom_source(scale_text, "scale"),
                          .options = {},
                          .made_for = {}};
  KernelRecipe bad = good;
  bad.source.text = "extern \"C\" __global__ void scale(flaot* x) {}";
  const std::array records{bad, good};
  const MadeKernels made = make_kernels(records, DiskCache(folder.path()));
  CHECK(made.compiled == 1);
  CHECK(made.keys == std::vector{good.key(compiler())});
  REQUIRE(made.failures.size() == 1);
  CHECK_THAT(made.failures[0].why, ContainsSubstring("flaot"));
}
