/// Random stencils on the GPU, against the reference: TMAJIT_CASES of them, and every kernel of a few large
/// ones.
#include "gpu/support.hpp"
#include "ops/run_stencil.hpp"

#include <tmajit/error.hpp>
#include <tmajit/plan.hpp>

#include <string>

using namespace tmajit;

TEST_CASE("random stencils equal the reference", "[gpu]") {
  REQUIRE_HOPPER(device);
  const std::uint64_t cases = gpu::from_environment("TMAJIT_CASES", 60);
  const std::uint64_t seed = gpu::seed();
  const Runtime runtime({.device = device, .cache_directory = std::nullopt});
  for (std::uint64_t n = 0; n < cases; ++n) {
    const reference::RandomStencil stencil = reference::random_stencil(seed + n, 100'000);
    INFO("case " << n << ": " << stencil.text());
    try {
      CHECK(tests::run_stencil(runtime, stencil, seed + n, [&](std::span<const KernelPlan> plans) {
              return n % 2 == 0 ? 0 : (seed + n) % plans.size();
            }) == "");
    } catch (const Error& error) {
      FAIL_CHECK(error.what());
    }
  }
}

TEST_CASE("every kernel of stencils of many tiles a CTA equals the reference", "[gpu]") {
  REQUIRE_HOPPER(device);
  const Runtime runtime({.device = device, .cache_directory = std::nullopt});
  struct Large {
    std::vector<std::uint64_t> shape;
    const char* expression;
  };
  const std::vector<Large> all{
      {{3000, 1000}, "x(-1, 0) + x(1, 0) + x(0, -1) + x(0, 1) - 4 * x"},
      {{150, 100, 200}, "x(-1, 0, 0) + x(1, 0, 0) + x(0, -1, 0) + x(0, 1, 0) - 4 * x"},
      {{3'000'000}, "x(-2) - x(3)"}};
  for (const Boundary boundary : {Boundary::zero, Boundary::wrap}) {
    for (const auto& [shape, expression] : all) {
      const TensorView view = TensorView::contiguous(ElementType::f32, shape);
      const reference::RandomStencil stencil{.destination = {view, 0, view.span_bytes()},
                                             .sources = {{view, 0, view.span_bytes()}},
                                             .expression = expression,
                                             .stencil = {.boundary = boundary}};
      INFO(stencil.text());
      std::size_t count = 1;
      for (std::size_t i = 0; i < count; ++i) {
        CHECK(tests::run_stencil(runtime, stencil, i, [&](std::span<const KernelPlan> plans) {
                count = plans.size();
                return i;
              }) == "");
      }
    }
  }
}
