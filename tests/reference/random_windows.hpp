#pragma once

#include "reference/random_stencils.hpp"

#include <tmajit/windows.hpp>

#include <cstdint>
#include <string>

namespace reference {

/// Windows on images, and how the tensors lie.
struct RandomWindows {
  StencilOperand destination;
  StencilOperand images;
  tmajit::Windows windows;
  StencilOperand filter = {};  ///< of a convolution
  [[nodiscard]] std::string text() const;
};

/// Legal windows, of which pixels or outputs are up to about `most_elements`: images of one to three
/// dimensions, any filter, stride, dilation and padding that fit; the destination's dimensions apart or put
/// together, dense, with gaps, beginning anywhere. Of pixels, elements of 1 to 8 bytes.
[[nodiscard]] RandomWindows random_windows(std::uint64_t seed, std::uint64_t most_elements);
/// The same of convolutions, of which there are up to about `most_products` products.
[[nodiscard]] RandomWindows random_convolution(std::uint64_t seed, std::uint64_t most_products);

}  // namespace reference
