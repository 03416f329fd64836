#pragma once

#include "reference/random_windows.hpp"

#include <tmajit/kernel_plan.hpp>
#include <tmajit/runtime.hpp>

#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace tests {

/// Which of the kernels that could do it is run.
using WindowsChoice = std::function<std::size_t(std::span<const tmajit::KernelPlan>)>;

/// Runs an im2col on a runtime's device, on random bytes, and compares every byte of the destination's memory
/// with the reference. What is wrong, with the kernel's name; empty if nothing is.
[[nodiscard]] std::string run_im2col(const tmajit::Runtime& runtime, const reference::RandomWindows& windows,
                                     std::uint64_t seed, const WindowsChoice& choice);
/// The same of a convolution: every bit of its sums is the reference's.
[[nodiscard]] std::string run_convolution(const tmajit::Runtime& runtime,
                                          const reference::RandomWindows& windows, std::uint64_t seed,
                                          const WindowsChoice& choice);

}  // namespace tests
