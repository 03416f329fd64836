#pragma once

#include <tmajit/operations/stencil.hpp>
#include <tmajit/tensor_view.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace reference {

/// A tensor, in memory of its own.
struct StencilOperand {
  tmajit::TensorView view;
  std::uint64_t first = 0;  ///< bytes from the memory's beginning to the element with all indices 0
  std::uint64_t bytes = 0;  ///< of the memory, which just holds it
};

struct RandomStencil {
  StencilOperand destination;
  std::vector<StencilOperand> sources;
  std::string expression;
  tmajit::Stencil stencil;
  [[nodiscard]] std::string text() const;
};

/// A legal stencil of up to about `most_elements`: rank 1 to 5 along 1 to 3 of the dimensions, of any types
/// and boundary; dense, with gaps, beginning anywhere, walked backwards, repeated.
[[nodiscard]] RandomStencil random_stencil(std::uint64_t seed, std::uint64_t most_elements);

}  // namespace reference
