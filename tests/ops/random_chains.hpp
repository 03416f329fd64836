#pragma once

#include "reference/random.hpp"

#include <tmajit/operation.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tests {

/// A random chain of two to four parts, each an operation or a few that centre rows: each reads the result of
/// an earlier one, or a view of it. Some write to a tensor that was read or written before, or work in place.
/// Every tensor has a buffer of its own.
struct RandomChain {
  std::vector<tmajit::Operation> operations;  ///< buffer b begins at address (b + 1) << buffer_bits
  std::vector<tmajit::Tensor> tensors;        ///< the whole tensor of each buffer
  std::vector<std::size_t> unused;            ///< buffers of intermediate tensors that nothing reads later
};
inline constexpr unsigned buffer_bits = 24;

/// `exact`: on small whole numbers every kernel gives the same bits, whatever it contracts and in whichever
/// order it adds.
[[nodiscard]] RandomChain random_chain(reference::Random& random, bool exact);

/// The bytes of each tensor of the chain: whole numbers from 0 to 5.
[[nodiscard]] std::vector<std::vector<std::byte>> random_contents(const RandomChain& chain,
                                                                  reference::Random& random);

/// The tensor in buffers at these addresses.
[[nodiscard]] tmajit::Tensor placed(tmajit::Tensor tensor, const std::vector<tmajit::DevicePtr>& buffers);
/// The operations on buffers at these addresses.
[[nodiscard]] std::vector<tmajit::Operation> placed(const std::vector<tmajit::Operation>& operations,
                                                    const std::vector<tmajit::DevicePtr>& buffers);

}  // namespace tests
