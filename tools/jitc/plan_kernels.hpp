#pragma once

#include "problem.hpp"

#include <tmajit/device.hpp>
#include <tmajit/runtime.hpp>

#include <string>
#include <vector>

namespace jitc {

/// The chip that --device names to a command that plans and runs nothing.
struct ChipChoice {
  tmajit::Chip chip;
  bool present = false;  ///< whether the device is in this machine
  std::string why;       ///< why "auto" took no GPU; empty where it did
};
/// "auto": the first Hopper GPU's, else an H200's; "h200": that at once; "gpu", "gpu:N". Opens no device.
/// Throws Error{invalid_argument} for another text, Error{unavailable} for an absent GPU.
[[nodiscard]] ChipChoice select_chip(const std::string& text);

/// A runtime without a device, which plans for `chip` and compiles.
[[nodiscard]] tmajit::Runtime planning_runtime(const CompilerOptions& options, const tmajit::Chip& chip = {});

/// The kernels that do the problem where its arrays are at these addresses: for the runtime's chip, by the
/// choices tuned for it. None where there is nothing to move. Throws SpecError with every rule that is
/// broken.
[[nodiscard]] std::vector<tmajit::KernelPlan> plan_kernels(const Problem& problem, const Addresses& at,
                                                           tmajit::Runtime& runtime);

/// The kernel that --step, which add_step_option() adds, names of several, from 1. Throws
/// Error{invalid_argument} if there are fewer.
[[nodiscard]] const tmajit::KernelPlan& kernel_of_step(const std::vector<tmajit::KernelPlan>& plans,
                                                       std::uint32_t step);
void add_step_option(CLI::App& command, std::uint32_t& step);

/// Their kernels, with progress where that takes long.
[[nodiscard]] std::vector<tmajit::Kernel> make_kernels(const std::vector<tmajit::KernelPlan>& plans,
                                                       tmajit::Runtime& runtime);

}  // namespace jitc
