/// Random windows on the GPU, against the reference: TMAJIT_CASES of them, and every kernel of a few large
/// ones.
#include "gpu/support.hpp"
#include "ops/run_windows.hpp"

#include <tmajit/error.hpp>
#include <tmajit/plan.hpp>

#include <string>

using namespace tmajit;

namespace {

template <class Make, class Run>
void run_cases(const std::shared_ptr<Device>& device, const Make& make, const Run& run) {
  const std::uint64_t cases = gpu::from_environment("TMAJIT_CASES", 200);
  const std::uint64_t seed = gpu::seed();
  const Runtime runtime({.device = device, .cache_directory = std::nullopt});
  for (std::uint64_t n = 0; n < cases; ++n) {
    const reference::RandomWindows windows = make(seed + n);
    INFO("TMAJIT_SEED=" << seed << ", case " << n << ": " << windows.text());
    try {
      CHECK(run(runtime, windows, seed + n, [&](std::span<const KernelPlan> plans) {
              return n % 2 == 0 ? 0 : (seed + n) % plans.size();
            }) == "");
    } catch (const Error& error) {
      FAIL_CHECK(error.what());
    }
  }
}

}  // namespace

TEST_CASE("random windows equal the reference", "[gpu]") {
  REQUIRE_HOPPER(device);
  run_cases(
      device, [](std::uint64_t seed) { return reference::random_windows(seed, 300'000); }, tests::run_im2col);
}

TEST_CASE("random convolutions equal the reference", "[gpu]") {
  REQUIRE_HOPPER(device);
  run_cases(
      device, [](std::uint64_t seed) { return reference::random_convolution(seed, 20'000'000); },
      tests::run_convolution);
}

TEST_CASE("every kernel of windows of many tiles equals the reference", "[gpu]") {
  REQUIRE_HOPPER(device);
  const Runtime runtime({.device = device, .cache_directory = std::nullopt});
  const auto operand = [](const std::vector<std::uint64_t>& shape) {
    const TensorView view = TensorView::contiguous(ElementType::bf16, shape);
    return reference::StencilOperand{view, 0, view.span_bytes()};
  };
  const Windows around{.filter = {3, 3}, .strides = {2, 1}, .before = {1, 1}, .after = {1, 1}};
  for (const std::uint64_t channels : {8U, 64U, 200U, 600U}) {
    const reference::RandomWindows windows{.destination = operand({8 * 14 * 28, 9 * channels}),
                                           .images = operand({8, 28, 28, channels}),
                                           .windows = around};
    INFO(windows.text());
    std::size_t count = 1;
    for (std::size_t i = 0; i < count; ++i) {
      CHECK(tests::run_im2col(runtime, windows, i, [&](std::span<const KernelPlan> plans) {
              count = plans.size();
              return i;
            }) == "");
    }
  }
}
