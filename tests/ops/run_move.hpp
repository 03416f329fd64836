#pragma once

#include "reference/random_moves.hpp"

#include <tmajit/move.hpp>
#include <tmajit/runtime.hpp>

#include <map>
#include <span>
#include <string>

namespace tests {

/// The move as an operation on buffers at these addresses, by the operation's own function; and its plan.
[[nodiscard]] tmajit::Operation operation_of(const reference::RandomMove& move,
                                             std::span<const tmajit::DevicePtr> buffers);
[[nodiscard]] tmajit::MovePlan plan(tmajit::Runtime& runtime, const reference::RandomMove& move,
                                    std::span<const tmajit::DevicePtr> buffers);

/// The addresses that a plan takes anew when the buffers are elsewhere.
struct NewAddresses {
  std::vector<tmajit::DevicePtr> destinations;
  std::vector<tmajit::DevicePtr> sources;
};
[[nodiscard]] NewAddresses addresses(const reference::RandomMove& move,
                                     std::span<const tmajit::DevicePtr> buffers);

/// How far buffers may move so that every element stays a multiple of its size: the largest of them.
[[nodiscard]] std::uint64_t largest_element(const reference::RandomMove& move);

/// Counts by a plan's kernels.
using KernelCounts = std::map<std::string, std::uint64_t>;
void count(const tmajit::MovePlan& plan, KernelCounts& counts);

}  // namespace tests
