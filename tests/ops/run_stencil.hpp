#pragma once

#include "reference/random_stencils.hpp"

#include <tmajit/kernel_plan.hpp>
#include <tmajit/runtime.hpp>

#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace tests {

/// Which of the kernels that could do a stencil is run.
using StencilChoice = std::function<std::size_t(std::span<const tmajit::KernelPlan>)>;

/// Runs a stencil on a runtime's device, on random elements, and compares it with the reference. What is
/// wrong, with the kernel's name; empty if nothing is.
[[nodiscard]] std::string run_stencil(const tmajit::Runtime& runtime, const reference::RandomStencil& stencil,
                                      std::uint64_t seed, const StencilChoice& choice);

}  // namespace tests
