/// Lint of correct kernels has no findings, finishes all checks, and takes little time.
#include "gpu/random_kernels.hpp"
#include "lint/support.hpp"

#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>

using namespace tmajit;
using namespace tests;

namespace {

void check_clean(const Module& module) {
  const LintResult result = lint_ptx(module.ptx, module.options);
  INFO(result.report);
  CHECK(result.findings.empty());
  CHECK(result.unfinished.empty());
  CHECK_FALSE(result.kernels.empty());
}

}  // namespace

TEST_CASE("kernels of every family, rank, type and swizzle have no findings") {
  const FamilyInfo family = GENERATE(from_range(gpu::tile_families()));
  const std::uint64_t cases = reference::from_environment("TMAJIT_CASES", 20);
  const std::uint64_t seed = reference::seed(20261121);
  std::cout << family.name << ": TMAJIT_SEED=" << seed << ", " << cases << " cases" << std::endl;
  reference::Random random(gpu::seed_of(family, seed));
  for (std::uint64_t n = 0; n < cases; ++n) {
    const gpu::RandomKernel kernel = gpu::random_kernel(random, family);
    INFO("seed " << seed << ", case " << n << ": " << describe(kernel));
    Module module = module_of(plan_tiles(kernel.request()));
    check_clean(module);
    // Without the facts about tensor maps there are no findings, either.
    module.options.maps.clear();
    check_clean(module);
  }
}

TEST_CASE("the examples' kernels have no findings") {
  check_clean(
      example("kernels/transpose.cu", "transpose", {{"0", 4096, 2, 4, 1024}, {"1", 4096, 2, 4, 1024}}));
  check_clean(example("tutorial/tensor_cores.cu", "tensor_cores",
                      {{"1", 16384, 2, 2, 1024}, {"2", 8192, 2, 2, 1024}}));
  check_clean(example("kernels/moves.cu", "move_5d", {}));
}

TEST_CASE("the tutorial's kernels have no findings") {
  check_clean(example("tutorial/one_tile.cu", "copy_tile"));  // two kernels, whose maps differ
  check_clean(example("tutorial/swizzle.cu", "transpose", {{"0", 8192, 2, 2, 1024}, {"1", 8192, 2, 2, 1024}},
                      {{"swizzled", true}}));
  for (const char* const file : {"tutorial/ring.cu", "tutorial/roles.cu"}) {
    check_clean(example(file, "add_one", {{"0", 8192, 2, 4, 128}, {"1", 8192, 2, 4, 128}}, {{"stages", 4U}}));
  }
  check_clean(example("tutorial/multicast.cu", "add_table",
                      {{"0", 8192, 3, 4, 128}, {"1", 8192, 3, 4, 128}, {"2", 2048, 2, 4, 128}},
                      {{"cluster", 4U}}));
  check_clean(example("tutorial/matrix_product.cu", "matrix_product",
                      {{"0", 8192, 2, 2, 1024}, {"1", 16384, 2, 2, 1024}, {"2", 16384, 2, 2, 1024}},
                      {{"tile_n", 256U}, {"stages", 4U}, {"cluster", 2U}, {"band", 8U}}));
}

TEST_CASE("nvcc's PTX in tests/ptx/data has no findings other than its deliberate mistakes") {
  for (const auto& file : std::filesystem::directory_iterator(TMAJIT_PTX_DATA)) {
    if (file.path().extension() != ".ptx") continue;
    std::ifstream in(file.path());
    std::stringstream text;
    text << in.rdbuf();
    INFO(file.path());
    const LintResult result = lint_ptx(text.str());
    INFO(result.report);
    if (file.path().stem() == "asynchronous") {
      // This file has every asynchronous instruction once, without a protocol: waits without a barrier,
      // mbarriers that are never initialised, a store without a bulk group, a matrix row at address 8.
      CHECK(rules(result) == std::vector<std::string>{"mbarrier.uninitialised", "mbarrier.uninitialised",
                                                      "mbarrier.uninitialised", "exit.store-unread",
                                                      "address.misaligned"});
    } else {
      CHECK(result.findings.empty());
    }
    CHECK(result.unfinished.empty());
  }
}

TEST_CASE("lint of the library's largest kernel takes little time") {
  const std::array<std::uint64_t, 5> shape{64, 64, 64, 64, 64};
  const std::array<std::uint32_t, 5> box{2, 2, 2, 8, 32};
  const auto view = TensorView::contiguous(ElementType::f16, shape);
  TileOptions options;
  options.box = box;
  options.swizzle = Swizzle::b64;
  const Module module =
      module_of(plan_tiles({.family = "map",
                            .destination = {view},
                            .sources = std::vector<Tensor>(8, {view}),
                            .expression = "x0 * x1 + x2 * x3 + x4 * x5 + x6 * x7 + g[0] * g[4] + t[2]",
                            .tiles = options}));
  check_clean(module);
  double least = 1e9;
  for (int i = 0; i < 5; ++i) {
    const auto start = std::chrono::steady_clock::now();
    const LintResult result = lint_ptx(module.ptx, module.options);
    least = std::min(
        least, std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
    CHECK(result.findings.empty());
  }
  std::cout << "lint of " << std::count(module.ptx.begin(), module.ptx.end(), '\n') << " lines, "
            << module.ptx.size() / 1024 << " KiB: " << least << " ms" << std::endl;
#ifdef NDEBUG
  CHECK(least < 50);
#endif
}
