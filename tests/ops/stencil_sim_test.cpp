/// Random stencils on the simulated device, which reports what their kernels do wrong, against the reference.
#include "operations/stencil/reference.hpp"
#include "ops/run_stencil.hpp"
#include "reference/closeness.hpp"
#include "reference/random_maps.hpp"

#include <tmajit/error.hpp>
#include <tmajit/plan.hpp>
#include <tmajit/sim.hpp>

#include <bit>
#include <iostream>
#include <memory>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;

TEST_CASE("stencils: random ones on the simulated device equal the reference, and nothing is reported") {
  const std::uint64_t cases = reference::from_environment("TMAJIT_CASES", 24);
  const std::uint64_t seed = reference::seed(20261123);
  std::cout << "TMAJIT_SEED=" << seed << ", " << cases << " cases" << std::endl;
  constexpr SimOptions::Mode modes[] = {SimOptions::Mode::late, SimOptions::Mode::random,
                                        SimOptions::Mode::early};
  for (std::uint64_t n = 0; n < cases; ++n) {
    SimOptions options;
    options.mode = modes[n % 3];
    options.seed = n + 1;
    options.threads = 1;
    const Runtime runtime({.device = make_sim_device(options), .cache_directory = std::nullopt});
    const reference::RandomStencil stencil = reference::random_stencil(seed + n, 3000);
    INFO("TMAJIT_SEED=" << seed << ", case " << n << ": " << stencil.text());
    try {
      CHECK(tests::run_stencil(runtime, stencil, seed + n, [&](std::span<const KernelPlan> plans) {
              return n % 2 == 0 ? 0 : (seed + n) % plans.size();
            }) == "");
    } catch (const Error& error) {
      FAIL_CHECK(error.what());
    }
  }
}

TEST_CASE("stencils: what f32 computes is not held against f64 because its type could hold that") {
  const Runtime runtime({.device = make_sim_device(), .cache_directory = std::nullopt});
  const TensorView from = TensorView::contiguous(ElementType::f32, {19, 240});
  const TensorView to = TensorView::contiguous(ElementType::f64, {19, 240});
  const reference::RandomStencil stencil{.destination = {to, 0, to.span_bytes()},
                                         .sources = {{from, 0, from.span_bytes()}},
                                         .expression = "3 * x0(0) + x0(-1)",
                                         .stencil = {.boundary = Boundary::clamp, .dims = Dims{-1}}};
  CHECK(tests::run_stencil(runtime, stencil, 1, [](auto) { return 0; }) == "");
}

TEST_CASE("stencils: what f32 computes is not held against f64 because another source is f64") {
  // 2 * x0(-1) + 3 * x0(0) - 3 * x0(1) + x1(0) - x1(1) + 3 * x1(1) of f32 and f64, on an H200 and here: ptxas
  // made a multiplication and an addition one, which the simulated device did not.
  const Tensor f32{TensorView::contiguous(ElementType::f32, {4}), 0};
  const Tensor f64{TensorView::contiguous(ElementType::f64, {4}), 0};
  const double chip = std::bit_cast<double>(std::uint64_t{0xc01a14d4cc48663d});
  const double here = std::bit_cast<double>(std::uint64_t{0xc01a14d4ac48663d});
  const auto close = [&](const std::vector<Tensor>& sources) {
    return reference::is_close(ElementType::f64, reference::computes_in_f32(sources),
                               reinterpret_cast<const std::byte*>(&chip),
                               reinterpret_cast<const std::byte*>(&here));
  };
  CHECK(close({f32, f64}));
  CHECK_FALSE(close({f64, f64}));
}
