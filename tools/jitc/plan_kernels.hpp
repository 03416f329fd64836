#pragma once

#include "own_kernel.hpp"
#include "problem.hpp"

#include <tmajit/device.hpp>
#include <tmajit/runtime.hpp>

#include <string>
#include <vector>

namespace jitc {

/// Options that select a kernel, of an operation or from a file, which is compiled and not run.
struct KernelOptions {
  ProblemOptions problem;  ///< ProblemOptions::word may also be a file
  std::uint32_t step = 1;  ///< which of the operation's kernels, from 1
  OwnOptions own;
  CompilerOptions compiler;
};
/// `alternatives` precedes the help text of OPERATION, and says which files it may be instead.
void add_kernel_options(CLI::App& command, KernelOptions& options, const std::string& alternatives);

/// The chip that --device names to a command that plans and runs nothing.
struct ChipChoice {
  tmajit::Chip chip;
  bool present = false;  ///< whether the device is in this machine
  std::string why;       ///< why "auto" chose no GPU; empty if it chose one
};
/// Finds the chip that --device names: "gpu" and "gpu:N" are GPUs of this machine, "h200" is an H200, and
/// "auto" is the first Hopper GPU of this machine, else an H200. Opens no device. Throws
/// Error{invalid_argument} for another text, Error{unavailable} for an absent GPU.
[[nodiscard]] ChipChoice select_chip(const std::string& text);

/// A runtime without a device, which plans for `chip` and compiles.
[[nodiscard]] tmajit::Runtime planning_runtime(const CompilerOptions& options, const tmajit::Chip& chip = {});

/// Plans an operation of this request, for the runtime's chip and with its tuned choices.
[[nodiscard]] std::vector<tmajit::KernelPlan> plan_kernels(const tmajit::Operation& operation,
                                                           const Request& request, tmajit::Runtime& runtime);
/// Plans the problem for arrays at these addresses, for the runtime's chip and with its tuned choices.
/// Returns no kernel if there is nothing to move. Throws SpecError with every broken rule.
[[nodiscard]] std::vector<tmajit::KernelPlan> plan_kernels(const Problem& problem, const Addresses& at,
                                                           tmajit::Runtime& runtime);

/// The kernel that --step names, counted from 1. Throws Error{invalid_argument} if there are fewer.
[[nodiscard]] const tmajit::KernelPlan& kernel_of_step(const std::vector<tmajit::KernelPlan>& plans,
                                                       std::uint32_t step);

/// Compiles the plans' kernels, and shows progress.
[[nodiscard]] std::vector<tmajit::Kernel> make_kernels(const std::vector<tmajit::KernelPlan>& plans,
                                                       tmajit::Runtime& runtime);

}  // namespace jitc
