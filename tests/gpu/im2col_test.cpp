// Copies of pixels on a GPU: corners that differ from dimension to dimension tell in which order the driver
// takes them, every case tells how places walk, what is out of bounds, and what traversal strides do.
#include "gpu/convolution_runs.hpp"
#include "gpu/im2col_runs.hpp"
#include "gpu/support.hpp"

#include <tmajit/validate.hpp>

#include <iostream>

#include <catch2/generators/catch_generators_all.hpp>

using namespace tmajit;

namespace {

void compare(const std::shared_ptr<Device>& device, gpu::PixelCopy copy, bool interleaved) {
  const auto used = gpu::seed();
  reference::Random random(used);
  gpu::Im2colRuns runs(device);
  const auto count = gpu::from_environment("TMAJIT_CASES", 500);
  std::size_t wrong = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto c = gpu::random_im2col_case(random, copy, interleaved);
    const std::string difference = runs.difference(c, i);
    if (difference.empty()) continue;
    if (++wrong <= 10)
      std::cout << "MISMATCH case " << i << ": " << describe(c) << "\n  " << difference << std::endl;
  }
  std::cout << count << (interleaved ? " interleaved" : "") << " random copies of pixels, " << wrong
            << " mismatches, TMAJIT_SEED=" << used << std::endl;
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("copies of pixels are the reference's", "[gpu]") {
  REQUIRE_HOPPER(device);
  compare(device, GENERATE(gpu::PixelCopy::load, gpu::PixelCopy::store, gpu::PixelCopy::add), false);
}

TEST_CASE("copies of pixels of interleaved images are the reference's", "[gpu]") {
  REQUIRE_HOPPER(device);
  compare(device, GENERATE(gpu::PixelCopy::load, gpu::PixelCopy::store), true);
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
