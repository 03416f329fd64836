#pragma once

/// Runs the kernel of examples/own/convolution.cu on any device and compares it with loops on the CPU. All
/// values are small integers, so that sums are exact in any order.
#include "reference/random_maps.hpp"

#include <tmajit/runtime.hpp>

#include <array>
#include <cstdint>
#include <map>
#include <string>

namespace gpu {

/// A convolution of images of one to three dimensions, outermost first.
struct ConvolutionCase {
  struct Dimension {
    std::uint32_t extent = 1;    ///< extent of an image
    std::uint32_t filter = 1;    ///< number of taps
    std::uint32_t dilation = 1;  ///< pixels from tap to tap
    std::uint32_t stride = 1;
    std::uint32_t before = 0;  ///< padding
    std::uint32_t after = 0;
    /// The output's extent. 0 if the filter is larger than the padded image.
    [[nodiscard]] std::uint32_t output_extent() const;
  };
  std::uint32_t dimensions = 2;
  std::uint32_t images = 1;
  std::uint32_t channels = 4;  ///< a multiple of 4
  std::uint32_t outputs = 1;
  std::array<Dimension, 3> sizes{};
};

[[nodiscard]] ConvolutionCase random_convolution(reference::Random& random);
[[nodiscard]] std::string describe(const ConvolutionCase& problem);

class ConvolutionRuns {
 public:
  explicit ConvolutionRuns(std::shared_ptr<tmajit::Device> device);
  /// The number of results that differ from those of the loops.
  [[nodiscard]] std::size_t wrong_results(const ConvolutionCase& problem, std::uint64_t seed);

 private:
  const tmajit::Kernel& kernel(std::uint32_t dimensions);

  std::shared_ptr<tmajit::Device> device_;
  tmajit::Runtime runtime_;
  std::map<std::uint32_t, tmajit::Kernel> kernels_;  ///< by the number of an image's dimensions
};

}  // namespace gpu
