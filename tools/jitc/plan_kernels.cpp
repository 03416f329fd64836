#include "plan_kernels.hpp"

#include "option_group.hpp"
#include "select_device.hpp"
#include "spec/suggestion.hpp"
#include "terminal.hpp"
#include "usage.hpp"

#include <tmajit/move.hpp>

#include <array>
#include <limits>

#include <CLI/CLI.hpp>
#include <spdlog/fmt/fmt.h>

namespace jitc {

void add_kernel_options(CLI::App& command, KernelOptions& options, const std::string& alternatives) {
  add_problem_options(command, options.problem);
  auto* const operation = command.get_option("OPERATION");
  operation->description(alternatives + operation->get_description())->check(offers({"FILE"}));
  OptionGroup(command).add_number("--step", options.step, "N", "Which kernel, if an operation takes several",
                                  1, std::numeric_limits<std::uint32_t>::max());
  add_own_options(command, options.own);
  add_launch_option(command, options.own);
  add_compiler_options(command, options.compiler);
}

ChipChoice select_chip(const std::string& text) {
  if (text == "h200") return {};
  const auto search =
      text == "auto" ? find_hopper()
                     : GpuSearch{find_named_gpu(text, "--device h200 plans for an H200 without one"), {}};
  if (search.gpu) return {.chip = tmajit::chip_of(*search.gpu), .present = true, .why = {}};
  if (text == "auto") return {.chip = {}, .why = search.why.substr(0, search.why.find(';'))};
  refuse(
      "--device {}: this command runs nothing; legal are auto, gpu, gpu:0, gpu:1 …, and h200 for an H200, "
      "present or not{}",
      text, tmajit::suggestion(text, std::array{"auto", "gpu", "gpu:0", "h200"}));
}

tmajit::Runtime planning_runtime(const CompilerOptions& options, const tmajit::Chip& chip) {
  auto chosen = runtime_options(options);
  chosen.chip = chip;
  return tmajit::Runtime(std::move(chosen));
}

std::vector<tmajit::KernelPlan> plan_kernels(const tmajit::Operation& operation, const Request& request,
                                             tmajit::Runtime& runtime) {
  return tmajit::plan_kernels(
      operation, {.chip = runtime.chip(), .tuning = &tuning(runtime), .family = request.family_name()});
}

std::vector<tmajit::KernelPlan> plan_kernels(const Problem& problem, const Addresses& at,
                                             tmajit::Runtime& runtime) {
  return plan_kernels(problem.operation(at), problem.request, runtime);
}

const tmajit::KernelPlan& kernel_of_step(const std::vector<tmajit::KernelPlan>& plans, std::uint32_t step) {
  if (step <= plans.size()) return plans[step - 1];
  refuse(plans.empty()
             ? "there is nothing to move, and so there is no kernel"
             : fmt::format("--step {}, but the plan has {}; jitc explain shows them", step, plans.size()));
}

std::vector<tmajit::Kernel> make_kernels(const std::vector<tmajit::KernelPlan>& plans,
                                         tmajit::Runtime& runtime) {
  const Progress progress("compiling");
  std::vector<tmajit::Kernel> kernels;
  kernels.reserve(plans.size());
  for (const auto& plan : plans) kernels.push_back(runtime.kernel(plan));
  return kernels;
}

}  // namespace jitc
