#pragma once

#include <tmajit/combine.hpp>
#include <tmajit/runtime.hpp>
#include <tmajit/tensor.hpp>

#include <cstdint>
#include <string>

namespace tests {

/// Tensors that the copy engine combines, somewhere in memory that is larger.
struct RandomCombination {
  tmajit::CombineOp op{};
  tmajit::TensorView destination;
  tmajit::TensorView source;
  /// Bytes before the first element: multiples of 16.
  std::uint64_t before_destination = 0;
  std::uint64_t before_source = 0;
  [[nodiscard]] std::string text() const;
};

/// Any operation and type that go together, rank 1 to 5, in one piece or with rows that are padded to 16
/// bytes or more and outer dimensions in any order; extents 0 and 1 too. About `most` elements at most.
[[nodiscard]] RandomCombination random_combination(std::uint64_t seed, std::uint64_t most);

/// Runs reduce_into() `times` times on random elements. Empty if the memory of the destination, that beside
/// its elements too, then is what the reference leaves, but for which NaN an element is; else what is wrong.
[[nodiscard]] std::string run_combination(const tmajit::Runtime& runtime,
                                          const RandomCombination& combination, std::uint64_t seed,
                                          std::uint32_t times = 1);

}  // namespace tests
