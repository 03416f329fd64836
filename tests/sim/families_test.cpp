#include "reference/families.hpp"

#include "gpu/random_kernels.hpp"
#include "ptx_alone.hpp"

#include <tmajit/runtime.hpp>
#include <tmajit/sim.hpp>

#include <algorithm>
#include <iostream>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>

namespace families_test {

using namespace tmajit;
using gpu::poison;
using reference::Random;

TEST_CASE("the results of every family equal the reference's, and there are no reports") {
  const FamilyInfo family = GENERATE(from_range(gpu::tile_families()));
  const std::uint64_t cases = reference::from_environment("TMAJIT_CASES", 25);
  const std::uint64_t seed = reference::seed(20261121);
  std::cout << family.name << ": TMAJIT_SEED=" << seed << ", " << cases << " cases" << std::endl;
  Random random(gpu::seed_of(family, seed));
  for (std::uint64_t n = 0; n < cases; ++n) {
    const gpu::RandomKernel kernel = gpu::random_kernel(random, family);
    SimOptions options;
    constexpr SimOptions::Mode modes[] = {SimOptions::Mode::late, SimOptions::Mode::late,
                                          SimOptions::Mode::random, SimOptions::Mode::early};
    options.mode = modes[n % 4];
    options.seed = seed + n;
    options.threads = 1 + n % 2;
    Runtime runtime({.device = make_sim_device(options),
                     .cache_directory = tests::shared_kernels(),
                     .compile = tests::ptx_alone});
    INFO("seed " << seed << ", case " << n << ": " << describe(kernel));
    std::vector<reference::Tensor> inputs;
    for (const TensorView& view : kernel.inputs) inputs.push_back(gpu::random_tensor(random, view));
    const gpu::Offsets offsets = gpu::random_offsets(random, kernel);
    const reference::Tensor expected = expected_output(kernel, inputs, poison);
    const reference::Tensor actual = gpu::run(runtime, kernel, inputs, offsets);
    std::vector<std::uint64_t> index;
    const bool differs = first_difference(expected, actual, index);
    INFO("first difference at " << (index.empty() ? 0 : index[0]) << ", "
                                << (index.size() < 2 ? 0 : index[1]));
    CHECK_FALSE(differs);
    // The bits of NaNs may differ. For other types all bytes are compared, also those in gaps.
    if (!is_float(expected.view.type)) CHECK(std::ranges::equal(expected.bytes, actual.bytes));
  }
}

}  // namespace families_test
