// Copies of pixels on a GPU: corners that differ from dimension to dimension tell in which order the driver
// takes them, every case tells how places walk, what is out of bounds, and what traversal strides do.
#include "gpu/convolution_runs.hpp"
#include "gpu/im2col_runs.hpp"
#include "gpu/support.hpp"

#include <tmajit/validate.hpp>

#include <iostream>
#include <string>

#include <catch2/catch_test_macros.hpp>
#include <spdlog/fmt/fmt.h>

using namespace tmajit;

namespace {

/// What a case came to; an error of the device too, after which the device does nothing more.
std::string outcome(gpu::Im2colRuns& runs, const gpu::Im2colCase& c, std::uint64_t seed, bool& over) {
  try {
    return runs.difference(c, seed);
  } catch (const Error& error) {
    over = true;
    return error.what();
  }
}

void compare(const std::shared_ptr<Device>& device, const gpu::PixelCopies& run) {
  const auto used = gpu::seed();
  reference::Random random(used);
  gpu::Im2colRuns runs(device);
  const auto count = gpu::from_environment("TMAJIT_CASES", 200);
  const bool show = gpu::from_environment("TMAJIT_SHOW", 0) != 0;  // tells the case that hangs
  std::size_t wrong = 0;
  bool over = false;
  std::uint64_t i = 0;
  for (; i < count && !over; ++i) {
    const auto c = gpu::random_im2col_case(random, run.copy, run.features);
    INFO("TMAJIT_SEED=" << used << ", case " << i << ": " << describe(c));
    REQUIRE(validate(c.map).empty());
    if (show) std::cout << "case " << i << ": " << describe(c) << std::endl;
    const std::string difference = outcome(runs, c, i, over);
    if (difference.empty()) continue;
    if (++wrong <= 10 || over)
      std::cout << "MISMATCH case " << i << ": " << describe(c) << "\n  " << difference << std::endl;
  }
  std::cout << run.name << ": " << i << " random copies of pixels, " << wrong
            << (over ? " mismatches, the last of which ended the device" : " mismatches")
            << ", TMAJIT_SEED=" << used << std::endl;
  CHECK(wrong == 0);
}

}  // namespace

// An instruction that a GPU takes for illegal ends its context, so that a class that fails is the last one of
// its process: run each by its name, -c "load: offsets".
TEST_CASE("copies of pixels are the reference's", "[gpu]") {
  REQUIRE_HOPPER(device);
  for (const auto& run : gpu::pixel_copies()) {
    DYNAMIC_SECTION(run.name) {
      compare(device, run);
    }
  }
}

// Prints what is not as expected: which dimensions a copy walks, how many slices of a pixel it moves, how
// those lie.
TEST_CASE("where the slices of interleaved images come from", "[gpu]") {
  REQUIRE_HOPPER(device);
  gpu::Im2colRuns runs(device);
  for (const auto& c : gpu::slices_cases()) {
    const auto origins = runs.origins(c);
    CHECK((origins == gpu::expected_origins(c)));
    if (origins == gpu::expected_origins(c)) continue;
    std::cout << "MISMATCH " << describe(c) << '\n';
    const auto chunks = c.map.strides[3] / 16;  // of a slice
    for (std::size_t i = 0, moved = 0; i < origins.size() && moved < 64; ++i) {
      if (origins[i] == gpu::Im2colRuns::untouched) continue;
      ++moved;
      const auto at = (origins[i] - 1) / chunks;
      std::cout << "  chunk " << i << ": "
                << (origins[i] == gpu::Im2colRuns::filled
                        ? "filled"
                        : fmt::format("{}, {}, {}, {}", at / 120, at / 30 % 4, at / 6 % 5, at % 6))
                << '\n';
    }
  }
  std::cout << std::flush;
}

TEST_CASE("the convolution of the examples is that of loops", "[gpu]") {
  REQUIRE_HOPPER(device);
  const auto used = gpu::seed();
  reference::Random random(used);
  gpu::ConvolutionRuns runs(device);
  const auto count = gpu::from_environment("TMAJIT_CASES", 200);
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto c = gpu::random_convolution(random);
    INFO("TMAJIT_SEED=" << used << ", case " << i << ": " << gpu::describe(c));
    CHECK(runs.wrong_results(c, i) == 0);
  }
}
